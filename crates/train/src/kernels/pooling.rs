//! Pooling over squares that do not overlap, sixteen records in parallel.

use crate::simd::{Kernel, LANES, LaneVector, Vectors};

/// Pools an image: one value for each square.
#[derive(Debug)]
pub struct Pooling<'a> {
    /// `true` for max pooling, `false` for mean pooling.
    pub largest: bool,
    /// Rows and columns of a square.
    pub size: usize,
    /// Rows and columns of the image.
    pub sides: (usize, usize),
    /// The image, channel by channel.
    pub image: &'a [LaneVector],
    /// The pooled image.
    pub pooled: &'a mut [LaneVector],
}

/// Computes the deltas of an image from those of the pooled image.
///
/// Mean pooling spreads a delta over its square. Max pooling gives it to the first of the largest values.
#[derive(Debug)]
pub struct PoolingGradient<'a> {
    /// As in [`Pooling`].
    pub largest: bool,
    /// As in [`Pooling`].
    pub size: usize,
    /// As in [`Pooling`].
    pub sides: (usize, usize),
    /// The image, channel by channel.
    pub image: &'a [LaneVector],
    /// The deltas of the pooled image.
    pub deltas: &'a [LaneVector],
    /// The deltas of the image.
    pub before: &'a mut [LaneVector],
}

/// Calls `visit` with each pooled place and the first pixel of its square.
#[inline(always)]
fn squares(size: usize, (height, width): (usize, usize), count: usize, mut visit: impl FnMut(usize, usize)) {
    let (rows, columns) = (height / size, width / size);
    let mut place = 0;
    for channel in 0..count / (rows * columns) {
        for row in 0..rows {
            for column in 0..columns {
                visit(place, (channel * height + row * size) * width + column * size);
                place += 1;
            }
        }
    }
}

impl Kernel for Pooling<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let Pooling { largest, size, sides, image, pooled } = self;
        let share = 1.0 / (size * size) as f32;
        squares(size, sides, pooled.len(), |place, first| {
            let pixels = |row: usize| &image[first + row * sides.1..][..size];
            if largest {
                let mut value = image[first];
                for pixel in (0..size).flat_map(pixels) {
                    for i in 0..LANES {
                        value.0[i] = if pixel.0[i] > value.0[i] { pixel.0[i] } else { value.0[i] };
                    }
                }
                pooled[place] = value;
                return;
            }
            // SAFETY: the caller has the instruction set, and groups hold sixteen floats.
            unsafe {
                let mut sum = S::splat(0.0);
                for row in 0..size {
                    for pixel in pixels(row) {
                        sum = S::add(sum, S::load(pixel.0.as_ptr()));
                    }
                }
                let mean = S::mul_add(sum, S::splat(share), S::splat(0.0));
                S::store(mean, pooled[place].0.as_mut_ptr());
            }
        });
    }
}

impl Kernel for PoolingGradient<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let PoolingGradient { largest, size, sides, image, deltas, before } = self;
        let share = 1.0 / (size * size) as f32;
        if !(sides.0.is_multiple_of(size) && sides.1.is_multiple_of(size)) {
            // Rows and columns outside all squares get zero.
            before.fill(LaneVector::ZERO);
        }
        squares(size, sides, deltas.len(), |place, first| {
            if largest {
                to_the_first_largest(size, sides.1, &image[first..], &deltas[place], &mut before[first..]);
                return;
            }
            // SAFETY: the caller has the instruction set, and groups hold sixteen floats.
            unsafe {
                let delta = S::load(deltas[place].0.as_ptr());
                let part = S::mul_add(delta, S::splat(share), S::splat(0.0));
                for row in 0..size {
                    for pixel in &mut before[first + row * sides.1..][..size] {
                        S::store(part, pixel.0.as_mut_ptr());
                    }
                }
            }
        });
    }
}

/// In each record's square, gives the delta to the first of the largest values and zero to the others.
#[inline(always)]
fn to_the_first_largest(
    size: usize,
    width: usize,
    image: &[LaneVector],
    delta: &LaneVector,
    before: &mut [LaneVector],
) {
    let mut best = image[0].0;
    let mut at = [0_u32; LANES];
    for step in 1..size * size {
        let pixel = &image[step / size * width + step % size].0;
        for i in 0..LANES {
            let is_larger = pixel[i] > best[i];
            best[i] = if is_larger { pixel[i] } else { best[i] };
            at[i] = if is_larger { step as u32 } else { at[i] };
        }
    }
    for step in 0..size * size {
        let to = &mut before[step / size * width + step % size].0;
        for i in 0..LANES {
            to[i] = if at[i] == step as u32 { delta.0[i] } else { 0.0 };
        }
    }
}
