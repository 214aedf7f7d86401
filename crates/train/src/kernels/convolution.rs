//! Convolution: a filter that slides over images, sixteen records in parallel.

use crate::simd::{Kernel, LaneVector, Vectors};

/// The geometry of a square filter on an image.
///
/// Images are stored channel by channel, row by row, with one [`LaneVector`] for each pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Channels of the image.
    pub channels: usize,
    /// Rows of the image.
    pub height: usize,
    /// Columns of the stored image, including `padding` columns of zeros on both sides.
    pub stored_width: usize,
    /// Rows and columns of the filter.
    pub size: usize,
    /// Width of the border of zeros around the image. Rows of zeros are not stored.
    pub padding: usize,
}

impl Window {
    /// Rows of the result; [`Model::new`](crate::model::Model::new) refuses filters that do not fit.
    pub fn result_height(&self) -> usize {
        self.height + 2 * self.padding + 1 - self.size
    }

    /// Columns of the result.
    pub fn result_width(&self) -> usize {
        self.stored_width + 1 - self.size
    }

    /// Number of weights in each filter, without the bias.
    pub fn taps(&self) -> usize {
        product([self.channels, self.size, self.size])
    }

    /// Number of pixels of the stored image.
    pub fn pixels(&self) -> usize {
        product([self.channels, self.height, self.stored_width])
    }

    /// The filter rows that lie on the image when the filter starts at `row` of the result.
    #[inline(always)]
    pub fn filter_rows(&self, row: usize) -> std::ops::Range<usize> {
        self.padding.saturating_sub(row)..self.size.min(self.height + self.padding - row)
    }
}

/// result\[f\]\[y\]\[x\] = bias\[f\] + sum over taps (c, i, j) of weights\[c, i, j\]\[f\] * image\[c\]\[y + i - padding\]\[x + j\].
///
/// Each value is one chain of multiply-adds, in the order of the taps.
#[derive(Debug)]
pub struct Convolution<'a> {
    /// The geometry of filters and image.
    pub window: Window,
    /// Number of filters.
    pub filters: usize,
    /// One row of `filters` weights for each tap.
    pub weights: &'a [f32],
    /// One bias for each filter; `None` means zeros.
    pub biases: Option<&'a [f32]>,
    /// The image.
    pub image: &'a [LaneVector],
    /// The result.
    pub result: &'a mut [LaneVector],
}

/// A block of filters at several neighbouring places in one row of the result.
#[derive(Clone, Copy)]
struct Tile {
    window: Window,
    filters: usize,
    weights: *const f32,
    biases: *const f32,
    image: *const LaneVector,
    result: *mut LaneVector,
    row: usize,
    pixels_per_filter: usize,
}

impl Kernel for Convolution<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let Convolution { window, filters, weights, biases, image, result } = self;
        let (height, width) = (window.result_height(), window.result_width());
        assert!(image.len() >= window.pixels() && weights.len() >= product([window.taps(), filters]));
        assert!(result.len() >= product([filters, height, width]));
        assert!(biases.is_none_or(|biases| biases.len() >= filters));
        let mut filter = 0;
        while filter < filters {
            let block = block(filters - filter, if S::MANY_REGISTERS { 8 } else { 2 });
            let places = if S::MANY_REGISTERS { [0, 8, 8, 8, 6, 0, 4, 0, 3][block] } else { 3 };
            for row in 0..height {
                let mut column = 0;
                while column < width {
                    let count = places.min(width - column);
                    // SAFETY: the tile lies within image, weights and result, whose lengths were checked.
                    unsafe {
                        let tile = Tile {
                            window,
                            filters,
                            weights: weights.as_ptr().add(filter),
                            biases: biases.map_or(std::ptr::null(), |biases| biases.as_ptr().add(filter)),
                            image: image.as_ptr().add(column),
                            result: result.as_mut_ptr().add((filter * height + row) * width + column),
                            row,
                            pixels_per_filter: height * width,
                        };
                        tile.convolve::<S>(block, count);
                    }
                    column += count;
                }
            }
            filter += block;
        }
    }
}

/// Multiplies lengths. The checks before unchecked loads and stores rely on this product.
///
/// # Panics
/// If the product overflows.
#[inline(always)]
pub fn product<const N: usize>(lengths: [usize; N]) -> usize {
    lengths
        .into_iter()
        .fold(1, |product: usize, length| product.checked_mul(length).expect("lengths overflow"))
}

/// The largest supported block of at most `filters` and at most `most` filters.
#[inline(always)]
fn block(filters: usize, most: usize) -> usize {
    for block in [8, 6, 4, 3, 2] {
        if block <= filters && block <= most {
            return block;
        }
    }
    1
}

impl Tile {
    #[inline(always)]
    unsafe fn convolve<S: Vectors>(self, filters: usize, places: usize) {
        // SAFETY: the caller's tile lies within its slices.
        unsafe {
            macro_rules! choose {
                ($($filters:literal: $($places:literal)*;)*) => {
                    match (filters, places) {
                        $($(($filters, $places) => self.fixed::<S, $filters, $places>(),)*)*
                        _ => unreachable!("there is no such tile"),
                    }
                };
            }
            choose!(
                8: 1 2 3;
                6: 1 2 3 4;
                4: 1 2 3 4 5 6;
                3: 1 2 3 4 5 6 7 8;
                2: 1 2 3 4 5 6 7 8;
                1: 1 2 3 4 5 6 7 8;
            );
        }
    }

    #[inline(always)]
    unsafe fn fixed<S: Vectors, const FILTERS: usize, const PLACES: usize>(self) {
        let Window { channels, height, stored_width, size, padding } = self.window;
        // SAFETY: the caller's tile lies within its slices.
        unsafe {
            let mut sums = [[S::splat(0.0); PLACES]; FILTERS];
            if !self.biases.is_null() {
                for f in 0..FILTERS {
                    sums[f] = [S::splat(*self.biases.add(f)); PLACES];
                }
            }
            let filter_rows = self.window.filter_rows(self.row);
            for channel in 0..channels {
                let mut i = filter_rows.start;
                while i < filter_rows.end {
                    let mut pixels = self
                        .image
                        .add((channel * height + self.row + i - padding) * stored_width)
                        .cast::<f32>();
                    let mut weights = self.weights.add((channel * size + i) * size * self.filters);
                    for _ in 0..size {
                        let mut values = [S::splat(0.0); PLACES];
                        for p in 0..PLACES {
                            values[p] = S::load(pixels.add(16 * p));
                        }
                        for f in 0..FILTERS {
                            let weight = S::splat(*weights.add(f));
                            for p in 0..PLACES {
                                sums[f][p] = S::mul_add(weight, values[p], sums[f][p]);
                            }
                        }
                        pixels = pixels.add(16);
                        weights = weights.wrapping_add(self.filters);
                    }
                    i += 1;
                }
            }
            for f in 0..FILTERS {
                for p in 0..PLACES {
                    S::store(sums[f][p], self.result.add(f * self.pixels_per_filter + p).cast::<f32>());
                }
            }
        }
    }
}
