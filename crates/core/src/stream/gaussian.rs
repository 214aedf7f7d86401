//! Turns random bits into a standard Gaussian number, exact far into the tails.

use crate::normal;

/// Magnitudes below this limit (one draw in 65,536) use 64 more random bits.
pub const FIRST_BODY_MAGNITUDE: u32 = 1 << 15;

/// The sign bit and the 31-bit magnitude of a random word.
///
/// The sign is bit 4 and not the top bit. At bit 4 the SIMD engines can use it in a table index without shifting.
pub fn sign_and_magnitude(word: u32) -> (bool, u32) {
    (word & 0x10 != 0, word >> 5 << 4 | word & 0xf)
}

/// The standard Gaussian number of a random word.
///
/// The word gives a sign and a magnitude. A small magnitude means a number far out in the tail.
///
/// With magnitude m, the number is the quantile at probability p = (m + 1/2) / 2^32 on its side. If m is below
/// [`FIRST_BODY_MAGNITUDE`], `more` supplies 64 further bits w and p = (m + (w + 1/2) / 2^64) / 2^32. So the law is
/// resolved down to p = 2^-97, beyond eleven standard deviations.
///
/// The error of the law is the spacing of the quantile grid. In the body it is 2^-32 in probability; the largest step
/// in z is 1e-5, at 4 standard deviations. In the tail it is 2^-96.
pub fn gaussian(word: u32, more: impl FnOnce() -> u64) -> f64 {
    let (sign, magnitude) = sign_and_magnitude(word);
    let fraction =
        if magnitude < FIRST_BODY_MAGNITUDE { (more() as f64 + 0.5) * 2.0_f64.powi(-64) } else { 0.5 };
    let z = normal::lower_quantile((f64::from(magnitude) + fraction) * 2.0_f64.powi(-32));
    if sign { -z } else { z }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp)]
    use super::*;
    use crate::{Setting, Stream, World};

    #[test]
    fn the_tail_is_the_exact_quantile_beyond_ten_standard_deviations() {
        // p = (w + 1/2) 2^-96 for magnitude 0. Compare ln p with ln Phi(z), which uses a function other than the
        // quantile.
        for shift in [0, 10, 20, 30, 40, 50, 60, 63] {
            let w = (1_u64 << shift) + (1 << shift) / 3;
            let z = gaussian(0x10, || w);
            let log_p = ((w as f64) + 0.5).ln() - 96.0 * 2.0_f64.ln();
            assert!((normal::log_cdf(-z) - log_p).abs() < 1e-12 * log_p.abs(), "{z}");
            assert_eq!(gaussian(0, || w), -z);
        }
        assert!(gaussian(0, || 0) < -11.0);
    }

    #[test]
    fn body_and_tail_meet() {
        let last_of_tail = gaussian((FIRST_BODY_MAGNITUDE * 2 - 32) | 0xf, || u64::MAX);
        let first_of_body =
            gaussian(FIRST_BODY_MAGNITUDE * 2, || unreachable!("the body needs no more bits"));
        assert!(last_of_tail < first_of_body && first_of_body - last_of_tail < 1e-5);
    }

    /// Moments and tail counts of 2^22 draws. Each check is a normal deviate with a limit of 5.2, or a Poisson tail.
    /// The false-alarm rate of all checks together is below 1e-6.
    #[test]
    fn draws_have_the_moments_and_tails_of_the_law() {
        let stream = Stream::new(&Setting::default().hash());
        let draws = 1_u64 << 22;
        let mut power_sums = [0.0; 4];
        let limits = [1.0, 2.0, 3.0, 4.0];
        let mut beyond = [[0_u32; 4]; 2];
        for i in 0..draws {
            let z = stream.gaussian(World::In, i / 64, (i % 64) as u32);
            for (k, sum) in power_sums.iter_mut().enumerate() {
                *sum += z.powi(k as i32 + 1);
            }
            for (k, &limit) in limits.iter().enumerate() {
                beyond[0][k] += u32::from(z > limit);
                beyond[1][k] += u32::from(z < -limit);
            }
        }
        // (mean, variance) of z, z^2, z^3, z^4
        for (sum, (mean, variance)) in
            power_sums.into_iter().zip([(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)])
        {
            let deviate = (sum - mean * draws as f64) / f64::sqrt(variance * draws as f64);
            assert!(f64::abs(deviate) < 5.2, "{deviate}");
        }
        for side in beyond {
            for (count, limit) in side.into_iter().zip(limits) {
                let expected = draws as f64 * normal::cdf(-limit);
                let deviate = (f64::from(count) - expected) / expected.sqrt();
                assert!(deviate.abs() < 5.2, "{count} draws beyond {limit}, expected {expected}");
            }
        }
    }
}
