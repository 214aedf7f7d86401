//! Turns two random words into two standard Gaussian numbers, as graphics processors do it.
//!
//! The numbers are exact far into the tails.
//!
//! # Why these directions?
//! They suit graphics processors. An angle of 22 bits within a quarter turn is exact in f32. So short polynomials
//! replace the device's own sine and cosine, whose errors of 5e-7 are too large. A sum over both numbers does not
//! depend on the exchange of cosine and sine.

use std::f64::consts::FRAC_PI_2;

/// Radius words below this limit (one pair in 65,536) use 64 more random bits.
pub const FIRST_BODY_RADIUS: u32 = 1 << 16;

/// The Gaussian pair of a random radius and a random direction (Box and Muller, 1958).
///
/// With radius word m, the radius is sqrt(-2 ln p) at p = (m + 1/2) / 2^32. If m is below [`FIRST_BODY_RADIUS`], `more`
/// supplies 64 further bits w and p = (m + (w + 1/2) / 2^64) / 2^32. So radii are resolved down to p = 2^-97, beyond
/// eleven standard deviations.
///
/// Bits 1 to 22 of the angle word form k. The angle is t = (k + 1/2) / 2^22 - 1/2 quarter turns, which a float holds
/// exactly. Bit 31 changes the cosine's sign and bit 30 exchanges cosine and sine. So four arcs make up the circle.
/// Directions are equally spaced and symmetric under all reflections: no sign and no coordinate is preferred.
///
/// The error of the law is the spacing of that grid. Along the radius it is at most 2e-5 in z (at 4.7, next to the
/// tail, and for radii below 2e-5). Across the radius it is 4e-7 times the radius.
pub fn gaussian_pair(radius: u32, angle: u32, more: impl FnOnce() -> u64) -> [f64; 2] {
    let fraction = if radius < FIRST_BODY_RADIUS { (more() as f64 + 0.5) * 2.0_f64.powi(-64) } else { 0.5 };
    let p = (f64::from(radius) + fraction) * 2.0_f64.powi(-32);
    let length = (-2.0 * libm::log(p)).sqrt();
    let quarter_turns = (f64::from(angle >> 1 & 0x3f_ffff) + 0.5) * 2.0_f64.powi(-22) - 0.5;
    let (cosine, sine) = (libm::cos(FRAC_PI_2 * quarter_turns), libm::sin(FRAC_PI_2 * quarter_turns));
    let cosine = if angle >> 31 == 1 { -cosine } else { cosine };
    let pair = [length * cosine, length * sine];
    if angle >> 30 & 1 == 1 { [pair[1], pair[0]] } else { pair }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, Setting, Stream, World, normal};

    /// The angle word of the direction along the first axis, to 2e-7 of a quarter turn.
    const AHEAD: u32 = 1 << 22;

    #[test]
    fn body_and_tail_meet_and_the_tail_reaches_beyond_eleven_standard_deviations() {
        let length = |radius, more| gaussian_pair(radius, AHEAD, || more)[0];
        let [last_of_tail, first_of_body] = [(FIRST_BODY_RADIUS - 1, u64::MAX), (FIRST_BODY_RADIUS, 0)]
            .map(|(radius, more)| length(radius, more));
        assert!(last_of_tail > first_of_body && last_of_tail - first_of_body < 2e-5);
        assert!(length(0, 0) > 11.5);
        // P(radius > r) = e^(-r^2/2), checked through the inverse.
        let r = length(7, 1 << 63);
        assert!((libm::exp(-0.5 * r * r) / (7.5 * 2.0_f64.powi(-32)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn directions_go_round_the_circle() {
        let unit = |angle: u32| {
            let [x, y] = gaussian_pair(1 << 31, angle, || unreachable!("the body needs no more bits"));
            (x / x.hypot(y), y / x.hypot(y))
        };
        // The four arcs meet at the diagonals, and their middles lie on the axes.
        let diagonal = 0.5_f64.sqrt();
        for (bits, middle) in
            [(0, (1.0, 0.0)), (1 << 31, (-1.0, 0.0)), (1 << 30, (0.0, 1.0)), (3 << 30, (0.0, -1.0))]
        {
            let (x, y) = unit(bits | AHEAD);
            assert!((x - middle.0).abs() < 1e-6 && (y - middle.1).abs() < 1e-6, "{bits}: {x} {y}");
            for end in [0, 0x7f_ffff] {
                let (x, y) = unit(bits | end);
                assert!((x.abs() - diagonal).abs() < 1e-6 && (y.abs() - diagonal).abs() < 1e-6);
            }
        }
    }

    /// Training noise is drawn in the same way, at its own counters. A block gives four numbers, the first two from its
    /// first two words.
    #[test]
    fn training_noise_is_drawn_in_pairs() {
        let stream = Stream::philox(&Setting::default().hash());
        for index in [0, 1, 6, 7, 4_000_000_001, (1 << 40) + 3] {
            let counter = Stream::long_counter(Purpose::TrainingNoise, World::In, 9, index / 4);
            let words = stream.block(counter) >> (64 * (index / 2 % 2));
            let more = || stream.training_tail(World::In, 9, index / 2);
            let pair = gaussian_pair(words as u32, (words >> 32) as u32, more);
            assert_eq!(stream.training_gaussian(World::In, 9, index), pair[(index % 2) as usize]);
        }
    }

    /// Moments, products of neighbours and tail counts of 2^21 draws. Each check is a normal deviate with a limit of
    /// 5.5. The false-alarm rate of all checks together is below 1e-6.
    #[test]
    fn draws_have_the_moments_and_tails_of_the_law() {
        let stream = Stream::philox(&Setting::default().hash());
        let draws = 1_u64 << 21;
        let mut power_sums = [0.0; 4];
        let mut neighbours = 0.0;
        let limits = [1.0, 2.0, 3.0, 4.0];
        let mut beyond = [[0_u32; 4]; 2];
        let mut last = 0.0;
        for i in 0..draws {
            let z = stream.gaussian(World::Out, i / 64, (i % 64) as u32);
            power_sums.iter_mut().zip(1..).for_each(|(sum, k)| *sum += z.powi(k));
            neighbours += z * last;
            last = z;
            for (k, &limit) in limits.iter().enumerate() {
                beyond[0][k] += u32::from(z > limit);
                beyond[1][k] += u32::from(z < -limit);
            }
        }
        let expected = [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0), (0.0, 1.0)];
        for (sum, (mean, variance)) in power_sums.into_iter().chain([neighbours]).zip(expected) {
            let deviate: f64 = (sum - mean * draws as f64) / f64::sqrt(variance * draws as f64);
            assert!(deviate.abs() < 5.5, "{deviate}");
        }
        for side in beyond {
            for (count, limit) in side.into_iter().zip(limits) {
                let expected = draws as f64 * normal::cdf(-limit);
                let deviate = (f64::from(count) - expected) / expected.sqrt();
                assert!(deviate.abs() < 5.5, "{count} draws beyond {limit}, expected {expected}");
            }
        }
    }
}
