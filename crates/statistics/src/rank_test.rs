//! The exact test at one threshold whose rank was fixed in advance.

use crate::beta::Beta;
use crate::binomial::Proportion;
use crate::crossing::crossing;
use crate::quadrature::integrate;
use libm::{exp, log, sqrt};

/// The numbers of scores beyond one threshold.
///
/// Fewer than `rank` of the `reference` scores of one world lie beyond it; this rank was fixed in advance. Of the other
/// world's `observations` scores, `reaching` lie beyond it.
///
/// # The test
/// Let q and p be the probabilities of lying beyond the threshold in the two worlds. By order statistics, q is
/// stochastically at most B ~ Beta(rank, reference - rank + 1). For continuous scores q has exactly the law of B. Given
/// the first world's scores, `reaching` is binomial with probability p, and (epsilon, delta)-privacy says p <=
/// e^epsilon q + delta. A binomial count reaches k with probability P(V <= p), where V ~ Beta(k, n - k + 1) is the k-th
/// smallest of n uniform numbers. So the p-value is
///
/// ```text
/// p-value of epsilon = P(V <= e^epsilon B + delta),    V and B independent,
/// ```
///
/// It has no nuisance parameter. If the claim holds, it is at most u with probability at most u. It increases with
/// epsilon, so the lower bound is the `significance` quantile of ln((V - delta) / B).
///
/// Two Clopper-Pearson bounds, each at half the significance, use quantiles of V and B. This test loses nothing by
/// splitting: the rarer kind of error automatically gets nearly all of the significance.
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

    /// The largest refuted epsilon, or `floor` if that is larger.
    ///
    /// It is too small by at most 1e-10. The answer `floor` is faster to find.
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
        // The relative standard deviations of V - delta and of B.
        let [wide_v, wide_b] = [sqrt(rate / self.observations as f64) / shown.max(1e-300), 1.0 / sqrt(r)];
        let z = -misdeal_core::normal::lower_quantile(significance.min(0.5));
        let start = log(shown.max(1e-300) / reference_rate) - z * sqrt(wide_v * wide_v + wide_b * wide_b);
        // Integrate over the narrower law: on its scale the other law's distribution function is smooth.
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

    /// An upper limit on [`epsilon`](Self::epsilon), at the cost of two quantiles.
    ///
    /// Choose v and b with P(V <= v) = 1/2 and P(B >= b) = 2 `significance`. Both events happen together with
    /// probability `significance`. Then ln((V - delta) / B) is at most ln((v - delta) / b).
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

/// The lower end, mode and upper end, in logits, of the law of the `rank`-th of `of` uniform numbers.
///
/// All but 1e-16 of the law lies between the two ends.
fn extent(law: &Beta, rank: f64, of: u64) -> [f64; 3] {
    let mode = log(law.mode_odds());
    let other = of as f64 - rank + 1.0;
    // Chernoff's bound on each side: at most normal tails near the mode, and exponential tails further out.
    let reach = |shape: f64| {
        let width = sqrt((rank + other) / (rank * other));
        9.0 * width + 40.0 / shape
    };
    let clip = |x: f64, direction: f64, shape: f64| {
        // The reach is too large at first. It shrinks by factors of 0.7 while the density there is negligible.
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

    /// Reference values from mpmath (`testdata/scripts/rank_test.py`).
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
