//! What a training asks of a device. Kernels also run where there is none, for tests: whoever implements this can train.
#![allow(unsafe_code, reason = "a device is driven")]

use super::source::{Kernel, Program};
use crate::program::compile_source;
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DeviceRepr, DriverError, result, sys};
use cudarc::nvrtc::Ptx;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Blocks of a launch in three directions.
pub type Grid = (usize, usize, usize);

/// Memory and kernels of a device.
pub trait Machine: Send + Sync + Sized {
    /// Makes the kernels of a program ready.
    ///
    /// # Errors
    /// The compiler's or the device's own words.
    fn load(&mut self, program: &Program) -> Result<(), String>;

    /// Bytes of shared memory that a block may have.
    ///
    /// # Errors
    /// The device's own words.
    fn most_shared_bytes(&self) -> Result<usize, String>;

    /// Bytes that may still be allocated.
    ///
    /// # Errors
    /// The device's own words.
    fn free_bytes(&self) -> Result<usize, String>;

    /// An address with room for so many bytes, not initialised.
    ///
    /// # Errors
    /// There is not so much.
    fn allocate(&self, bytes: usize) -> Result<u64, String>;

    /// Gives back what [`allocate`](Self::allocate) gave.
    fn release(&self, address: u64);

    /// Copies to the device, beside whatever runs there, and waits for the copy.
    ///
    /// # Errors
    /// The device's own words.
    fn upload<T: DeviceRepr>(&self, to: u64, values: &[T]) -> Result<(), String>;

    /// Copies from the device, beside whatever runs there, and waits for the copy. The launches that wrote it have been waited for.
    ///
    /// # Errors
    /// The device's own words.
    fn download<T: DeviceRepr>(&self, from: u64, values: &mut [T]) -> Result<(), String>;

    /// Runs a kernel after those that were launched before.
    ///
    /// # Safety
    /// `arguments` point to what the kernel takes, and all addresses therein are of memory that is large enough and stays until the
    /// launch has been waited for.
    ///
    /// # Errors
    /// The device's own words.
    unsafe fn launch(&self, kernel: usize, grid: Grid, arguments: &mut [*mut c_void]) -> Result<(), String>;

    /// Waits for all launches.
    ///
    /// # Errors
    /// The device's own words.
    fn wait(&self) -> Result<(), String>;
}

/// Seconds and launches of each kernel.
pub type Profile = BTreeMap<String, (f64, u64)>;

/// A graphics processor.
#[derive(Debug)]
pub struct Gpu {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    uploads: Arc<CudaStream>,
    downloads: Arc<CudaStream>,
    kernels: Vec<(Kernel, CudaFunction)>,
    profile: Option<Mutex<Profile>>,
}

impl Gpu {
    /// Device number `ordinal`, without kernels.
    pub(crate) fn new(ordinal: usize) -> Result<Self, String> {
        let context = CudaContext::new(ordinal).map_err(told)?;
        // Three streams that only the host orders: launches, and copies to and from the device beside them.
        let stream = context.new_stream().map_err(told)?;
        let uploads = context.new_stream().map_err(told)?;
        let downloads = context.new_stream().map_err(told)?;
        Ok(Gpu { context, stream, uploads, downloads, kernels: vec![], profile: None })
    }

    /// Times every launch on its own from now on, which makes all of them slower.
    pub fn start_profile(&mut self) {
        self.profile = Some(Mutex::default());
    }

    /// What was timed.
    pub fn profile(&self) -> Profile {
        self.profile.as_ref().and_then(|profile| profile.lock().ok().map(|p| p.clone())).unwrap_or_default()
    }
}

impl Machine for Gpu {
    fn load(&mut self, program: &Program) -> Result<(), String> {
        let (major, minor) = self.context.compute_capability().map_err(told)?;
        if major < 8 {
            return Err(format!(
                "no CUDA device for trainings: compute capability {major}.{minor} has no matrix cores for f32; \
                 8.0 is needed, or the device cpu"
            ));
        }
        let code = compiled(program.source(), major, minor)?;
        let module = self.context.load_module(Ptx::from_binary(code)).map_err(told)?;
        self.kernels.clear();
        for kernel in &program.kernels {
            let function = module.load_function(&kernel.name).map_err(told)?;
            if kernel.shared_bytes > 0 {
                let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                function.set_attribute(attribute, kernel.shared_bytes as i32).map_err(told)?;
            }
            self.kernels.push((kernel.clone(), function));
        }
        Ok(())
    }

    fn most_shared_bytes(&self) -> Result<usize, String> {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        Ok(self.context.attribute(attribute).map_err(told)?.max(0) as usize)
    }

    fn free_bytes(&self) -> Result<usize, String> {
        Ok(self.context.mem_get_info().map_err(told)?.0)
    }

    fn allocate(&self, bytes: usize) -> Result<u64, String> {
        self.context.bind_to_thread().map_err(told)?;
        // SAFETY: nobody reads it before a kernel or a copy has written it.
        unsafe { result::malloc_sync(bytes.max(16)) }.map_err(told)
    }

    fn release(&self, address: u64) {
        let _ = self.context.bind_to_thread();
        // SAFETY: it came from `allocate` and is given back once, after the device has been waited for.
        let _ = unsafe { result::free_sync(address) };
    }

    fn upload<T: DeviceRepr>(&self, to: u64, values: &[T]) -> Result<(), String> {
        self.context.bind_to_thread().map_err(told)?;
        // SAFETY: whoever allocated `to` made room for the values, which stay until the stream has been waited for.
        unsafe { result::memcpy_htod_async(to, values, self.uploads.cu_stream()) }.map_err(told)?;
        self.uploads.synchronize().map_err(told)
    }

    fn download<T: DeviceRepr>(&self, from: u64, values: &mut [T]) -> Result<(), String> {
        self.context.bind_to_thread().map_err(told)?;
        // SAFETY: there are so many values at `from`, and the stream is waited for before anyone looks.
        unsafe { result::memcpy_dtoh_async(values, from, self.downloads.cu_stream()) }.map_err(told)?;
        self.downloads.synchronize().map_err(told)
    }

    unsafe fn launch(&self, kernel: usize, grid: Grid, arguments: &mut [*mut c_void]) -> Result<(), String> {
        let (kernel, function) = &self.kernels[kernel];
        self.context.bind_to_thread().map_err(told)?;
        let start = self.profile.as_ref().map(|_| self.wait().map(|()| Instant::now())).transpose()?;
        let grid = (grid.0 as u32, grid.1 as u32, grid.2 as u32);
        let threads = (kernel.threads, 1, 1);
        // SAFETY: the caller vouches for the arguments.
        unsafe {
            let function = function.cu_function();
            result::launch_kernel(
                function,
                grid,
                threads,
                kernel.shared_bytes,
                self.stream.cu_stream(),
                arguments,
            )
        }
        .map_err(|error| format!("{} of {}", told(error), kernel.name))?;
        if let (Some(start), Some(profile)) = (start, &self.profile) {
            self.wait().map_err(|error| format!("{error} in {}", kernel.name))?;
            if let Ok(mut profile) = profile.lock() {
                let entry = profile.entry(kernel.name.clone()).or_default();
                entry.0 += start.elapsed().as_secs_f64();
                entry.1 += 1;
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), String> {
        self.context.bind_to_thread().map_err(told)?;
        self.stream.synchronize().map_err(told)
    }
}

/// Machine code, kept for the next training of the same model.
fn compiled(source: String, major: i32, minor: i32) -> Result<Vec<u8>, String> {
    static COMPILED: Mutex<BTreeMap<(String, i32, i32), Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().map_err(|_| "another thread failed while it compiled")?;
    let key = (source, major, minor);
    if let Some(code) = compiled.get(&key) {
        return Ok(code.clone());
    }
    let code = compile_source(&key.0, &[], major, minor)?;
    compiled.insert(key, code.clone());
    Ok(code)
}

/// The driver's words for what went wrong.
fn told(error: DriverError) -> String {
    format!("the CUDA device failed: {error}")
}
