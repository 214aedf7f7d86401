//! Renyi accounting for Poisson sampling at integer orders, for comparison.
//!
//! ```text
//! rdp(a) = ln( sum_k C(a, k) (1-q)^(a-k) q^k e^(k (k-1) / (2 s^2)) ) / (a - 1)
//! epsilon = steps rdp(a) + ln((a-1)/a) - (ln delta + ln a) / (a - 1), the least over a
//! ```
//!
//! Sources: Mironov, Talwar and Zhang (2019), equation 3, and Canonne, Kamath and Steinke (2020), proposition 12.

use libm::{exp, lgamma, log, log1p};
use std::ops::RangeInclusive;

/// The highest Renyi order, as in other accountants.
const HIGHEST_ORDER: u32 = 512;

/// The Renyi divergence of one step at the integer order `order >= 2`.
pub fn renyi_divergence(noise_multiplier: f64, sampling_probability: f64, order: u32) -> f64 {
    let (a, s) = (f64::from(order), noise_multiplier);
    if sampling_probability >= 1.0 {
        return a / (2.0 * s * s);
    }
    let (log_q, log_rest) = (log(sampling_probability), log1p(-sampling_probability));
    let term = |k: f64| {
        let choose = lgamma(a + 1.0) - lgamma(k + 1.0) - lgamma(a - k + 1.0);
        choose + k * log_q + (a - k) * log_rest + k * (k - 1.0) / (2.0 * s * s)
    };
    let terms = || (0..=order).map(|k| term(f64::from(k)));
    let largest = terms().fold(f64::NEG_INFINITY, f64::max);
    (largest + log(terms().map(|term| exp(term - largest)).sum())) / (a - 1.0)
}

/// An upper bound on epsilon after `steps` steps.
///
/// It is never too small (beyond rounding), and looser than [`crate::poisson::epsilon`].
pub fn epsilon_upper_bound(noise_multiplier: f64, sampling_probability: f64, steps: u64, delta: f64) -> f64 {
    let divergence = |order| steps as f64 * renyi_divergence(noise_multiplier, sampling_probability, order);
    epsilon_of_divergences(2..=HIGHEST_ORDER, divergence, delta)
}

/// An upper bound as [`epsilon_upper_bound`], with a margin for rounding: never too small.
pub(crate) fn safe_epsilon_upper_bound(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
) -> f64 {
    let divergence = |order: u32| {
        let found = renyi_divergence(noise_multiplier, sampling_probability, order);
        steps as f64 * (found * (1.0 + 1e-12) + 1e-11 / (f64::from(order) - 1.0))
    };
    epsilon_of_divergences(2..=HIGHEST_ORDER, divergence, delta)
}

/// The smallest epsilon at `delta` over several Renyi orders of at least 2.
pub(crate) fn epsilon_of_divergences(
    orders: RangeInclusive<u32>,
    divergence: impl Fn(u32) -> f64,
    delta: f64,
) -> f64 {
    let epsilon = |order: u32| {
        let a = f64::from(order);
        divergence(order) + log1p(-1.0 / a) - (log(delta) + log(a)) / (a - 1.0)
    };
    orders.map(epsilon).fold(f64::INFINITY, f64::min).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poisson;

    /// Reference values from dp-accounting 0.6: `RdpAccountant` with orders 2 to 512, epsilon at delta 1e-5. The
    /// columns are noise, sampling probability, steps and epsilon.
    #[test]
    fn agrees_with_dp_accounting() {
        let cases = [
            (1.0, 0.01, 100, 1.2248457796361678),
            (0.7, 0.001, 10000, 2.034538685936624),
            (2.0, 0.1, 500, 6.089503111076504),
            (4.0, 1.0, 20, 5.377728336819822),
        ];
        for (noise, q, steps, expected) in cases {
            let ours = epsilon_upper_bound(noise, q, steps, 1e-5);
            assert!((ours / expected - 1.0).abs() < 1e-9, "{noise} {q} {steps}: {ours} {expected}");
            assert!(ours > poisson::epsilon(noise, q, steps, 1e-5).unwrap().epsilon_upper_bound);
        }
    }
}
