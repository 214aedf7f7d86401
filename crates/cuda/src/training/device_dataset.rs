//! A data set in device memory.

use super::accelerator::Accelerator;
use super::buffer::Buffer;
use super::stages::channels_innermost;
use crate::Result;
use misdeal_train::data::Examples;
use std::sync::Arc;

/// Records with their labels and squared norms.
#[derive(Debug)]
pub struct DeviceDataset<A: Accelerator> {
    pub features: Buffer<A>,
    pub labels: Buffer<A>,
    pub squares: Buffer<A>,
    pub count: usize,
}

impl<A: Accelerator> DeviceDataset<A> {
    /// Copies the first `count` records of `examples` to a device.
    pub fn new(accelerator: &Arc<A>, examples: &Examples, count: usize) -> Result<Self> {
        let features = &examples.features[..count * examples.shape.features()];
        let square = |record: &[f32]| record.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>() as f32;
        let squares: Vec<f32> = features.chunks_exact(examples.shape.features()).map(square).collect();
        Ok(DeviceDataset {
            features: Buffer::copy_of(accelerator, &channels_innermost(features, examples.shape))?,
            labels: Buffer::copy_of(accelerator, &examples.labels[..count])?,
            squares: Buffer::copy_of(accelerator, &squares)?,
            count,
        })
    }
}
