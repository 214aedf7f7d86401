//! The product of two matrices, added to a third.

use super::convolution::product;
use crate::simd::{Kernel, LANES, Vectors};

/// A matrix in memory: entry (i, j) is `values[i * row_stride + j * column_stride]`.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// The entries.
    pub values: &'a [f32],
    /// Distance from one row to the next.
    pub row_stride: usize,
    /// Distance from one column to the next.
    pub column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows of `columns` entries, one after the other.
    pub fn rows(values: &'a [f32], columns: usize) -> Self {
        Matrix { values, row_stride: columns, column_stride: 1 }
    }

    /// The transposed matrix, in the same memory.
    pub fn transposed(self) -> Self {
        Matrix { row_stride: self.column_stride, column_stride: self.row_stride, ..self }
    }

    fn holds(&self, rows: usize, columns: usize) -> bool {
        let last_row = product([rows - 1, self.row_stride]);
        let last = last_row.checked_add(product([columns - 1, self.column_stride]));
        last.is_some_and(|last| last < self.values.len())
    }
}

/// sum += left * right, with `right` and `sum` stored row by row without gaps.
///
/// Each entry is one chain of multiply-adds that starts from the entry of `sum`, in the order of the inner index. The bits are
/// therefore the same on every instruction set and for every tiling.
#[derive(Debug)]
pub struct MatrixProduct<'a> {
    /// Rows of `left` and `sum`.
    pub rows: usize,
    /// Columns of `left`, rows of `right`.
    pub inner: usize,
    /// Columns of `right` and `sum`.
    pub columns: usize,
    /// The left factor.
    pub left: Matrix<'a>,
    /// The right factor.
    pub right: &'a [f32],
    /// The matrix that the product is added to.
    pub sum: &'a mut [f32],
}

/// A part of the product that fits into the registers.
#[derive(Clone, Copy)]
struct Tile {
    left: *const f32,
    row_stride: usize,
    inner_stride: usize,
    right: *const f32,
    sum: *mut f32,
    inner: usize,
    columns: usize,
    /// Number of columns in the last vector.
    last: usize,
}

impl Kernel for MatrixProduct<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let MatrixProduct { rows, inner, columns, left, right, sum } = self;
        if rows == 0 || inner == 0 || columns == 0 {
            return;
        }
        assert!(left.holds(rows, inner));
        assert!(right.len() >= product([inner, columns]) && sum.len() >= product([rows, columns]));
        let (most_rows, most_columns) = if S::MANY_REGISTERS { (12, 2 * LANES) } else { (6, LANES) };
        let mut column = 0;
        while column < columns {
            let width = most_columns.min(columns - column);
            let mut row = 0;
            while row < rows {
                let height = most_rows.min(rows - row);
                // SAFETY: the tile lies within the matrices, whose lengths were checked.
                unsafe {
                    let tile = Tile {
                        left: left.values.as_ptr().add(row * left.row_stride),
                        row_stride: left.row_stride,
                        inner_stride: left.column_stride,
                        right: right.as_ptr().add(column),
                        sum: sum.as_mut_ptr().add(row * columns + column),
                        inner,
                        columns,
                        last: (width - 1) % LANES + 1,
                    };
                    tile.multiply::<S>(height, width > LANES);
                }
                row += height;
            }
            column += width;
        }
    }
}

impl Tile {
    #[inline(always)]
    unsafe fn multiply<S: Vectors>(self, height: usize, is_wide: bool) {
        // SAFETY: the caller's tile lies within its matrices.
        unsafe {
            macro_rules! choose {
                ($($rows:literal)*) => {
                    match (height, is_wide) {
                        $(($rows, false) => self.fixed::<S, $rows, 1>(),
                        ($rows, true) => self.fixed::<S, $rows, 2>(),)*
                        _ => unreachable!("a tile has at most twelve rows"),
                    }
                };
            }
            choose!(1 2 3 4 5 6 7 8 9 10 11 12);
        }
    }

    #[inline(always)]
    unsafe fn fixed<S: Vectors, const ROWS: usize, const WIDTH: usize>(self) {
        let Tile { mut left, row_stride, inner_stride, mut right, sum, inner, columns, last } = self;
        // SAFETY: the caller's tile lies within its matrices.
        unsafe {
            let mut sums = [[S::splat(0.0); WIDTH]; ROWS];
            for row in 0..ROWS {
                for i in 0..WIDTH {
                    let from = sum.add(row * columns + i * LANES);
                    sums[row][i] = if i + 1 < WIDTH { S::load(from) } else { S::load_first(from, last) };
                }
            }
            for _ in 0..inner {
                let mut factors = [S::splat(0.0); WIDTH];
                for i in 0..WIDTH {
                    let from = right.add(i * LANES);
                    factors[i] = if i + 1 < WIDTH { S::load(from) } else { S::load_first(from, last) };
                }
                for row in 0..ROWS {
                    let factor = S::splat(*left.add(row * row_stride));
                    for i in 0..WIDTH {
                        sums[row][i] = S::mul_add(factor, factors[i], sums[row][i]);
                    }
                }
                left = left.wrapping_add(inner_stride);
                right = right.wrapping_add(columns);
            }
            for row in 0..ROWS {
                for i in 0..WIDTH {
                    let to = sum.add(row * columns + i * LANES);
                    if i + 1 < WIDTH {
                        S::store(sums[row][i], to);
                    } else {
                        S::store_first(sums[row][i], to, last);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::InstructionSet;

    /// Whole numbers make sums exact. Tests every size around the tiles' edges, both layouts and every instruction set.
    #[test]
    fn products_are_exact_for_all_sizes_and_layouts() {
        for rows in [1, 5, 11, 12, 13, 26] {
            for columns in [1, 2, 15, 16, 17, 31, 32, 33, 100] {
                for inner in [1, 2, 19] {
                    let left: Vec<f32> = (0..rows * inner).map(|i| ((i * 7) % 11) as f32 - 5.0).collect();
                    let right: Vec<f32> = (0..inner * columns).map(|i| ((i * 5) % 13) as f32 - 6.0).collect();
                    let start: Vec<f32> = (0..rows * columns).map(|i| (i % 3) as f32).collect();
                    let mut transposed = vec![0.0; rows * inner];
                    let mut exact = start.clone();
                    for (i, k) in (0..rows).flat_map(|i| (0..inner).map(move |k| (i, k))) {
                        transposed[k * rows + i] = left[i * inner + k];
                        for j in 0..columns {
                            exact[i * columns + j] += left[i * inner + k] * right[k * columns + j];
                        }
                    }
                    for set in InstructionSet::available() {
                        for left in [Matrix::rows(&left, inner), Matrix::rows(&transposed, rows).transposed()]
                        {
                            let mut sum = start.clone();
                            set.run(MatrixProduct {
                                rows,
                                inner,
                                columns,
                                left,
                                right: &right,
                                sum: &mut sum,
                            });
                            assert_eq!(sum, exact, "{rows} {inner} {columns} {set:?}");
                        }
                    }
                }
            }
        }
    }
}
