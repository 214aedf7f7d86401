//! A buffer of an accelerator, freed when it is dropped.

use super::accelerator::Accelerator;
use crate::Result;
use cudarc::driver::DeviceRepr;
use std::sync::Arc;

/// A piece of device memory.
#[derive(Debug)]
pub struct Buffer<A: Accelerator> {
    accelerator: Arc<A>,
    address: u64,
    bytes: usize,
}

impl<A: Accelerator> Buffer<A> {
    /// Allocates memory for `count` values.
    pub fn uninitialised<T>(accelerator: &Arc<A>, count: usize) -> Result<Self> {
        let bytes = count * size_of::<T>();
        Ok(Buffer { accelerator: Arc::clone(accelerator), address: accelerator.allocate(bytes)?, bytes })
    }

    /// Allocates a copy of `values`.
    pub fn copy_of<T: DeviceRepr>(accelerator: &Arc<A>, values: &[T]) -> Result<Self> {
        let memory = Self::uninitialised::<T>(accelerator, values.len())?;
        memory.fill(values)?;
        Ok(memory)
    }

    /// Copies `values` to the start of the buffer.
    pub fn fill<T: DeviceRepr>(&self, values: &[T]) -> Result<()> {
        assert!(size_of_val(values) <= self.bytes, "more values than there is room for");
        if values.is_empty() { Ok(()) } else { self.accelerator.upload(self.address, values) }
    }

    /// Copies `values` to the start of the buffer, which grows first if they do not fit.
    pub fn refill<T: DeviceRepr>(&mut self, values: &[T]) -> Result<()> {
        if size_of_val(values) > self.bytes {
            *self = Self::uninitialised::<T>(&self.accelerator, values.len())?;
        }
        self.fill(values)
    }

    /// Makes the buffer at least `count` values long. If it grows, its old values are lost.
    pub fn reserve<T>(&mut self, count: usize) -> Result<()> {
        if count * size_of::<T>() > self.bytes {
            *self = Self::uninitialised::<T>(&self.accelerator, count)?;
        }
        Ok(())
    }

    /// Copies the first values of the buffer to `values`. The caller must first wait for the launches that wrote them.
    pub fn read<T: DeviceRepr>(&self, values: &mut [T]) -> Result<()> {
        assert!(size_of_val(values) <= self.bytes, "more values than there are");
        if values.is_empty() { Ok(()) } else { self.accelerator.download(self.address, values) }
    }

    /// The address of the first value.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl<A: Accelerator> Drop for Buffer<A> {
    fn drop(&mut self) {
        self.accelerator.release(self.address);
    }
}
