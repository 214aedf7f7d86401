//! Devices to compute on, and their arithmetic.

crate::closed_set! {
    "device",
    /// What a job may compute on.
    #[derive(Default)]
    pub enum Device {
        /// A CUDA device for long runs, where there is one; else the processor.
        #[default]
        Auto,
        /// The processor.
        Cpu,
        /// A CUDA device; an error where there is none.
        Cuda,
    }
}

crate::closed_set! {
    "precision",
    /// The arithmetic of trainings.
    #[derive(Default)]
    pub enum Precision {
        /// Single precision. On a CUDA device factors are split in two parts of eleven bits, with errors like those of f32.
        #[default]
        F32,
        /// Factors rounded to eleven bits, on a CUDA device alone: three times as fast, relative errors of about 1e-3.
        Tf32,
    }
}
