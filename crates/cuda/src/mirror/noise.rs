//! Mirror of `generator.cu` and `gaussian.cu`.

use misdeal_core::{FIRST_BODY_RADIUS, Purpose, Stream, World, gaussian_pair};
use std::f32::consts::FRAC_PI_2;

/// A trial in a world.
#[derive(Debug, Clone, Copy)]
pub struct Trial<'a> {
    pub stream: &'a Stream,
    pub world: World,
    pub index: u64,
}

impl Trial<'_> {
    /// The four words of noise block `index`.
    pub fn block(self, index: u32) -> [u32; 4] {
        let bits = self.stream.block(Stream::counter(Purpose::Noise, self.world, self.index, index));
        std::array::from_fn(|i| (bits >> (32 * i)) as u32)
    }

    /// 64 random bits that choose a position.
    pub fn position(self, index: u32) -> u64 {
        self.stream.uniform(Purpose::Position, self.world, self.index, index)
    }

    /// The two Gaussian numbers of pair `pair`, in f64.
    pub fn exact_pair(self, pair: u32, radius: u32, angle: u32) -> [f64; 2] {
        gaussian_pair(radius, angle, || self.stream.uniform(Purpose::Tail, self.world, self.index, pair))
    }
}

/// Whether both pairs of a block are outside the tail.
pub fn is_fast(words: [u32; 4]) -> bool {
    words[0].min(words[2]) >= FIRST_BODY_RADIUS
}

/// 2^(f z - offset) for both numbers of a pair outside the tail, in any order. `scale` is 2 ln(2) f^2.
pub fn fast_exponentials(radius: u32, angle: u32, scale: f32, offset: f32) -> [f32; 2] {
    let p = (radius as f32).mul_add(2.0_f32.powi(-32), 2.0_f32.powi(-33));
    let length = (scale * libm::log2f(p)).abs().sqrt();
    let signed_length = f32::from_bits(length.to_bits() ^ (angle & 0x8000_0000));
    let t = f32::from_bits((angle & 0x7f_fffe) | 0x3f80_0001) - 1.5;
    let x = t * t;
    let polynomial = |coefficients: &[f32]| coefficients.iter().fold(0.0_f32, |sum, &c| x.mul_add(sum, c));
    let cosine = polynomial(&[9.06741899e-4, -2.08615291e-2, 2.53669410e-1, -1.23370055, 1.0]);
    let sine = polynomial(&[-4.60216310e-3, 7.96802229e-2, -6.45963478e-1, FRAC_PI_2]);
    [signed_length.mul_add(cosine, -offset), (length * t).mul_add(sine, -offset)].map(libm::exp2f)
}
