//! Copies records of a data set into consecutive rows.

use crate::simd::{Kernel, LANES, Vectors};

/// Number of records that are prefetched ahead of the copied record.
const AHEAD: usize = 3;

/// Copies record `records[i]` to row i.
#[derive(Debug)]
pub struct GatherRows<'a> {
    /// The features of all records, one record after the other.
    pub features: &'a [f32],
    /// Indices of the records to copy.
    pub records: &'a [u64],
    /// The destination rows.
    pub rows: &'a mut [f32],
}

impl Kernel for GatherRows<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let width = self.rows.len() / self.records.len().max(1);
        for (i, row) in self.rows.chunks_exact_mut(width.max(1)).enumerate() {
            if let Some(&next) = self.records.get(i + AHEAD) {
                let next = &self.features[next as usize * width..][..width];
                for line in next.chunks(LANES) {
                    prefetch(line);
                }
            }
            row.copy_from_slice(&self.features[self.records[i] as usize * width..][..width]);
        }
    }
}

#[inline(always)]
fn prefetch(line: &[f32]) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has this instruction, and it has no effect that a program can observe.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
