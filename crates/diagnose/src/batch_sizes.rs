//! Tests whether batch sizes follow the law that a scheme gives them.

use crate::p_values::dispersion;
use libm::{exp, lgamma, log, log1p};

/// Fewest batches that a class of sizes is expected to have.
const FEWEST: f64 = 5.0;

/// Logarithm of the binomial probability of `size` successes in `n` trials.
pub fn log_binomial(n: f64, q: f64, size: f64) -> f64 {
    let out = if size < n { (n - size) * log1p(-q) } else { 0.0 };
    let chosen = if size > 0.0 { size * log(q) } else { 0.0 };
    lgamma(n + 1.0) - lgamma(size + 1.0) - lgamma(n - size + 1.0) + chosen + out
}

/// Logarithm of the probability of at least `size` successes.
pub fn log_binomial_tail(n: f64, q: f64, size: f64) -> f64 {
    let deviation = (n * q * (1.0 - q)).sqrt();
    if size <= n * q - 12.0 * deviation {
        return 0.0;
    }
    // Terms relative to the first, until they no longer matter.
    let (mut sum, mut term, mut at) = (0.0_f64, 1.0_f64, size);
    while at <= n && (term > 1e-18 * sum || at < n * q) {
        sum += term;
        term *= (n - at) / (at + 1.0) * q / (1.0 - q);
        at += 1.0;
    }
    (log_binomial(n, q, size) + log(sum)).min(0.0)
}

/// P-value of Pearson's test of `sizes` against the binomial law, in classes with at least five expected batches.
///
/// It finds spikes at a cap and leftovers that the variance does not show. The probability q was estimated from the same sizes, so
/// the test is conservative. Sizes from `cap` on are one class, if a cap is given. Returns 1 if there are too few batches for three
/// classes.
pub fn fit(sizes: &[f64], n: f64, q: f64, cap: Option<f64>) -> f64 {
    let batches = sizes.len() as f64;
    if batches < 3.0 * FEWEST || q <= 0.0 || q >= 1.0 {
        return 1.0;
    }
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let deviation = (n * q * (1.0 - q)).sqrt();
    let first = (n * q - 8.0 * deviation - 1.0).floor().max(0.0);
    let last = (n * q + 8.0 * deviation + 1.0).ceil().min(cap.map_or(n, |cap| cap - 1.0));
    // Wide laws have more sizes than classes that can be told apart.
    let stride = (deviation / 8.0).floor().max(1.0);
    let (mut expected, mut observed) = (Vec::new(), Vec::new());
    let (mut mass, mut total, mut below) = (0.0, 0.0, 0_usize);
    let mut size = first;
    while size <= last {
        let end = (size + stride).min(last + 1.0);
        let mut at = size;
        while at < end {
            mass += exp(log_binomial(n, q, at));
            at += 1.0;
        }
        if mass * batches >= FEWEST
            && (end == cap.unwrap_or(-1.0) || (1.0 - total - mass) * batches >= FEWEST)
        {
            let until = sorted.partition_point(|&one| one < end);
            expected.push(mass * batches);
            observed.push((until - below) as f64);
            (total, below, mass) = (total + mass, until, 0.0);
        }
        size = end;
    }
    expected.push((1.0 - total).max(1e-12) * batches);
    observed.push((sorted.len() - below) as f64);
    let classes = expected.len() as f64;
    if classes < 3.0 {
        return 1.0;
    }
    let squares: f64 = expected.iter().zip(&observed).map(|(e, o)| (o - e) * (o - e) / e).sum();
    if squares <= classes - 1.0 { 1.0 } else { dispersion(squares, classes - 1.0, 2.0 * (classes - 1.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_sums_of_the_law() {
        for (n, q) in [(10.0, 0.3), (1000.0, 0.01), (50.0, 0.9)] {
            let mut tail = 0.0;
            for size in (0..=n as u32).rev().map(f64::from) {
                tail += exp(log_binomial(n, q, size));
                let found = exp(log_binomial_tail(n, q, size));
                assert!((found - tail).abs() < 1e-9, "{n} {q} {size}: {found} {tail}");
            }
        }
    }

    #[test]
    fn a_spike_and_a_leftover_are_seen_though_the_variance_is_right() {
        let (n, q) = (1000.0, 0.02);
        // Sizes at quantiles of the law itself.
        let mut sizes = Vec::new();
        for size in 0..80 {
            let count = (400.0 * exp(log_binomial(n, q, f64::from(size)))).round() as usize;
            sizes.extend(std::iter::repeat_n(f64::from(size), count));
        }
        assert!(fit(&sizes, n, q, None) > 0.1);
        let deviation = (n * q * (1.0 - q)).sqrt();
        let two = [n * q - deviation, n * q + deviation].map(f64::round);
        let spikes: Vec<f64> = (0..400).map(|i| two[i % 2]).collect();
        assert!(fit(&spikes, n, q, None) < 1e-12);
    }
}
