//! Copies records of a data set into consecutive rows.

use crate::simd::{Kernel, LANES, Vectors};

/// Records that are prefetched ahead of the one being copied.
const AHEAD: usize = 3;

/// Row i becomes record `records[i]`.
#[derive(Debug)]
pub struct GatherRows<'a> {
    /// All records, one after the other.
    pub features: &'a [f32],
    /// Which ones.
    pub records: &'a [u64],
    /// Where to.
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
    // SAFETY: every x86-64 processor has the instruction, which has no effect that a program could see.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line.as_ptr().cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
