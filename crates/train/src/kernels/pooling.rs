//! Pooling of squares that do not overlap, sixteen records side by side.

use crate::simd::{Group, Kernel, LANES, Vectors};

/// One pooled value for each square.
#[derive(Debug)]
pub struct Pool<'a> {
    /// Whether the largest value is taken, not the mean.
    pub largest: bool,
    /// Rows and columns of a square.
    pub size: usize,
    /// Rows and columns of the image.
    pub sides: (usize, usize),
    /// The image, channel by channel.
    pub image: &'a [Group],
    /// The pooled image.
    pub pooled: &'a mut [Group],
}

/// What the image must change by, from what the pooled image must change by: all of a square alike for means, its first
/// largest value alone otherwise.
#[derive(Debug)]
pub struct Unpool<'a> {
    /// As in [`Pool`].
    pub largest: bool,
    /// As in [`Pool`].
    pub size: usize,
    /// As in [`Pool`].
    pub sides: (usize, usize),
    /// The image, channel by channel.
    pub image: &'a [Group],
    /// The deltas of the pooled image.
    pub deltas: &'a [Group],
    /// The deltas of the image.
    pub before: &'a mut [Group],
}

/// Calls `visit` with each pooled place and the first pixel of its square.
#[inline(always)]
fn squares(size: usize, (height, width): (usize, usize), count: usize, mut visit: impl FnMut(usize, usize)) {
    let (rows, columns) = (height / size, width / size);
    for place in 0..count {
        let (channel, row, column) = (place / (rows * columns), place / columns % rows, place % columns);
        visit(place, (channel * height + row * size) * width + column * size);
    }
}

impl Kernel for Pool<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let Pool { largest, size, sides, image, pooled } = self;
        let share = 1.0 / (size * size) as f32;
        squares(size, sides, pooled.len(), |place, first| {
            let mut value = if largest { image[first].0 } else { [0.0; LANES] };
            for row in 0..size {
                for pixel in &image[first + row * sides.1..][..size] {
                    for i in 0..LANES {
                        let x = pixel.0[i];
                        value[i] =
                            if largest { if x > value[i] { x } else { value[i] } } else { value[i] + x };
                    }
                }
            }
            if !largest {
                for i in 0..LANES {
                    value[i] *= share;
                }
            }
            pooled[place] = Group(value);
        });
    }
}

impl Kernel for Unpool<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let Unpool { largest, size, sides, image, deltas, before } = self;
        let share = 1.0 / (size * size) as f32;
        // Rows and columns that fill no square keep no delta.
        before.fill(Group::ZERO);
        squares(size, sides, deltas.len(), |place, first| {
            let delta = deltas[place].0;
            if !largest {
                let mut part = delta;
                for i in 0..LANES {
                    part[i] *= share;
                }
                for row in 0..size {
                    before[first + row * sides.1..][..size].fill(Group(part));
                }
                return;
            }
            let mut best = image[first].0;
            let mut at = [0_u32; LANES];
            for step in 1..size * size {
                let pixel = image[first + step / size * sides.1 + step % size].0;
                for i in 0..LANES {
                    let is_larger = pixel[i] > best[i];
                    best[i] = if is_larger { pixel[i] } else { best[i] };
                    at[i] = if is_larger { step as u32 } else { at[i] };
                }
            }
            for step in 0..size * size {
                let to = &mut before[first + step / size * sides.1 + step % size].0;
                for i in 0..LANES {
                    to[i] = if at[i] == step as u32 { delta[i] } else { 0.0 };
                }
            }
        });
    }
}
