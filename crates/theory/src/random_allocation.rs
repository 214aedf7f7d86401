//! Renyi accounting for balls-in-bins, for comparison. The literature calls this scheme random allocation.
//!
//! Let u_t = e^((y_t - 1/2)/s^2). Without the target its k-th moment is m_k = e^(k (k-1)/(2 s^2)). The pair's ratio of
//! densities is the mean of the u_t. At an integer order a,
//!
//! ```text
//! target present:  rdp(a) = ln( a! T^-a [x^a] (sum_k m_k x^k / k!)^T ) / (a - 1),          exactly
//! zeroed out:      rdp(a) <= (1 + (a - 1)/T) / (2 s^2),    since a mean is at least the geometric mean
//! ```
//!
//! The divergences of epochs add up. Source: Feldman and Shenfeld (2025), "Privacy amplification by random allocation".

use crate::rdp::epsilon_of_divergences;
use libm::{exp, lgamma, log, log1p};

/// The highest Renyi order. The best order is usually far below it.
const HIGHEST_ORDER: u32 = 256;

/// An upper bound on the epsilon of balls-in-bins after `epochs` epochs, for both directions.
///
/// It is never too small (beyond rounding), and looser than the exact pair
/// ([`ShiftPair::balls_in_bins`](crate::pairs::ShiftPair::balls_in_bins)).
///
/// ```
/// use misdeal_theory::pairs::{ShiftPair, Target, interval};
/// use misdeal_theory::random_allocation;
/// let exact = interval(&ShiftPair::balls_in_bins(1.0, 100)?, Target { epochs: 1, delta: 1e-5 })?;
/// assert!(random_allocation::epsilon_upper_bound(1.0, 100, 1, 1e-5) > exact.epsilon_upper_bound);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
pub fn epsilon_upper_bound(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64, delta: f64) -> f64 {
    let (variance, batches) = (noise_multiplier * noise_multiplier, steps_per_epoch as f64);
    let log_moments = log_moments(variance, steps_per_epoch);
    let present = |order: u32| log_moments[order as usize] / (f64::from(order) - 1.0);
    let zeroed_out = |order: u32| (1.0 + (f64::from(order) - 1.0) / batches) / (2.0 * variance);
    let epsilon = |divergence: &dyn Fn(u32) -> f64| {
        epsilon_of_divergences(2..=HIGHEST_ORDER, |order| epochs as f64 * divergence(order), delta)
    };
    epsilon(&present).max(epsilon(&zeroed_out))
}

/// ln E (mean of the u_t)^a without the target, for all orders a up to the highest.
///
/// The code raises the polynomial to the power T by squaring, in logarithms. All coefficients are positive, so nothing
/// cancels.
fn log_moments(variance: f64, batches: u64) -> Vec<f64> {
    let orders = || (0..=HIGHEST_ORDER).map(f64::from);
    let one: Vec<f64> = orders().map(|k| k * (k - 1.0) / (2.0 * variance) - lgamma(k + 1.0)).collect();
    let mut power: Vec<f64> = orders().map(|k| if k > 0.0 { f64::NEG_INFINITY } else { 0.0 }).collect();
    let (mut square, mut rest) = (one, batches);
    while rest > 0 {
        if rest & 1 == 1 {
            power = product(&power, &square);
        }
        rest >>= 1;
        if rest > 0 {
            square = product(&square, &square);
        }
    }
    power
        .iter()
        .zip(orders())
        .map(|(log_power, a)| log_power + lgamma(a + 1.0) - a * log(batches as f64))
        .collect()
}

/// The product of two power series, given by the logarithms of their coefficients.
fn product(left: &[f64], right: &[f64]) -> Vec<f64> {
    let coefficient = |order: usize| {
        let terms = || (0..=order).map(|k| left[k] + right[order - k]);
        let largest = terms().fold(f64::NEG_INFINITY, f64::max);
        if largest == f64::NEG_INFINITY {
            return largest;
        }
        // The largest term stays outside the logarithm, so a sum of one term is exact.
        largest + log1p(terms().map(|term| exp(term - largest)).sum::<f64>() - 1.0)
    };
    (0..left.len()).map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::{ShiftPair, Target, interval};

    /// Order 2 by hand: T (T-1) products of two different u's, and T squares.
    #[test]
    fn the_second_moment_is_known() {
        for (variance, batches) in [(1.0, 100_u64), (0.25, 7), (4.0, 1), (2.0, 100_000)] {
            let exact = log1p(libm::expm1(1.0 / variance) / batches as f64);
            let ours = log_moments(variance, batches)[2];
            assert!((ours - exact).abs() < 1e-9 * (1.0 + exact), "{variance} {batches}: {ours} {exact}");
        }
    }

    /// Order 3 by hand: C(T,3) 3! products of three different u's, 3 T (T-1) products of a square and another u, and T
    /// cubes.
    #[test]
    fn the_third_moment_is_known() {
        let (variance, batches) = (0.5_f64, 11.0_f64);
        let (two, three) = (exp(1.0 / variance), exp(3.0 / variance));
        let sum = batches * (batches - 1.0) * (batches - 2.0)
            + 3.0 * batches * (batches - 1.0) * two
            + batches * three;
        let ours = log_moments(variance, 11)[3];
        assert!((ours - log(sum / batches.powi(3))).abs() < 1e-12);
    }

    /// One batch is the Gaussian mechanism, whose divergence of order a is a / (2 s^2) in both directions.
    #[test]
    fn one_batch_is_gaussian() {
        let gaussian = epsilon_of_divergences(2..=HIGHEST_ORDER, |order| f64::from(order) / 2.0, 1e-5);
        assert!((epsilon_upper_bound(1.0, 1, 1, 1e-5) - gaussian).abs() < 1e-9);
    }

    #[test]
    fn never_below_the_exact_pair() {
        for (noise, batches, epochs, delta) in [
            (0.5, 10, 1, 1e-5),
            (1.0, 100, 1, 1e-5),
            (1.0, 20, 5, 1e-6),
            (2.0, 50, 1, 1e-3),
            (4.0, 5, 3, 1e-8),
        ] {
            let pair = ShiftPair::balls_in_bins(noise, batches).unwrap();
            let exact = interval(&pair, Target { epochs, delta }).unwrap();
            let ours = epsilon_upper_bound(noise, batches, epochs, delta);
            assert!(ours >= exact.epsilon_upper_bound, "{noise} {batches} {epochs}: {ours} {exact:?}");
        }
    }
}
