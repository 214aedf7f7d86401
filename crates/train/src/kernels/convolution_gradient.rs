//! The gradient of a convolution's weights, separate for each of sixteen records.

use super::convolution::{Window, product};
use super::rows::total;
use crate::simd::{Kernel, LANES, LaneVector, Vectors};

/// Computes each record's gradient of weights and biases, and adds its squares to `squares`.
///
/// gradients\[c, i, j\]\[f\] = sum over places (y, x) of image\[c\]\[y + i - padding\]\[x + j\] * deltas\[f\]\[y\]\[x\]. The row
/// after the last tap holds the gradients of the biases: the sums of the deltas.
///
/// A lane is a record, so per-record gradients cost no more than their sum would. The norm then costs one multiply-add per weight.
/// (Norms from Gram matrices would cost the square of the number of places.)
#[derive(Debug)]
pub struct ConvolutionGradient<'a> {
    /// The geometry of filters and image.
    pub window: Window,
    /// Number of filters.
    pub filters: usize,
    /// The image.
    pub image: &'a [LaneVector],
    /// The loss's derivatives with respect to the filters' results.
    pub deltas: &'a [LaneVector],
    /// One row of `filters` values for each tap, and a last row for the biases.
    pub gradients: &'a mut [LaneVector],
    /// Sum of squared gradient entries so far, for each record.
    pub squares: &'a mut LaneVector,
}

#[derive(Clone, Copy)]
struct Tile {
    window: Window,
    filters: usize,
    image: *const LaneVector,
    deltas: *const LaneVector,
    gradients: *mut LaneVector,
    filter_row: usize,
}

impl Kernel for ConvolutionGradient<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let ConvolutionGradient { window, filters, image, deltas, gradients, squares } = self;
        let places = product([window.result_height(), window.result_width()]);
        assert!(image.len() >= window.pixels() && deltas.len() >= product([filters, places]));
        assert!(gradients.len() == product([window.taps() + 1, filters]));
        let most_taps = if S::MANY_REGISTERS { 5 } else { 2 };
        let mut filter = 0;
        while filter < filters {
            let most_filters = match (S::MANY_REGISTERS, window.size) {
                (true, ..=3) => 8,
                (true, _) => 4,
                (false, _) => 2,
            };
            let block =
                [8, 4, 2, 1].into_iter().find(|&b| b <= most_filters && b <= filters - filter).unwrap_or(1);
            for channel in 0..window.channels {
                for filter_row in 0..window.size {
                    let mut tap = 0;
                    while tap < window.size {
                        let taps = most_taps.min(window.size - tap);
                        let row = (channel * window.size + filter_row) * window.size + tap;
                        // SAFETY: the tile lies within its slices, whose lengths were checked.
                        unsafe {
                            let tile = Tile {
                                window,
                                filters,
                                image: image
                                    .as_ptr()
                                    .add(channel * window.height * window.stored_width + tap),
                                deltas: deltas.as_ptr().add(filter * places),
                                gradients: gradients.as_mut_ptr().add(row * filters + filter),
                                filter_row,
                            };
                            tile.correlate::<S>(taps, block);
                        }
                        tap += taps;
                    }
                }
            }
            filter += block;
        }
        let biases = &mut gradients[window.taps() * filters..];
        // SAFETY: the caller has the instruction set, and groups hold sixteen floats.
        unsafe {
            for (bias, deltas) in biases.iter_mut().zip(deltas.chunks_exact(places)) {
                let mut sum = S::splat(0.0);
                for delta in deltas {
                    sum = S::add(sum, S::load(delta.0.as_ptr()));
                }
                S::store(sum, bias.0.as_mut_ptr());
            }
            let mut sums = S::load(squares.0.as_ptr());
            for gradient in &*gradients {
                let gradient = S::load(gradient.0.as_ptr());
                sums = S::mul_add(gradient, gradient, sums);
            }
            S::store(sums, squares.0.as_mut_ptr());
        }
    }
}

impl Tile {
    #[inline(always)]
    unsafe fn correlate<S: Vectors>(self, taps: usize, filters: usize) {
        // SAFETY: the caller's tile lies within its slices.
        unsafe {
            macro_rules! choose {
                ($($taps:literal: $($filters:literal)*;)*) => {
                    match (taps, filters) {
                        $($(($taps, $filters) => self.fixed::<S, $taps, $filters>(),)*)*
                        _ => unreachable!("there is no such tile"),
                    }
                };
            }
            choose!(1: 1 2 4 8; 2: 1 2 4 8; 3: 1 2 4 8; 4: 1 2 4; 5: 1 2 4;);
        }
    }

    #[inline(always)]
    unsafe fn fixed<S: Vectors, const TAPS: usize, const FILTERS: usize>(self) {
        let Window { height, stored_width, padding, .. } = self.window;
        let (rows, columns) = (self.window.result_height(), self.window.result_width());
        let i = self.filter_row;
        // SAFETY: the caller's tile lies within its slices. The loop visits only rows for which row + i - padding is a row of the
        // image.
        unsafe {
            let mut sums = [[S::splat(0.0); FILTERS]; TAPS];
            let mut row = padding.saturating_sub(i);
            let end = rows.min((height + padding).saturating_sub(i));
            while row < end {
                let mut pixels = self.image.add((row + i - padding) * stored_width).cast::<f32>();
                let mut deltas = self.deltas.add(row * columns).cast::<f32>();
                for _ in 0..columns {
                    let mut values = [S::splat(0.0); FILTERS];
                    for f in 0..FILTERS {
                        values[f] = S::load(deltas.add(f * rows * columns * LANES));
                    }
                    for t in 0..TAPS {
                        let pixel = S::load(pixels.add(t * LANES));
                        for f in 0..FILTERS {
                            sums[t][f] = S::mul_add(pixel, values[f], sums[t][f]);
                        }
                    }
                    pixels = pixels.wrapping_add(LANES);
                    deltas = deltas.wrapping_add(LANES);
                }
                row += 1;
            }
            for t in 0..TAPS {
                for f in 0..FILTERS {
                    S::store(sums[t][f], self.gradients.add(t * self.filters + f).cast::<f32>());
                }
            }
        }
    }
}

/// Adds clipped gradients to each lane's sum, or the lanes' sums to the total.
#[derive(Debug)]
pub enum ClippedSum<'a> {
    /// lanes += factor * gradient.
    Insert {
        /// Each record's factor.
        factors: LaneVector,
        /// Each record's gradient.
        gradients: &'a [LaneVector],
        /// The sums so far.
        lanes: &'a mut [LaneVector],
    },
    /// sum += all lanes; then the lanes become zero.
    Finish {
        /// The sums so far.
        lanes: &'a mut [LaneVector],
        /// The sum over records.
        sum: &'a mut [f32],
    },
}

impl Kernel for ClippedSum<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        match self {
            ClippedSum::Insert { factors, gradients, lanes } => {
                // SAFETY: the caller has the instruction set, and groups hold sixteen floats.
                unsafe {
                    let factors = S::load(factors.0.as_ptr());
                    for (lane, gradient) in lanes.iter_mut().zip(gradients) {
                        let (sum, gradient) = (S::load(lane.0.as_ptr()), S::load(gradient.0.as_ptr()));
                        S::store(S::mul_add(gradient, factors, sum), lane.0.as_mut_ptr());
                    }
                }
            }
            ClippedSum::Finish { lanes, sum } => {
                for (sum, lane) in sum.iter_mut().zip(lanes) {
                    *sum += total(lane.0);
                    *lane = LaneVector::ZERO;
                }
            }
        }
    }
}
