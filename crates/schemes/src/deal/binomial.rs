//! Exact binomial counts for up to 2^50 trials.
//!
//! # Why not a library's sampler?
//! The usual sampler (BTPE, in `rand_distr` too) evaluates its last test in plain floating point. At 10^12 trials the logarithm that it compares is
//! wrong by 1e-5 or more. Here the law is a binomial law whose odds have a relative error below 2^-50, and each outcome has its probability
//! with a relative error below 1e-11. A record's probability of a bin changes by as little, and so does epsilon.
//!
//! # Method
//! Rejection from a discrete hat. Let m be the mode, f the probabilities, L a whole number with L f(m) >= 1, and d >= 0. Then
//! f(m + d) / f(m) <= min(1, e^(1 - d/L)).
//!
//! Proof. Let r = f(m + d) / f(m) and c = -ln r. Binomial probabilities are log-concave, so f(m + i) >= f(m) e^(-c i/d) for 0 <= i <= d. They sum to
//! at most one, so 1 / f(m) >= sum_i e^(-c i/d) >= d (1 - e^-c) / c. With L >= 1 / f(m) and c <= (1 + c)(1 - e^-c), this gives
//! d/L <= d f(m) <= c / (1 - e^-c) <= 1 + c. The same holds on the other side of the mode.
//!
//! The hat is cut into blocks of L whole numbers on either side, on which it is constant: 1, 1, e^-1, e^-2, ... A proposal is a side, a block and a uniform place in the
//! block. Five to six proposals are drawn on average. Everything but the final comparison is done in whole numbers.

use super::generator::Words;
use libm::{exp, log, log1p};

/// The number of successes of `trials` independent trials, of which each succeeds with probability `part` / `whole`.
pub(super) fn binomial(words: &mut Words<'_>, trials: u64, part: u64, whole: u64) -> u64 {
    if part == 0 || trials == 0 {
        return 0;
    }
    if part == whole {
        return trials;
    }
    let law = Law::new(trials, part as f64 / whole as f64, (whole - part) as f64 / whole as f64);
    loop {
        let is_above = words.word() >> 63 == 1;
        // Blocks 0, 1, 2, ... have the weights 1, 1, e^-1, e^-2, ...
        let mut block: u64 = 0;
        if words.unit() >= FIRST_BLOCK {
            block = 1;
            while words.unit() < INVERSE_OF_E {
                block += 1;
            }
        }
        let hat = block.saturating_sub(1) as f64;
        let distance = block * law.block + words.below(law.block);
        // Below the mode, distances begin at one.
        let proposal =
            if is_above { law.mode.checked_add(distance) } else { law.mode.checked_sub(distance + 1) };
        let Some(proposal) = proposal.filter(|&proposal| proposal <= trials) else { continue };
        if words.unit() < exp(law.log_ratio(proposal) + hat) {
            return proposal;
        }
    }
}

const INVERSE_OF_E: f64 = 0.36787944117144233;

/// The weight of the first block among all: 1 / (1 + 1 / (1 - 1/e)).
const FIRST_BLOCK: f64 = (1.0 - INVERSE_OF_E) / (2.0 - INVERSE_OF_E);

/// A binomial law, prepared for rejection.
struct Law {
    trials: u64,
    success: f64,
    failure: f64,
    mode: u64,
    /// At least the inverse of the mode's probability.
    block: u64,
}

impl Law {
    fn new(trials: u64, success: f64, failure: f64) -> Self {
        let mode = (((trials + 1) as f64 * success) as u64).min(trials);
        let mut law = Law { trials, success, failure, mode, block: 1 };
        // The margin covers every rounding. A mode that is off by one has a ratio above one only by a rounding.
        law.block = (exp(-law.log_probability_of_mode()) * (1.0 + 1e-6)) as u64 + 1;
        law
    }

    /// ln f(m), to 1e-9.
    fn log_probability_of_mode(&self) -> f64 {
        let (n, k) = (self.trials as f64, self.mode as f64);
        let rest = n - k;
        beyond_stirling(self.trials)
            - beyond_stirling(self.mode)
            - beyond_stirling(self.trials - self.mode)
            - divergence(k, n * self.success)
            - divergence(rest, n * self.failure)
    }

    /// ln f(k) - ln f(m), with an absolute error below 1e-11 where it is above -40, for odds with a relative error of 2^-50.
    fn log_ratio(&self, k: u64) -> f64 {
        let odds = self.success / self.failure;
        if k.abs_diff(self.mode) <= 32 {
            let ratio = |i: u64| (self.trials - i) as f64 / (i + 1) as f64 * odds;
            return if k > self.mode {
                log((self.mode..k).map(ratio).product())
            } else {
                -log((k..self.mode).map(ratio).product())
            };
        }
        let term = |k: u64, mode: u64, mean: f64| {
            beyond_stirling(mode) - beyond_stirling(k) + divergence(mode as f64, mean)
                - divergence(k as f64, mean)
        };
        let n = self.trials as f64;
        term(k, self.mode, n * self.success)
            + term(self.trials - k, self.trials - self.mode, n * self.failure)
    }
}

/// ln k! - (k ln k - k), with an error below 1e-15.
fn beyond_stirling(k: u64) -> f64 {
    const HALF_LOG_TAU: f64 = 0.918938533204672742;
    let x = k as f64;
    if k < 16 {
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        return log(factorial) - if k == 0 { 0.0 } else { x * log(x) - x };
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x;
    0.5 * log(x) + HALF_LOG_TAU + series
}

/// x ln(x / mean) + mean - x, accurate where x is near the mean.
///
/// Source: Loader, "Fast and accurate computation of binomial probabilities" (2000).
fn divergence(x: f64, mean: f64) -> f64 {
    if x == 0.0 {
        return mean;
    }
    let difference = x - mean;
    if difference.abs() > 0.1 * (x + mean) {
        return x * log(x / mean) - difference;
    }
    let v = difference / (x + mean);
    // 2 x artanh(v) - difference, as a series in v^2.
    let (mut sum, mut power) = (difference * v, 2.0 * x * v);
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// A prepared geometric law: the number of records that are skipped before the next chosen one.
///
/// P(gap = g) = q (1 - q)^g, with a relative error below 2^-44 for each g below 100/q. The gap is blocks times m plus a place, m = floor(1/q). The
/// number of blocks is a number of successes in a row, of which each has the probability (1 - q)^m. A place j is proposed uniformly and accepted with probability (1 - q)^j.
pub(super) struct Gaps {
    log_out: f64,
    block: u64,
    block_passed: f64,
}

impl Gaps {
    pub(super) fn new(probability: f64) -> Self {
        let log_out = log1p(-probability);
        let block = (1.0 / probability) as u64;
        Gaps { log_out, block, block_passed: exp(block as f64 * log_out) }
    }

    pub(super) fn gap(&self, words: &mut Words<'_>) -> u64 {
        // All records are chosen: the logarithm is minus infinity.
        if self.log_out == f64::NEG_INFINITY {
            return 0;
        }
        let mut blocks = 0;
        while words.unit() < self.block_passed {
            blocks += 1;
        }
        loop {
            let place = words.below(self.block);
            let u = words.unit();
            // Every place is accepted with at least the probability of a whole block, so most need no exponential.
            if u < self.block_passed || u < exp(place as f64 * self.log_out) {
                return blocks * self.block + place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Seed;
    use super::super::generator::{Generator, Purpose};
    use super::*;

    const DRAWS: u64 = 200_000;

    fn generator() -> Generator {
        Generator::new(&Seed::from_number(11), "binomial")
    }

    /// ln P(k) from a running product, for small numbers of trials.
    fn log_probabilities(n: u64, p: f64) -> Vec<f64> {
        let mut found = vec![n as f64 * log1p(-p)];
        for k in 0..n {
            let next = found[k as usize] + log((n - k) as f64 / (k + 1) as f64 * p / (1.0 - p));
            found.push(next);
        }
        found
    }

    #[test]
    fn ratios_are_those_of_the_law() {
        for (n, part, whole) in
            [(1_u64, 1_u64, 2_u64), (40, 1, 2), (300, 1, 3), (2000, 1, 100), (2000, 99, 100), (5000, 1, 2)]
        {
            let (p, q) = (part as f64 / whole as f64, (whole - part) as f64 / whole as f64);
            let law = Law::new(n, p, q);
            let known = log_probabilities(n, p);
            let mode = known[law.mode as usize];
            assert!(known.iter().all(|&one| one <= mode + 1e-9), "{n} {p}");
            assert!((law.log_probability_of_mode() - mode).abs() < 1e-9, "{n} {p}");
            assert!(law.block as f64 * exp(mode) >= 1.0 && law.block as f64 * exp(mode) < 2.1, "{n} {p}");
            for k in 0..=n {
                let (ours, right) = (law.log_ratio(k), known[k as usize] - mode);
                assert!(
                    right < -600.0 || (ours - right).abs() < 1e-10 * right.abs().max(1.0),
                    "{n} {p} {k}: {ours} {right}"
                );
            }
        }
    }

    /// Values from 60-digit arithmetic (`testdata/scripts/binomial_ratios.py`). The error of the odds grows with the distance.
    #[test]
    fn ratios_are_accurate_for_a_trillion_trials() {
        for (n, part, whole, k, right) in [
            (1_000_000_000_000_u64, 1_u64, 2_u64, 500000000500, -4.999999999995e-07),
            (1_000_000_000_000, 1, 2, 499999250000, -1.1249999999992968),
            (1_000_000_000_000, 1, 2, 500003000000, -18.00000000009),
            (1_000_000_000_000, 1, 3, 333331919120, -4.500000663723469),
            (1_000_000_000_000, 1, 3, 333337340271, -36.1249169257687),
            (1_000_000_000_000, 999, 1000, 999000063213, -1.9999521501829476),
            (1125899906842624, 5, 7, 804214158539914, -7.999999722813533),
            (1000000000, 1, 2, 500079056, -12.499702311581151),
        ] {
            let law = Law::new(n, part as f64 / whole as f64, (whole - part) as f64 / whole as f64);
            let (ours, distance) = (law.log_ratio(k), k.abs_diff(law.mode) as f64);
            let most = 1e-12 + distance * 2.0_f64.powi(-51);
            assert!((ours - right).abs() < most, "{n} {part}/{whole} {k}: {ours} {right}");
        }
    }

    /// Counts of each outcome against the law by relative entropy, as in `tests/law_and_sampler.rs`.
    #[test]
    fn counts_follow_the_law() {
        let generator = generator();
        for (case, (n, part, whole)) in
            [(1_u64, 1_u64, 3_u64), (7, 1, 2), (30, 1, 30), (12, 5, 6), (200, 1, 50)].into_iter().enumerate()
        {
            let mut words = generator.words(Purpose::Sizes, case as u64, 0);
            let mut counts = vec![0_u64; n as usize + 1];
            for _ in 0..DRAWS {
                counts[binomial(&mut words, n, part, whole) as usize] += 1;
            }
            let known = log_probabilities(n, part as f64 / whole as f64);
            let entropy: f64 = (counts.iter().zip(&known))
                .filter(|&(&count, _)| count > 0)
                .map(|(&count, known)| count as f64 * (log(count as f64 / DRAWS as f64) - known))
                .sum();
            // P(entropy >= g) <= e^-g (e g / f)^f with f degrees of freedom (Agrawal, 2020); tails that cannot occur count for nothing.
            let freedom = known.iter().filter(|&&one| one > -30.0).count() as f64 - 1.0;
            let log_p =
                if entropy > freedom { freedom * (1.0 + log(entropy / freedom)) - entropy } else { 0.0 };
            assert!(log_p > log(1e-8), "{n} {part}/{whole}: {entropy} of {freedom}");
        }
    }

    /// Mean, variance, skewness and tails of large counts, as normal deviates below 5.6 (probability 2e-8 each).
    #[test]
    fn large_counts_have_the_moments_of_the_law() {
        let generator = generator();
        for (case, (n, part, whole)) in
            [(1_000_000_000_000_u64, 1_u64, 2_u64), (1_000_000_000, 333, 1000), (1 << 50, 1, 1 << 30)]
                .into_iter()
                .enumerate()
        {
            let mut words = generator.words(Purpose::Sizes, case as u64, 1);
            let p = part as f64 / whole as f64;
            let (mean, variance) = (n as f64 * p, n as f64 * p * (1.0 - p));
            let deviates: Vec<f64> = (0..DRAWS)
                .map(|_| (binomial(&mut words, n, part, whole) as f64 - mean) / variance.sqrt())
                .collect();
            for (power, mean, variance) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
                let sum: f64 = deviates.iter().map(|z| z.powi(power) - mean).sum();
                let deviate = sum / (variance * DRAWS as f64).sqrt();
                assert!(deviate.abs() < 5.6, "{n} {p}, power {power}: {deviate}");
            }
            let beyond = deviates.iter().filter(|z| z.abs() > 3.0).count() as f64;
            assert!(
                (beyond - 0.0026998 * DRAWS as f64).abs() < 5.6 * (0.0027 * DRAWS as f64).sqrt(),
                "{n} {p}: {beyond}"
            );
        }
    }

    #[test]
    fn gaps_are_geometric() {
        let generator = generator();
        for (case, probability) in [0.9, 0.5, 0.3, 0.07].into_iter().enumerate() {
            let mut words = generator.words(Purpose::Gaps, case as u64, 0);
            let gaps = Gaps::new(probability);
            let mut counts = [0_u64; 40];
            for _ in 0..DRAWS {
                counts[gaps.gap(&mut words).min(39) as usize] += 1;
            }
            let entropy: f64 = (counts.iter().enumerate())
                .filter(|&(_, &count)| count > 0)
                .map(|(gap, &count)| {
                    let passed = (1.0 - probability).powi(gap as i32);
                    let mass = if gap == 39 { passed } else { passed * probability };
                    count as f64 * log(count as f64 / (DRAWS as f64 * mass))
                })
                .sum();
            let log_p = if entropy > 39.0 { 39.0 * (1.0 + log(entropy / 39.0)) - entropy } else { 0.0 };
            assert!(log_p > log(1e-8), "{probability}: {entropy}");
        }
    }
}
