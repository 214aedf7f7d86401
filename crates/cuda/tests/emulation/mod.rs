//! Runs the kernels of a training on the processor: compiled as C++ beside `processor.h`, which stands for the device.
//!
//! Threads are fibers and matrix cores are loops. The whole path, from batches to scores, is compared with the
//! reference in f64 on machines without a device. Memory that was never written is not a number, so a kernel that
//! reads it fails the comparison.
#![allow(unsafe_code, reason = "a library is called")]
#![allow(dead_code, reason = "each test takes what it needs")]

use cudarc::driver::DeviceRepr;
use libloading::Library;
use misdeal_cuda::CudaError;
use misdeal_cuda::training::{Accelerator, Grid, MORE_SOURCES, Program, SOURCES};
use misdeal_testkit::skip;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt::Write;
use std::process::Command;
use std::sync::Mutex;

type Run = unsafe extern "C" fn(*mut *mut c_void, u32, u32, u32, u32);

/// A processor that runs kernels.
#[derive(Debug, Default)]
pub struct Emulator {
    library: Option<Library>,
    kernels: Vec<(String, u32)>,
    allocated: Mutex<BTreeMap<u64, Layout>>,
}

/// Whether kernels can be run here; says why not.
pub fn is_there() -> bool {
    let there = cfg!(all(target_arch = "x86_64", target_os = "linux"))
        && Command::new("c++").arg("--version").output().is_ok_and(|done| done.status.success());
    if !there {
        skip("no C++ compiler on a Linux system of the x86-64 family");
    }
    there
}

#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn failed(error: impl ToString) -> CudaError {
    CudaError::Other(error.to_string())
}

impl Accelerator for Emulator {
    fn load(&mut self, program: &Program) -> Result<(), CudaError> {
        let shim = include_str!("processor.h");
        let mut source = [&[shim][..], &SOURCES, &MORE_SOURCES, &[&program.instances]].concat().join("\n");
        source = source.replace(
            "extern __shared__ float4 dynamic_shared[];",
            "alignas(16) static float4 dynamic_shared[1 << 14];",
        );
        // The device's fast functions, by the library's.
        for (instruction, function) in [
            ("lg2.approx.ftz.f32", "log2f"),
            ("ex2.approx.ftz.f32", "exp2f"),
            ("sqrt.approx.ftz.f32", "sqrtf"),
        ] {
            let device = format!("asm(\"{instruction} %0, %1;\" : \"=f\"(y) : \"f\"(x));");
            assert!(source.contains(&device), "{instruction}");
            source = source.replace(&device, &format!("y = {function}(x);"));
        }
        for kernel in &program.kernels {
            assert!(kernel.shared_bytes <= 227 * 1024, "{kernel:?}");
            let name = &kernel.name;
            let _ = writeln!(
                source,
                "extern \"C\" void run_{name}(void** a, unsigned x, unsigned y, unsigned z, unsigned n) {{ run_kernel({name}, a, x, y, z, n); }}"
            );
        }
        let folder = tempfile::tempdir().map_err(failed)?;
        let (file, library) = (folder.path().join("kernels.cpp"), folder.path().join("kernels.so"));
        std::fs::write(&file, source).map_err(failed)?;
        let done = Command::new("c++")
            .args([
                "-std=c++17",
                "-O1",
                "-ffp-contract=off",
                "-fno-gnu-unique",
                "-w",
                "-shared",
                "-fPIC",
                "-o",
            ])
            .args([&library, &file])
            .output()
            .map_err(failed)?;
        if !done.status.success() {
            return Err(CudaError::Other(String::from_utf8_lossy(&done.stderr).chars().take(4000).collect()));
        }
        // SAFETY: the library was just made from the kernels, and has no initialisers.
        self.library = Some(unsafe { Library::new(library) }.map_err(failed)?);
        self.kernels = program.kernels.iter().map(|kernel| (kernel.name.clone(), kernel.threads)).collect();
        Ok(())
    }

    fn most_shared_bytes(&self) -> Result<usize, CudaError> {
        Ok(227 * 1024)
    }

    fn free_bytes(&self) -> Result<usize, CudaError> {
        Ok(1 << 30)
    }

    fn allocate(&self, bytes: usize) -> Result<u64, CudaError> {
        let layout = Layout::from_size_align(bytes.max(16), 256).map_err(failed)?;
        // SAFETY: the size is not zero. Numbers that nobody wrote are not numbers: whoever reads them is found out.
        let address = unsafe {
            let memory = std::alloc::alloc(layout);
            memory.write_bytes(0xff, layout.size());
            memory as u64
        };
        self.allocated.lock().unwrap().insert(address, layout);
        Ok(address)
    }

    fn release(&self, address: u64) {
        let layout = self.allocated.lock().unwrap().remove(&address).unwrap();
        // SAFETY: it was allocated with this layout, and is removed from the list.
        unsafe { std::alloc::dealloc(address as *mut u8, layout) };
    }

    fn upload<T: DeviceRepr>(&self, to: u64, values: &[T]) -> Result<(), CudaError> {
        // SAFETY: `Memory` checks the room.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), to as *mut T, values.len()) };
        Ok(())
    }

    fn download<T: DeviceRepr>(&self, from: u64, values: &mut [T]) -> Result<(), CudaError> {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(from as *const T, values.as_mut_ptr(), values.len()) };
        Ok(())
    }

    unsafe fn launch(
        &self,
        kernel: usize,
        grid: Grid,
        arguments: &mut [*mut c_void],
    ) -> Result<(), CudaError> {
        let (name, threads) = &self.kernels[kernel];
        let library = self.library.as_ref().ok_or_else(|| failed("no kernels"))?;
        let symbol = format!("run_{name}");
        // SAFETY: every kernel has such a function, and the caller vouches for the arguments.
        unsafe {
            let run = library.get::<Run>(symbol.as_bytes()).map_err(failed)?;
            run(arguments.as_mut_ptr(), grid.0 as u32, grid.1 as u32, grid.2 as u32, *threads);
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), CudaError> {
        Ok(())
    }
}
