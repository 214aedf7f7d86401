//! The kernels, compiled at run time for one architecture.
#![allow(unsafe_code, reason = "the compiler is a C library")]

use crate::kernel_plan::{EqualKind, KernelPlan};
use crate::{CudaError, Result, libraries};
use cudarc::nvrtc::{result, sys};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Mutex;

/// Sources that every kernel needs; each depends only on earlier ones.
const SHARED_SOURCES: [&str; 3] = [
    include_str!("../kernels/generator.cu"),
    include_str!("../kernels/gaussian.cu"),
    include_str!("../kernels/counting.cu"),
];
const EQUAL_SOURCES: [&str; 1] = [include_str!("../kernels/equal.cu")];
const GENERAL_SOURCES: [&str; 2] =
    [include_str!("../kernels/position.cu"), include_str!("../kernels/general.cu")];

/// A kernel of the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// `play_equal`, in one of its variants.
    Equal(EqualKind),
    /// `play_general`.
    General,
}

impl Kernel {
    /// Returns the kernel of a plan.
    pub fn of(plan: &KernelPlan) -> Self {
        match plan {
            KernelPlan::Equal { kind, .. } => Kernel::Equal(*kind),
            KernelPlan::General { .. } => Kernel::General,
        }
    }

    /// The kernel's name in the sources.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Equal(_) => "play_equal",
            Kernel::General => "play_general",
        }
    }

    fn sources(self) -> &'static [&'static str] {
        match self {
            Kernel::Equal(_) => &EQUAL_SOURCES,
            Kernel::General => &GENERAL_SOURCES,
        }
    }

    fn definitions(self) -> Vec<String> {
        match self {
            Kernel::Equal(kind) => {
                vec![format!("-DSQUARES={}", kind.squares), format!("-DREFINED={}", kind.refined)]
            }
            Kernel::General => vec![],
        }
    }
}

/// Compiles a kernel for devices of a compute capability, and keeps the code for the next game.
///
/// The result is machine code instead of PTX, so the compiler may be newer than the driver.
///
/// # Errors
/// The compiler is missing, or it refuses the kernel and says why.
pub fn compile(kernel: Kernel, major: i32, minor: i32) -> Result<Vec<u8>> {
    static COMPILED: Mutex<BTreeMap<(Kernel, i32, i32), Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().map_err(|_| CudaError::Poisoned)?;
    if let Some(code) = compiled.get(&(kernel, major, minor)) {
        return Ok(code.clone());
    }
    let code = compiled_for(kernel, major, minor)?;
    compiled.insert((kernel, major, minor), code.clone());
    Ok(code)
}

fn compiled_for(kernel: Kernel, major: i32, minor: i32) -> Result<Vec<u8>> {
    let source = [&SHARED_SOURCES, kernel.sources()].concat().join("\n");
    compile_source(&source, &kernel.definitions(), major, minor)
}

/// Compiles any source to machine code, which is not kept.
///
/// # Errors
/// The compiler is missing, or it refuses the source and says why.
pub fn compile_source(source: &str, definitions: &[String], major: i32, minor: i32) -> Result<Vec<u8>> {
    libraries::open_compiler()?;
    let source = CString::new(source).map_err(|error| CudaError::Other(error.to_string()))?;
    let program = result::create_program(&source, Some(c"misdeal.cu"))?;
    let mut options = definitions.to_vec();
    options.extend([format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++17".into()]);
    // SAFETY: the program was created above and is destroyed once, below.
    unsafe {
        let compiled = result::compile_program(program, &options)
            .map_err(|error| {
                let log = result::get_program_log(program).unwrap_or_default();
                let log = CStr::from_bytes_until_nul(&log.iter().map(|&c| c as u8).collect::<Vec<_>>())
                    .map(|log| log.to_string_lossy().into_owned());
                CudaError::NotCompiled { error, log: log.unwrap_or_default() }
            })
            .and_then(|()| Ok(code(program)?));
        let _ = result::destroy_program(program);
        compiled
    }
}

/// # Safety
/// The program was created and compiled.
unsafe fn code(program: sys::nvrtcProgram) -> std::result::Result<Vec<u8>, result::NvrtcError> {
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
    use super::*;

    /// Runs on machines with the compiler; no device is needed.
    #[test]
    fn the_kernels_compile() {
        if let Err(reason) = libraries::open_compiler() {
            misdeal_testkit::skip(reason);
            return;
        }
        let kinds = [true, false].map(|squares| EqualKind { squares, refined: !squares });
        for (major, minor) in [(8, 0), (9, 0)] {
            for kernel in kinds.map(Kernel::Equal).into_iter().chain([Kernel::General]) {
                assert!(compile(kernel, major, minor).unwrap().len() > 1000);
            }
        }
    }
}
