//! Memory of a machine that is given back when nobody needs it.

use super::machine::Machine;
use cudarc::driver::DeviceRepr;
use std::sync::Arc;

/// Some bytes of a machine's memory.
#[derive(Debug)]
pub struct Memory<M: Machine> {
    machine: Arc<M>,
    address: u64,
    bytes: usize,
}

impl<M: Machine> Memory<M> {
    /// Room for `count` values, not initialised.
    pub fn room<T>(machine: &Arc<M>, count: usize) -> Result<Self, String> {
        let bytes = count * size_of::<T>();
        Ok(Memory { machine: Arc::clone(machine), address: machine.allocate(bytes)?, bytes })
    }

    /// A copy of `values`.
    pub fn of<T: DeviceRepr>(machine: &Arc<M>, values: &[T]) -> Result<Self, String> {
        let memory = Self::room::<T>(machine, values.len())?;
        memory.fill(values)?;
        Ok(memory)
    }

    /// Copies `values` to its beginning.
    pub fn fill<T: DeviceRepr>(&self, values: &[T]) -> Result<(), String> {
        assert!(size_of_val(values) <= self.bytes, "more values than there is room for");
        if values.is_empty() { Ok(()) } else { self.machine.upload(self.address, values) }
    }

    /// Makes room for `values` if there is not enough, and copies them.
    pub fn refill<T: DeviceRepr>(&mut self, values: &[T]) -> Result<(), String> {
        if size_of_val(values) > self.bytes {
            *self = Self::room::<T>(&self.machine, values.len())?;
        }
        self.fill(values)
    }

    /// Makes room for `count` values if there is not enough.
    pub fn reserve<T>(&mut self, count: usize) -> Result<(), String> {
        if count * size_of::<T>() > self.bytes {
            *self = Self::room::<T>(&self.machine, count)?;
        }
        Ok(())
    }

    /// The first `values.len()` values, as the launches left them that have been waited for.
    pub fn read<T: DeviceRepr>(&self, values: &mut [T]) -> Result<(), String> {
        assert!(size_of_val(values) <= self.bytes, "more values than there are");
        if values.is_empty() { Ok(()) } else { self.machine.download(self.address, values) }
    }

    /// Where it begins.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl<M: Machine> Drop for Memory<M> {
    fn drop(&mut self) {
        self.machine.release(self.address);
    }
}
