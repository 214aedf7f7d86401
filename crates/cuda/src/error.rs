//! Why a GPU cannot do a job.

use cudarc::driver::DriverError;
use cudarc::nvrtc::result::NvrtcError;

/// The result of a call that can fail on a GPU.
pub type Result<T> = std::result::Result<T, CudaError>;

/// Why a GPU cannot do a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CudaError {
    /// The driver is not installed.
    #[error(
        "no CUDA device: the NVIDIA driver's libcuda.so.1 was not found; install the driver, or use the device cpu"
    )]
    NoDriver,
    /// The run-time compiler is not installed.
    #[error(
        "CUDA's run-time compiler libnvrtc was not found; install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, \
         or set {variable} to the file", variable = crate::libraries::NVRTC_VARIABLE
    )]
    NoCompiler,
    /// The driver is installed but sees no device.
    #[error("no CUDA device: the driver sees none; use the device cpu")]
    NoDevice,
    /// The driver cannot list the devices.
    #[error("no CUDA device: {0}")]
    NotListed(DriverError),
    /// The device has no matrix cores for f32.
    #[error(
        "no CUDA device for trainings: compute capability {major}.{minor} has no matrix cores for f32; \
         8.0 is needed, or the device cpu"
    )]
    TooOld {
        /// The first number of the compute capability.
        major: i32,
        /// The second number of the compute capability.
        minor: i32,
    },
    /// The driver reports a failure.
    #[error("the CUDA device failed: {0}")]
    Driver(#[from] DriverError),
    /// A kernel of a training failed.
    #[error("{cause} of {kernel}")]
    Kernel {
        /// The kernel's name.
        kernel: String,
        /// The driver's error.
        cause: Box<CudaError>,
    },
    /// The compiler reports a failure.
    #[error("{0}")]
    Compiler(#[from] NvrtcError),
    /// The kernels do not compile.
    #[error("the kernels did not compile: {error}: {log}")]
    NotCompiled {
        /// The compiler's error.
        error: NvrtcError,
        /// The compiler's log.
        log: String,
    },
    /// A thread panicked while it held the device or the compiled kernels.
    #[error("another thread failed on the device")]
    Poisoned,
    /// The device's memory is too small.
    #[error(
        "the device's memory does not hold two models of {bytes} bytes with batches of {batch_size}; use the device cpu"
    )]
    TooLittleMemory {
        /// Bytes of one model.
        bytes: usize,
        /// Records of a batch.
        batch_size: usize,
    },
    /// The data are too large: kernels count places in 32 bits.
    #[error(
        "batches of {batch_size} records with {widest} values each, or a data set of {records} of them, are more than the device's kernels \
         can address; use the device cpu"
    )]
    TooLarge {
        /// Records of a batch.
        batch_size: usize,
        /// Values of the widest layer.
        widest: usize,
        /// Records of the data set.
        records: usize,
    },
    /// The game or training uses a CPU's random stream.
    #[error("the random bits are a processor's stream")]
    WrongStream,
    /// A trial has more draws than a 32-bit counter can number.
    #[error("a trial has more than 2^32 draws")]
    TooManyDraws,
    /// The target is in more batches of an epoch than a kernel can store.
    #[error("the target may be in more than {0} batches of an epoch")]
    TooManyTargets(usize),
    /// An [`Accelerator`](crate::training::Accelerator) of another crate failed.
    #[error("{0}")]
    Other(String),
}

impl CudaError {
    /// Whether a suitable device or a library is missing, and nothing failed.
    pub fn is_missing(&self) -> bool {
        matches!(
            self,
            Self::NoDriver | Self::NoCompiler | Self::NoDevice | Self::NotListed(_) | Self::TooOld { .. }
        )
    }
}

impl From<CudaError> for misdeal_core::Error {
    fn from(error: CudaError) -> Self {
        misdeal_core::Error::Device(error.to_string())
    }
}
