//! Exact one-sided confidence bounds for a binomial probability, by Clopper and Pearson (1934).

use crate::beta::Beta;
use libm::{exp, expm1, log, log1p};

/// A probability and its complement, each accurate relative to its own size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// The probability p.
    pub value: f64,
    /// The complement 1 - p, accurate even if p is so near 1 that the subtraction would lose it.
    pub complement: f64,
}

impl Proportion {
    const ZERO: Self = Proportion { value: 0.0, complement: 1.0 };
    const ONE: Self = Proportion { value: 1.0, complement: 0.0 };

    /// The proportion odds / (1 + odds), monotone in `odds`. The larger part is computed from the smaller one.
    pub(crate) fn from_odds(odds: f64) -> Self {
        let smaller = odds.min(1.0) / (1.0 + odds);
        let pair = Proportion { value: smaller, complement: 1.0 - smaller };
        if odds > 1.0 { pair.swapped() } else { pair }
    }

    pub(crate) fn swapped(self) -> Self {
        Proportion { value: self.complement, complement: self.value }
    }
}

/// The Clopper-Pearson upper bound for `successes` out of `trials`, at confidence 1 - `tail_probability`.
///
/// # Formula
/// The bound is the p with P(Binomial(n, p) <= k) = `tail_probability`. This is the (1 - `tail_probability`) quantile
/// of Beta(k + 1, n - k), or 1 if k = n. For any true probability, the bound lies below it with probability at most
/// `tail_probability`.
///
/// # Accuracy
/// Value and complement are within 2e-15 relative of the exact ones, for up to 1e13 trials and tail probabilities from
/// 1e-6 to 0.9. Down to 1e-100 they are within 2e-14. They err in either direction, because nothing is rounded
/// outwards. Beyond 2^53 trials the counts are rounded to `f64`. The result is the same on every machine.
///
/// The function accepts all arguments. More successes than trials count as all trials. A tail probability that is not
/// positive (or NaN) allows no error and gives 1.
///
/// ```
/// use misdeal_statistics::binomial::upper_bound;
/// // No success in a million trials: about 3 in a million ("the rule of three"), here at 95 %.
/// let bound = upper_bound(0, 1_000_000, 0.05);
/// assert!((bound.value - 2.9957e-6).abs() < 1e-10);
/// // One failure: the complement is kept, although it is lost in 1 - value.
/// assert!((upper_bound(999_999, 1_000_000, 0.05).complement / 5.1293e-8 - 1.0).abs() < 1e-4);
/// ```
pub fn upper_bound(successes: u64, trials: u64, tail_probability: f64) -> Proportion {
    #[cfg(feature = "planted-faults")]
    let tail_probability =
        match misdeal_core::planted::is_planted(misdeal_core::planted::Fault::ClopperPearson) {
            true => 0.5,
            false => tail_probability,
        };
    if successes >= trials || tail_probability.is_nan() || tail_probability <= 0.0 {
        return Proportion::ONE;
    }
    if tail_probability >= 1.0 {
        return Proportion::ZERO;
    }
    let n = trials as f64;
    let failures = trials - 1 - successes;
    if successes == 0 {
        // (1-p)^n = tail
        let log_complement = log(tail_probability) / n;
        return Proportion { value: -expm1(log_complement), complement: exp(log_complement) };
    }
    if failures == 0 {
        // 1 - p^n = tail
        let log_value = log1p(-tail_probability) / n;
        return Proportion { value: exp(log_value), complement: -expm1(log_value) };
    }
    Beta::new(successes as f64 + 1.0, failures as f64 + 1.0).upper_quantile(tail_probability)
}

/// The Clopper-Pearson lower bound for `successes` out of `trials`, at confidence 1 - `tail_probability`.
///
/// The bound is the p with P(Binomial(n, p) >= k) = `tail_probability`, or 0 if k = 0. It is the complement of the
/// upper bound for the failures, with the same accuracy. It lies above the true probability with probability at most
/// `tail_probability`.
pub fn lower_bound(successes: u64, trials: u64, tail_probability: f64) -> Proportion {
    upper_bound(trials.saturating_sub(successes), trials, tail_probability).swapped()
}

/// P(X >= `successes`) and P(X < `successes`) for X ~ Binomial(`trials`, `probability`).
///
/// The smaller one is within about 1e-13 relative. Counts are `f64`, exact up to 2^53.
///
/// ```
/// use misdeal_statistics::binomial::tails;
/// let [at_least, below] = tails(2.0, 3.0, 0.5);
/// assert!((at_least - 0.5).abs() < 1e-15 && (below - 0.5).abs() < 1e-15);
/// ```
pub fn tails(successes: f64, trials: f64, probability: f64) -> [f64; 2] {
    if successes <= 0.0 || probability >= 1.0 && successes <= trials {
        return [1.0, 0.0];
    }
    if successes > trials || probability.is_nan() || probability <= 0.0 {
        return [0.0, 1.0];
    }
    Beta::new(successes, trials - successes + 1.0).tails(probability / (1.0 - probability))
}

#[cfg(test)]
mod tests;
