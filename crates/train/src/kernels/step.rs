//! A step of gradient descent, and inner products.

use crate::simd::{Kernel, LANES, Vectors};

/// Adds noise to the sum of clipped gradients and updates the parameters.
#[derive(Debug)]
pub struct NoisyStep<'a> {
    /// The sum of clipped gradients; noise is added in place.
    pub sum: &'a mut [f32],
    /// Standard Gaussian random numbers.
    pub noise: &'a [f32],
    /// Standard deviation of the noise in the sum.
    pub scale: f32,
    /// Factor of the noisy sum that is subtracted from the parameters.
    pub rate: f32,
    /// The parameters.
    pub parameters: &'a mut [f32],
}

impl Kernel for NoisyStep<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        for ((sum, noise), parameter) in self.sum.iter_mut().zip(self.noise).zip(self.parameters) {
            *sum = noise.mul_add(self.scale, *sum);
            *parameter = (-self.rate).mul_add(*sum, *parameter);
        }
    }
}

/// The inner product, with products and sixteen partial sums in f64.
#[derive(Debug)]
pub struct Dot<'a> {
    /// The first factor.
    pub left: &'a [f32],
    /// The second factor, of the same length.
    pub right: &'a [f32],
    /// Their inner product.
    pub product: &'a mut f64,
}

impl Kernel for Dot<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let mut lanes = [0.0_f64; LANES];
        let (left, left_rest) = self.left.as_chunks::<LANES>();
        let (right, right_rest) = self.right.as_chunks::<LANES>();
        for (a, b) in left.iter().zip(right) {
            for i in 0..LANES {
                lanes[i] += f64::from(a[i]) * f64::from(b[i]);
            }
        }
        for ((lane, a), b) in lanes.iter_mut().zip(left_rest).zip(right_rest) {
            *lane += f64::from(*a) * f64::from(*b);
        }
        *self.product = lanes.iter().sum();
    }
}

/// Adds `multiple` times `values` to `sum`.
pub fn add_multiple(sum: &mut [f32], multiple: f32, values: &[f32]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += multiple * value;
    }
}
