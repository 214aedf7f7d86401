//! The kernels, compiled at run time for one architecture.
#![allow(unsafe_code, reason = "the compiler is a C library")]

use crate::libraries;
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};

/// The sources, each needing those before it.
const SOURCES: [&str; 6] = [
    include_str!("../kernels/generator.cu"),
    include_str!("../kernels/gaussian.cu"),
    include_str!("../kernels/counting.cu"),
    include_str!("../kernels/equal.cu"),
    include_str!("../kernels/position.cu"),
    include_str!("../kernels/general.cu"),
];

/// Machine code for devices of a compute capability: code instead of PTX, so that a compiler newer than the driver will do.
///
/// # Errors
/// The compiler is missing, or says why it refuses.
pub fn compile(major: i32, minor: i32) -> Result<Vec<u8>, String> {
    libraries::open_compiler()?;
    let source = CString::new(SOURCES.join("\n")).map_err(|error| error.to_string())?;
    let program = result::create_program(&source, Some(c"misdeal.cu")).map_err(|error| error.to_string())?;
    let options = [format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++17".into()];
    // SAFETY: the program was created above and is destroyed once, below.
    unsafe {
        let compiled = result::compile_program(program, &options)
            .map_err(|error| {
                let log = result::get_program_log(program).unwrap_or_default();
                let log = CStr::from_bytes_until_nul(&log.iter().map(|&c| c as u8).collect::<Vec<_>>())
                    .map(|log| log.to_string_lossy().into_owned());
                format!("the kernels did not compile: {error}: {}", log.unwrap_or_default())
            })
            .and_then(|()| code(program).map_err(|error| error.to_string()));
        let _ = result::destroy_program(program);
        compiled
    }
}

/// # Safety
/// The program was created and compiled.
unsafe fn code(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    // SAFETY: the buffer has the length that the library asks for.
    unsafe {
        let mut size = 0;
        sys::nvrtcGetCUBINSize(program, &raw mut size).result()?;
        let mut code = vec![0_u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()?;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    /// On machines that have the compiler; a device is not needed.
    #[test]
    fn the_kernels_compile() {
        match crate::libraries::open_compiler() {
            Err(reason) => println!("skipped: {reason}"),
            Ok(()) => {
                for (major, minor) in [(8, 0), (8, 9), (9, 0)] {
                    assert!(super::compile(major, minor).unwrap().len() > 1000);
                }
            }
        }
    }
}
