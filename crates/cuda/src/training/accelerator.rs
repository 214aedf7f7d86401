//! Memory and kernels of a device: a GPU, or in tests a CPU that runs the same kernels.
#![allow(unsafe_code, reason = "a device is driven")]

use super::program::{KernelSpec, Program};
use crate::program::compile_source;
use crate::{CudaError, Result};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DeviceRepr, result, sys};
use cudarc::nvrtc::Ptx;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Number of blocks of a launch, in three dimensions.
pub type Grid = (usize, usize, usize);

/// Memory and kernels of a device.
pub trait Accelerator: Send + Sync + Sized {
    /// Compiles and loads the kernels of a program.
    ///
    /// # Errors
    /// The compiler refuses them, or the device fails.
    fn load(&mut self, program: &Program) -> Result<()>;

    /// Largest number of bytes of shared memory in a block.
    ///
    /// # Errors
    /// The device fails.
    fn most_shared_bytes(&self) -> Result<usize>;

    /// Number of bytes that can still be allocated.
    ///
    /// # Errors
    /// The device fails.
    fn free_bytes(&self) -> Result<usize>;

    /// Allocates uninitialised memory and returns its address.
    ///
    /// # Errors
    /// There is not enough memory.
    fn allocate(&self, bytes: usize) -> Result<u64>;

    /// Frees memory that [`allocate`](Self::allocate) returned.
    fn release(&self, address: u64);

    /// Copies values to the device and waits for the copy; kernels keep running.
    ///
    /// # Errors
    /// The device fails.
    fn upload<T: DeviceRepr>(&self, to: u64, values: &[T]) -> Result<()>;

    /// Copies values from the device and waits for the copy; kernels keep running.
    ///
    /// The caller must first wait for the launches that wrote them.
    ///
    /// # Errors
    /// The device fails.
    fn download<T: DeviceRepr>(&self, from: u64, values: &mut [T]) -> Result<()>;

    /// Launches a kernel; it runs after all earlier launches.
    ///
    /// # Safety
    /// `arguments` point to the kernel's parameters. All addresses in them belong to memory that is large enough and lives until
    /// the caller has waited for the launch.
    ///
    /// # Errors
    /// The device fails.
    unsafe fn launch(&self, kernel: usize, grid: Grid, arguments: &mut [*mut c_void]) -> Result<()>;

    /// Waits for all launches.
    ///
    /// # Errors
    /// The device fails.
    fn wait(&self) -> Result<()>;
}

/// Seconds and launches of each kernel.
pub type Profile = BTreeMap<String, (f64, u64)>;

/// A GPU with the kernels of one training.
#[derive(Debug)]
pub struct Gpu {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    uploads: Arc<CudaStream>,
    downloads: Arc<CudaStream>,
    kernels: Vec<(KernelSpec, CudaFunction)>,
    profile: Option<Mutex<Profile>>,
}

impl Gpu {
    /// Opens device number `ordinal`, without kernels.
    pub(crate) fn new(ordinal: usize) -> Result<Self> {
        let context = CudaContext::new(ordinal)?;
        // One stream for launches and one for each direction of copies. Only the host orders them.
        let stream = context.new_stream()?;
        let uploads = context.new_stream()?;
        let downloads = context.new_stream()?;
        Ok(Gpu { context, stream, uploads, downloads, kernels: vec![], profile: None })
    }

    /// Measures the time of every launch from now on. This slows down all launches.
    pub fn start_profile(&mut self) {
        self.profile = Some(Mutex::default());
    }

    /// Returns the times measured so far.
    pub fn profile(&self) -> Profile {
        self.profile.as_ref().and_then(|profile| profile.lock().ok().map(|p| p.clone())).unwrap_or_default()
    }
}

impl Accelerator for Gpu {
    fn load(&mut self, program: &Program) -> Result<()> {
        let (major, minor) = self.context.compute_capability()?;
        if major < 8 {
            return Err(CudaError::TooOld { major, minor });
        }
        let code = compiled(program.source(), major, minor)?;
        let module = self.context.load_module(Ptx::from_binary(code))?;
        self.kernels.clear();
        for kernel in &program.kernels {
            let function = module.load_function(&kernel.name)?;
            if kernel.shared_bytes > 0 {
                let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                function.set_attribute(attribute, kernel.shared_bytes as i32)?;
            }
            self.kernels.push((kernel.clone(), function));
        }
        Ok(())
    }

    fn most_shared_bytes(&self) -> Result<usize> {
        let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        Ok(self.context.attribute(attribute)?.max(0) as usize)
    }

    fn free_bytes(&self) -> Result<usize> {
        Ok(self.context.mem_get_info()?.0)
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        self.context.bind_to_thread()?;
        // SAFETY: a kernel or a copy writes this memory before it is read.
        Ok(unsafe { result::malloc_sync(bytes.max(16)) }?)
    }

    fn release(&self, address: u64) {
        let _ = self.context.bind_to_thread();
        // SAFETY: the address came from `allocate` and is freed once, after all work on the device has finished.
        let _ = unsafe { result::free_sync(address) };
    }

    fn upload<T: DeviceRepr>(&self, to: u64, values: &[T]) -> Result<()> {
        self.context.bind_to_thread()?;
        // SAFETY: `Buffer` checks the space at `to`. The values live until the stream has been waited for.
        unsafe { result::memcpy_htod_async(to, values, self.uploads.cu_stream()) }?;
        Ok(self.uploads.synchronize()?)
    }

    fn download<T: DeviceRepr>(&self, from: u64, values: &mut [T]) -> Result<()> {
        self.context.bind_to_thread()?;
        // SAFETY: `Buffer` checks that `from` has as many values. The stream is waited for before they are read.
        unsafe { result::memcpy_dtoh_async(values, from, self.downloads.cu_stream()) }?;
        Ok(self.downloads.synchronize()?)
    }

    unsafe fn launch(&self, kernel: usize, grid: Grid, arguments: &mut [*mut c_void]) -> Result<()> {
        let (kernel, function) = &self.kernels[kernel];
        self.context.bind_to_thread()?;
        let start = self.profile.as_ref().map(|_| self.wait().map(|()| Instant::now())).transpose()?;
        let grid = (grid.0 as u32, grid.1 as u32, grid.2 as u32);
        let threads = (kernel.threads, 1, 1);
        // SAFETY: the caller guarantees the arguments.
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
        .map_err(|error| failed(kernel, error.into()))?;
        if let (Some(start), Some(profile)) = (start, &self.profile) {
            self.wait().map_err(|error| failed(kernel, error))?;
            if let Ok(mut profile) = profile.lock() {
                let entry = profile.entry(kernel.name.clone()).or_default();
                entry.0 += start.elapsed().as_secs_f64();
                entry.1 += 1;
            }
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        self.context.bind_to_thread()?;
        Ok(self.stream.synchronize()?)
    }
}

/// Compiles a source to machine code, and keeps the code for the next training of the same model.
fn compiled(source: String, major: i32, minor: i32) -> Result<Vec<u8>> {
    static COMPILED: Mutex<BTreeMap<(String, i32, i32), Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().map_err(|_| CudaError::Poisoned)?;
    let key = (source, major, minor);
    if let Some(code) = compiled.get(&key) {
        return Ok(code.clone());
    }
    let code = compile_source(&key.0, &[], major, minor)?;
    compiled.insert(key, code.clone());
    Ok(code)
}

fn failed(kernel: &KernelSpec, cause: CudaError) -> CudaError {
    CudaError::Kernel { kernel: kernel.name.clone(), cause: Box::new(cause) }
}
