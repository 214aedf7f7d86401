//! From two random words to two standard Gaussian numbers, exact far into the tails: the way of graphics processors.

use std::f64::consts::TAU;

/// Radius words below this one (a pair in 65,536) take 64 more random bits.
pub const FIRST_BODY_RADIUS: u32 = 1 << 16;

/// The bits of an angle: what a float between one and two has behind its point.
const ANGLE_BITS: u32 = 23;

/// The Gaussian pair of a random radius and a random angle (Box and Muller, 1958).
///
/// With radius word m, the radius is sqrt(-2 ln p) at p = (m + 1/2) / 2^32. Where m is below [`FIRST_BODY_RADIUS`], `more`
/// supplies 64 further bits w and p = (m + (w + 1/2) / 2^64) / 2^32, so that radii are resolved to p = 2^-97, beyond eleven
/// standard deviations. The angle is k / 2^23 - 1/2 turns, k the leading bits of its word: equally spaced angles are
/// symmetric under all reflections, so that no sign and no coordinate is preferred.
///
/// The law's error is the spacing of that grid: at most 2e-5 in z along the radius (at 4.7, next to the tail, and where the
/// radius is below 2e-5), 7.5e-7 times the radius across it.
pub fn gaussian_pair(radius: u32, angle: u32, more: impl FnOnce() -> u64) -> [f64; 2] {
    let fraction = if radius < FIRST_BODY_RADIUS { (more() as f64 + 0.5) * 2.0_f64.powi(-64) } else { 0.5 };
    let p = (f64::from(radius) + fraction) * 2.0_f64.powi(-32);
    let length = (-2.0 * libm::log(p)).sqrt();
    let turns = f64::from(angle >> (32 - ANGLE_BITS)) * 2.0_f64.powi(-(ANGLE_BITS as i32)) - 0.5;
    [length * libm::cos(TAU * turns), length * libm::sin(TAU * turns)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Setting, Stream, World, normal};

    #[test]
    fn body_and_tail_meet_and_the_tail_reaches_beyond_eleven_standard_deviations() {
        let length = |radius, more| gaussian_pair(radius, 1 << 31, || more)[0];
        let [last_of_tail, first_of_body] = [(FIRST_BODY_RADIUS - 1, u64::MAX), (FIRST_BODY_RADIUS, 0)]
            .map(|(radius, more)| length(radius, more));
        assert!(last_of_tail > first_of_body && last_of_tail - first_of_body < 2e-5);
        assert!(length(0, 0) > 11.5);
        // P(radius > r) = e^(-r^2/2), through the inverse.
        let r = length(7, 1 << 63);
        assert!((libm::exp(-0.5 * r * r) / (7.5 * 2.0_f64.powi(-32)) - 1.0).abs() < 1e-12);
    }

    /// Moments, products of neighbours and tail counts of 2^21 draws. Each check is a normal deviate with a limit of 5.5:
    /// false-alarm rate below 1e-6 in all.
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
