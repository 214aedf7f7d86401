//! Tests a claimed trade-off curve at the threshold with the strongest evidence.

use crate::claimed_curve::{bounded_p_value, p_value};
use crate::evidence::Evidence;
use crate::search::Objective;
use crate::threshold_choice::{ThresholdChoice, Trials};
use crate::{ErrorCounts, ErrorEstimator, Guarantee, check_enough, finite};
use misdeal_core::{OrInfinite, Result, ScoreStore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claimed curve: the smallest false-negative rate that it promises at each false-positive rate.
///
/// It must be non-increasing.
pub type CurveFunction<'a> = &'a (dyn Fn(f64) -> f64 + Sync);

/// While a threshold is chosen, p-values may exceed the supremum by this factor.
const ROUGHLY: f64 = 1.3;

/// The result of testing a claimed curve.
///
/// The even trials choose the threshold, and the odd ones are counted. If the claim is true, `p_value` is at most a
/// with probability at most a, for every a and any mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveTest {
    /// An upper bound on the probability of so few errors if the claim is true.
    pub p_value: f64,
    /// Whether the p-value is at most the significance.
    pub refuted: bool,
    /// Scores at or above this value count as runs with the target; null if infinite.
    pub threshold: OrInfinite,
    /// The counted errors.
    #[serde(flatten)]
    pub counts: ErrorCounts,
}

impl CurveTest {
    /// The same test as one of several, with its p-value divided by its `share`.
    ///
    /// An example is a look of a confidence sequence, which may end a run at any look. The shares of all tests must be
    /// fixed in advance and add up to at most one. If the claim is true, the probability that any of these tests has a
    /// p-value of a or less is at most a.
    #[must_use]
    pub fn at_share(self, share: f64, significance: f64) -> Self {
        let p_value = (self.p_value / share).min(1.0);
        CurveTest { p_value, refuted: p_value <= significance, ..self }
    }
}

/// Tests a claimed curve on a store's scores.
///
/// # Errors
/// Fewer than two even or two odd trials.
pub fn test_curve(store: &ScoreStore, curve: CurveFunction<'_>, significance: f64) -> Result<CurveTest> {
    test(&Evidence::of_store(store), curve, significance)
}

/// Tests a claimed curve on any scores. Their indices serve as trial numbers.
///
/// # Errors
/// Scores that are not finite, or too few.
pub fn test_curve_on_scores(
    scores_in: &[f64],
    scores_out: &[f64],
    curve: CurveFunction<'_>,
    significance: f64,
) -> Result<CurveTest> {
    test(&finite(scores_in, scores_out)?, curve, significance)
}

fn test(evidence: &Evidence<'_>, curve: CurveFunction<'_>, significance: f64) -> Result<CurveTest> {
    check_enough(evidence, ThresholdChoice::HoldOut)?;
    let [observations_in, observations_out] = evidence.observations(Trials::Even);
    let refutation = Refutation { curve };
    let objective =
        Objective { estimator: &refutation, observations_in, observations_out, delta: 0.0, significance };
    let threshold = evidence.best_threshold(Trials::Even, &objective);
    let counts = evidence.errors(Trials::Odd, threshold);
    let p_value = p_value(&counts, curve);
    Ok(CurveTest { p_value, refuted: p_value <= significance, threshold: threshold.into(), counts })
}

/// The evidence against a curve, -ln p, used in place of an epsilon. Fewer errors never weaken it.
struct Refutation<'a> {
    curve: CurveFunction<'a>,
}

impl ErrorEstimator for Refutation<'_> {
    fn name(&self) -> &'static str {
        "claimed curve"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Nothing
    }

    fn epsilon(&self, counts: &ErrorCounts, _delta: f64, _significance: f64) -> f64 {
        -libm::log(bounded_p_value(counts, self.curve, ROUGHLY).max(f64::MIN_POSITIVE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Look;
    use misdeal_core::{Purpose, Setting, Stream, World, normal};

    fn gaussian(mu: f64) -> impl Fn(f64) -> f64 + Sync {
        move |x| match x {
            x if x <= 0.0 => 1.0,
            x if x >= 1.0 => 0.0,
            x => normal::cdf(-normal::quantile(x) - mu),
        }
    }

    fn scores(mu: f64, run: u64, observations: u64) -> [Vec<f64>; 2] {
        let stream = Stream::new(&Setting::default().hash());
        World::BOTH.map(|world| {
            let normal = |i| {
                let bits = stream.uniform(Purpose::Position, world, run << 20 | i, 7);
                normal::quantile((bits as f64 + 0.5) * 2_f64.powi(-64))
            };
            let mean = if world == World::In { mu } else { 0.0 };
            (0..observations).map(|i| mean + normal(i)).collect()
        })
    }

    fn p_value(mu: f64, claimed: f64, run: u64, observations: u64) -> f64 {
        let [scores_in, scores_out] = scores(mu, run, observations);
        test_curve_on_scores(&scores_in, &scores_out, &gaussian(claimed), 0.05).unwrap().p_value
    }

    /// A true claim is refuted at 5 % in at most 5 % of 500 runs. More than 57 refutations have a probability below
    /// 1e-6.
    #[test]
    fn true_claims_stand() {
        for (mu, claimed) in [(0.0, 0.0), (1.0, 1.0), (0.5, 0.8)] {
            let refuted = (0..500).filter(|&run| p_value(mu, claimed, run, 300) <= 0.05).count();
            assert!(refuted <= 57, "{mu} {claimed}: {refuted}");
        }
    }

    #[test]
    fn false_claims_fall() {
        let refuted = (0..100).filter(|&run| p_value(1.0, 0.3, run, 500) <= 0.05).count();
        assert!(refuted >= 95, "{refuted}");
    }

    /// A run of five looks ends at the first look that refutes. True claims are refuted in at most 5 % of 100 such
    /// runs. More than 19 have a probability below 1e-6. Without the shares of the looks, more are refuted.
    #[test]
    fn true_claims_stand_whoever_ends_the_run() {
        let looks: Vec<Look> = Look::all().take(5).collect();
        let (mut with, mut without) = (0, 0);
        for run in 0..100 {
            let [scores_in, scores_out] = scores(0.5, run, looks[4].trials());
            let tests: Vec<[bool; 2]> = looks
                .iter()
                .map(|&look| {
                    let first = ..look.trials() as usize;
                    let (scores_in, scores_out) = (&scores_in[first], &scores_out[first]);
                    let test = test_curve_on_scores(scores_in, scores_out, &gaussian(0.5), 0.05).unwrap();
                    [test.refuted, test.at_share(look.share(), 0.05).refuted]
                })
                .collect();
            without += usize::from(tests.iter().any(|test| test[0]));
            with += usize::from(tests.iter().any(|test| test[1]));
        }
        assert!(with <= 19 && with < without, "{with} {without}");
    }
}
