//! Sums along rows and columns of a matrix. All instruction sets use the same sixteen partial sums.

use crate::simd::{Kernel, LANES, Vectors};

/// Adds up sixteen partial sums: first lanes i and i + 8, then i and i + 4, and so on.
#[inline(always)]
pub fn total(lanes: [f32; LANES]) -> f32 {
    let mut sums = lanes;
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
        width /= 2;
    }
    sums[0]
}

/// Computes the sum of squares of every row.
#[derive(Debug)]
pub struct RowSquares<'a> {
    /// The matrix, row by row.
    pub values: &'a [f32],
    /// Entries in a row.
    pub columns: usize,
    /// One sum for each row.
    pub squares: &'a mut [f32],
}

impl Kernel for RowSquares<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        for (row, square) in self.values.chunks_exact(self.columns).zip(self.squares) {
            let mut lanes = [0.0_f32; LANES];
            let (whole, rest) = row.as_chunks::<LANES>();
            for chunk in whole {
                for i in 0..LANES {
                    lanes[i] = chunk[i].mul_add(chunk[i], lanes[i]);
                }
            }
            for (lane, x) in lanes.iter_mut().zip(rest) {
                *lane = x.mul_add(*x, *lane);
            }
            *square = total(lanes);
        }
    }
}

/// Multiplies every row by its factor.
#[derive(Debug)]
pub struct ScaleRows<'a> {
    /// The matrix, row by row.
    pub values: &'a mut [f32],
    /// Entries in a row.
    pub columns: usize,
    /// One factor for each row.
    pub factors: &'a [f32],
}

impl Kernel for ScaleRows<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        for (row, &factor) in self.values.chunks_exact_mut(self.columns).zip(self.factors) {
            for x in row {
                *x *= factor;
            }
        }
    }
}

/// Adds all rows, first to last, to `sums`.
#[derive(Debug)]
pub struct ColumnSums<'a> {
    /// The matrix, row by row.
    pub values: &'a [f32],
    /// One sum for each column.
    pub sums: &'a mut [f32],
}

impl Kernel for ColumnSums<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        for row in self.values.chunks_exact(self.sums.len()) {
            for (sum, x) in self.sums.iter_mut().zip(row) {
                *sum += x;
            }
        }
    }
}
