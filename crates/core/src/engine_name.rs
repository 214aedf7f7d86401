//! Names of the engines that run the mechanism.

crate::closed_set! {
    "engine",
    /// An engine that plays the mechanism, or how to choose one.
    #[derive(Default)]
    pub enum EngineName {
        /// The fastest that can play the game here.
        #[default]
        Auto,
        /// Observation and likelihood ratio in f64, slow and obvious.
        Reference,
        /// The fastest set of instructions of this processor.
        Cpu,
        /// AVX-512 instructions.
        CpuAvx512,
        /// AVX2 instructions.
        CpuAvx2,
        /// No special instructions.
        CpuPortable,
        /// A CUDA device.
        Cuda,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ClosedSet;

    #[test]
    fn names_are_those_in_use() {
        let names = ["auto", "reference", "cpu", "cpu-avx512", "cpu-avx2", "cpu-portable", "cuda"];
        assert_eq!(EngineName::names(), names);
    }
}
