//! The binomial law: exact one-sided confidence bounds of Clopper and Pearson (1934).

pub(crate) mod saddle_point;
pub(crate) mod tail;

use libm::{exp, expm1, log, log1p, sqrt};
use misdeal_core::normal;
use saddle_point::{deviance, stirling_error};
use std::f64::consts::TAU;
use tail::Point;

/// A probability and its complement, each with its own relative accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proportion {
    /// p.
    pub value: f64,
    /// 1 - p, accurate also where p is so near 1 that the subtraction would lose it.
    pub complement: f64,
}

impl Proportion {
    const ZERO: Self = Proportion { value: 0.0, complement: 1.0 };
    const ONE: Self = Proportion { value: 1.0, complement: 0.0 };

    /// odds / (1 + odds), monotone in `odds`: the larger part is rounded from the smaller.
    pub(crate) fn from_odds(odds: f64) -> Self {
        let smaller = odds.min(1.0) / (1.0 + odds);
        let pair = Proportion { value: smaller, complement: 1.0 - smaller };
        if odds > 1.0 { pair.swapped() } else { pair }
    }

    pub(crate) fn swapped(self) -> Self {
        Proportion { value: self.complement, complement: self.value }
    }
}

/// The Clopper-Pearson upper bound for `successes` of `trials` at confidence 1 - `tail_probability`.
///
/// # Formula
/// The p with P(Binomial(n, p) <= k) = `tail_probability`, which is the (1 - `tail_probability`) quantile of
/// Beta(k + 1, n - k); 1 when k = n. Whatever the true probability is, the bound lies below it with probability at most
/// `tail_probability`.
///
/// # Accuracy
/// Value and complement are within 2e-15 relative of the exact ones for up to 1e13 trials and tail probabilities from
/// 1e-6 to 0.9, and within 2e-14 down to 1e-100; they err in either direction, as nothing is rounded outwards. Beyond
/// 2^53 trials the counts are rounded to `f64`. The result is the same on every machine.
///
/// It is defined for all arguments: more successes than trials count as all, and a tail probability that is not
/// positive (or not a number) allows no error and gives 1.
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
    let tail_probability = if misdeal_core::planted::is_planted(misdeal_core::planted::Fault::ClopperPearson)
    {
        2.0 * tail_probability
    } else {
        tail_probability
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
    if tail_probability > 0.5 {
        // P(Binomial(n, p) <= k) = 1 - P(Binomial(n, 1-p) <= n-1-k), and the small tail is the accurate one.
        return quantile(failures as f64, successes as f64, n, 1.0 - tail_probability).swapped();
    }
    quantile(successes as f64, failures as f64, n, tail_probability)
}

/// The Clopper-Pearson lower bound for `successes` of `trials` at confidence 1 - `tail_probability`.
///
/// The p with P(Binomial(n, p) >= k) = `tail_probability`; 0 when k = 0. It is the complement of the upper bound for
/// the failures, with the same accuracy, and lies above the true probability with probability at most
/// `tail_probability`.
pub fn lower_bound(successes: u64, trials: u64, tail_probability: f64) -> Proportion {
    upper_bound(trials.saturating_sub(successes), trials, tail_probability).swapped()
}

/// The p above which Beta(k + 1, l + 1) has mass `tail`, for k, l >= 1, n = k + l + 1 and 0 < `tail` <= 1/2.
///
/// Solves ln F(p) = ln tail by Halley's method in the logit x of p, with F the mass above p. There ln F is concave and
/// decreasing (the density p^(k+1) (1-p)^(l+1) of x is log-concave), so that plain Newton steps, which Halley's approach,
/// converge from anywhere. The odds p/(1-p) are what is iterated: both p and 1 - p follow from them without cancellation.
fn quantile(k: f64, l: f64, n: f64, tail: f64) -> Proportion {
    let m = k + l;
    let log_tail = log(tail);
    let constant = stirling_error(m) - stirling_error(k) - stirling_error(l) - log_tail;
    let scale = n * sqrt(m / TAU / k / l);
    let mut odds = first_odds(k + 1.0, l + 1.0, tail);
    for _ in 0..MOST_STEPS {
        let point = Point::from_odds(k, l, odds);
        let (p, q) = (point.value, point.complement);
        let ratio = point.mass_over_density();
        let deviances = deviance(k, m * p, point.excess) + deviance(l, m * q, -point.excess);
        // f(p) = n P(k of m), so that F(p) = n P(k of m) p q J; this is ln(F / tail).
        let residual = log(scale * p * q * ratio) + constant - deviances;
        // g' = -1/J for g = ln F, and g''/g' = (ln density of x)' - g' = q - p - excess + 1/J.
        let newton = residual * ratio;
        let bend = 0.5 * newton * (q - p - point.excess + 1.0 / ratio);
        let step = (newton / (1.0 + bend).max(0.5)).clamp(-LONGEST_STEP, LONGEST_STEP);
        if step.is_nan() {
            break;
        }
        odds = (odds + odds * expm1(step)).clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE);
        // The convergence is cubic in units of J, so that the next step would be below rounding.
        if step.abs() < 1e-6 * ratio {
            break;
        }
    }
    Proportion::from_odds(odds)
}

/// At most four steps were seen for tails from 1e-20 up, and 18 at 1e-300.
const MOST_STEPS: usize = 60;

/// In the logit: keeps a poor start from leaving the range of `f64`.
const LONGEST_STEP: f64 = 3.0;

/// A start for the odds of the quantile of Beta(a, b), usually good to 1 % of the standard deviation.
///
/// Abramowitz and Stegun, formula 26.5.22.
fn first_odds(a: f64, b: f64, tail: f64) -> f64 {
    let z = -normal::lower_quantile(tail);
    let (r, s) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let h = 2.0 / (r + s);
    let lambda = (z * z - 3.0) / 6.0;
    let w = z * sqrt((h + lambda).max(0.0)) / h + (s - r) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
    a / b * exp((2.0 * w).clamp(-300.0, 300.0))
}

#[cfg(test)]
mod tests;
