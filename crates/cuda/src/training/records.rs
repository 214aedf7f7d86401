//! A data set on a device.

use super::machine::Machine;
use super::memory::Memory;
use super::stages::channels_innermost;
use misdeal_train::data::Examples;
use std::sync::Arc;

/// Records with their labels and squared norms.
#[derive(Debug)]
pub struct Records<M: Machine> {
    pub features: Memory<M>,
    pub labels: Memory<M>,
    pub squares: Memory<M>,
    pub count: usize,
}

impl<M: Machine> Records<M> {
    /// The first `count` of `examples`.
    pub fn new(machine: &Arc<M>, examples: &Examples, count: usize) -> Result<Self, String> {
        let features = &examples.features[..count * examples.shape.features()];
        let square = |record: &[f32]| record.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>() as f32;
        let squares: Vec<f32> = features.chunks_exact(examples.shape.features()).map(square).collect();
        Ok(Records {
            features: Memory::of(machine, &channels_innermost(features, examples.shape))?,
            labels: Memory::of(machine, &examples.labels[..count])?,
            squares: Memory::of(machine, &squares)?,
            count,
        })
    }

    /// Whether no feature has more than the eleven significant bits of a matrix core's factor.
    pub fn are_exact(examples: &Examples, count: usize) -> bool {
        let features = &examples.features[..count * examples.shape.features()];
        features.iter().all(|feature| feature.to_bits() & 0x1fff == 0)
    }
}
