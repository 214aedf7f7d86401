//! The exact test of one threshold that a rank fixed.

use crate::beta::Beta;
use crate::binomial::Proportion;
use crate::crossing::crossing;
use crate::quadrature::integrate;
use libm::{exp, log, sqrt};

/// A threshold beyond which lie fewer than `rank` of `reference` scores of one world (the rank fixed in advance) and
/// `reaching` of `observations` scores of the other.
///
/// # The test
/// Let q and p be the probabilities of lying beyond the threshold in the two worlds. By the theory of order statistics q is
/// stochastically at most B ~ Beta(rank, reference - rank + 1), exactly B for continuous scores, whatever their law. Given the
/// first world's scores, `reaching` is binomial with probability p, and (epsilon, delta)-privacy says p <= e^epsilon q + delta. A
/// binomial count reaches k with probability P(V <= p), V ~ Beta(k, n - k + 1) being the k-th smallest of n uniform numbers. Hence
///
/// ```text
/// p-value of epsilon = P(V <= e^epsilon B + delta),    V and B independent,
/// ```
///
/// has no nuisance parameter and is at most u with probability at most u wherever the claim holds. It increases with
/// epsilon, so that the lower bound is the `significance` quantile of ln((V - delta) / B).
///
/// Compared with two Clopper-Pearson bounds at half the significance each (whose quantiles are those of V and B), nothing is lost by
/// splitting: the rarer kind of error gets nearly all of the significance by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RankTest {
    pub reaching: u64,
    pub observations: u64,
    pub rank: u64,
    pub reference: u64,
}

impl RankTest {
    fn laws(&self) -> [Beta; 2] {
        let law = |rank: u64, of: u64| Beta::new(rank as f64, (of - rank + 1) as f64);
        [law(self.reaching, self.observations), law(self.rank, self.reference)]
    }

    fn is_empty(&self) -> bool {
        self.reaching == 0 || self.rank > self.reference || self.reaching > self.observations
    }

    /// The largest epsilon that is refuted, low by 1e-10 at most, or `floor` if that is not above it, which is sooner told.
    pub fn epsilon(&self, delta: f64, significance: f64, floor: f64) -> f64 {
        if self.is_empty() || self.limit(delta, significance) <= floor {
            return floor;
        }
        let [v, b] = self.laws();
        let (k, r) = (self.reaching as f64, self.rank as f64);
        let (rate, reference_rate) = (k / self.observations as f64, r / self.reference as f64);
        let shown = rate - delta;
        if v.tails(delta / (1.0 - delta))[0] >= significance {
            return floor;
        }
        // Relative standard deviations of V - delta and of B.
        let [wide_v, wide_b] = [sqrt(rate / self.observations as f64) / shown.max(1e-300), 1.0 / sqrt(r)];
        let z = -misdeal_core::normal::lower_quantile(significance.min(0.5));
        let start = log(shown.max(1e-300) / reference_rate) - z * sqrt(wide_v * wide_v + wide_b * wide_b);
        // The narrower law is integrated over, as the other's distribution function is smooth on its scale.
        if wide_v <= wide_b {
            let at_delta = v.tails(delta / (1.0 - delta))[0];
            let [from, middle, to] = extent(&v, k, self.observations);
            let [from, middle] =
                [from, middle].map(|x| if delta > 0.0 { x.max(log(delta / (1.0 - delta))) } else { x });
            crossing(significance, floor, start, |epsilon| {
                let value = |x: f64| {
                    let odds = exp(x);
                    let needed = (Proportion::from_odds(odds).value - delta).max(0.0) * exp(-epsilon);
                    v.logit_density(odds) * b.tails(needed / (1.0 - needed))[1]
                };
                at_delta + integrate(from, middle, value) + integrate(middle, to, value)
            })
        } else {
            let [from, middle, to] = extent(&b, r, self.reference);
            crossing(significance, floor, start, |epsilon| {
                let value = |x: f64| {
                    let odds = exp(x);
                    let allowed = exp(epsilon) * Proportion::from_odds(odds).value + delta;
                    let below = if allowed < 1.0 { v.tails(allowed / (1.0 - allowed))[0] } else { 1.0 };
                    b.logit_density(odds) * below
                };
                integrate(from, middle, value) + integrate(middle, to, value)
            })
        }
    }

    /// What [`epsilon`](Self::epsilon) cannot exceed, for the price of two quantiles.
    ///
    /// With P(V <= v) = 1/2 and P(B >= b) = 2 `significance`, both happen with probability `significance`, and then
    /// ln((V - delta) / B) is at most ln((v - delta) / b).
    pub fn limit(&self, delta: f64, significance: f64) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let [v, b] = self.laws();
        let shown = v.upper_quantile(0.5).value - delta;
        let allowed = b.upper_quantile((2.0 * significance).min(0.999)).value;
        if shown > 0.0 { log(shown / allowed).max(0.0) } else { 0.0 }
    }
}

/// The logits between which all but 1e-16 of the law of the `rank`-th of `of` uniform numbers lies, and its mode.
fn extent(law: &Beta, rank: f64, of: u64) -> [f64; 3] {
    let mode = log(law.mode_odds());
    let other = of as f64 - rank + 1.0;
    // Chernoff's bound on either side: at most normal tails near the mode, exponential ones beyond.
    let reach = |shape: f64| {
        let width = sqrt((rank + other) / (rank * other));
        9.0 * width + 40.0 / shape
    };
    let clip = |x: f64, direction: f64, shape: f64| {
        // The reach is generous; halved until the density there is not negligible, it fits better.
        let mut reach = reach(shape);
        let floor = 1e-17 * law.logit_density(law.mode_odds());
        while law.logit_density(exp(x + direction * reach * 0.7)) < floor {
            reach *= 0.7;
        }
        x + direction * reach
    };
    [clip(mode, -1.0, rank), mode, clip(mode, 1.0, other)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Golden {
        /// reaching, observations, rank, reference, delta, significance, epsilon.
        cases: Vec<[f64; 7]>,
    }

    /// Values of mpmath (`testdata/scripts/rank_test.py`).
    #[test]
    fn agrees_with_high_precision_values() {
        let golden: Golden = toml::from_str(include_str!("../../../testdata/rank_test.toml")).unwrap();
        assert!(golden.cases.len() > 30);
        for [reaching, observations, rank, reference, delta, significance, exact] in golden.cases {
            let [reaching, observations, rank, reference] =
                [reaching, observations, rank, reference].map(|count| count as u64);
            let test = RankTest { reaching, observations, rank, reference };
            let found = test.epsilon(delta, significance, 0.0);
            assert!((found - exact).abs() < 1e-8, "{test:?} {delta} {significance}: {found} for {exact}");
            assert!(test.limit(delta, significance) >= found);
            assert!((test.epsilon(delta, significance, 0.9 * found) - found).abs() < 1e-9);
            assert_eq!(test.epsilon(delta, significance, found + 0.01), found + 0.01);
        }
    }
}
