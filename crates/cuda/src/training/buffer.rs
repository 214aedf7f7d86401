//! Buffer of a accelerator that is given back when nobody needs it.

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
    /// Allocates room for `count` values.
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

    /// Copies `values` to the start.
    pub fn fill<T: DeviceRepr>(&self, values: &[T]) -> Result<()> {
        assert!(size_of_val(values) <= self.bytes, "more values than there is room for");
        if values.is_empty() { Ok(()) } else { self.accelerator.upload(self.address, values) }
    }

    /// Copies `values` to the start, and grows first if they do not fit.
    pub fn refill<T: DeviceRepr>(&mut self, values: &[T]) -> Result<()> {
        if size_of_val(values) > self.bytes {
            *self = Self::uninitialised::<T>(&self.accelerator, values.len())?;
        }
        self.fill(values)
    }

    /// Grows to `count` values if there is less room; values are lost then.
    pub fn reserve<T>(&mut self, count: usize) -> Result<()> {
        if count * size_of::<T>() > self.bytes {
            *self = Self::uninitialised::<T>(&self.accelerator, count)?;
        }
        Ok(())
    }

    /// Copies the first values to `values`; the launches that wrote them have been waited for.
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
