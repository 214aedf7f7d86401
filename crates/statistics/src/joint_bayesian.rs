//! An estimate from the posterior law of epsilon, from both error rates together.

use crate::beta::Beta;
use crate::binomial::Proportion;
use crate::crossing::crossing;
use crate::quadrature::integrate;
use crate::{ErrorCounts, ErrorEstimator, Guarantee, Jeffreys, Side};
use libm::{exp, log, sqrt};

/// The `significance` quantile of the posterior law of epsilon.
///
/// # Formula
/// A priori the error rates are independent with Jeffreys' law Beta(1/2, 1/2). A posteriori FPR ~ Beta(FP + 1/2, TN +
/// 1/2) and FNR ~ Beta(FN + 1/2, TP + 1/2). Epsilon is at most x if 1 - FPR - delta <= e^x FNR and 1 - FNR - delta <=
/// e^x FPR. The probability of this is one integral over FPR. The estimate is the x at which it equals `significance`
/// (Zanella-Beguelin et al., "Bayesian estimation of differential privacy", 2023).
///
/// # Formal guarantees
/// - It is a credible bound: given the prior and the counts, epsilon lies above it with probability 1 - `significance`.
///   It is not a confidence bound. For some mechanisms it lies above the truth more often, so it is not marked valid.
/// - For `hold-out` and `max`, the threshold is the one that is best for [`Jeffreys`].
/// - Tests compare the integral with a plain sum, to 1e-4 in epsilon, for up to 1e6 observations.
#[derive(Debug, Clone, Copy)]
pub struct JointBayesian;

impl ErrorEstimator for JointBayesian {
    fn name(&self) -> &'static str {
        "joint-bayesian"
    }

    fn guarantee(&self) -> Guarantee {
        Guarantee::Credible
    }

    /// The chooser is [`Jeffreys`]. Its intervals come from the same posterior laws, one rate at a time, at a hundredth
    /// of the cost.
    fn chooser(&self) -> Option<&dyn ErrorEstimator> {
        Some(&Jeffreys)
    }

    /// An upper limit from the upper `t` quantiles of both rates. Both rates exceed them with probability t^2. Then
    /// epsilon is at most the epsilon of the quantiles.
    fn limit_at_rank(
        &self,
        counts: &ErrorCounts,
        side: Side,
        rank: u64,
        delta: f64,
        significance: f64,
    ) -> f64 {
        Jeffreys.epsilon(&counts.at_rank(side, rank), delta, 2.0 * sqrt(significance.min(0.2)))
    }

    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64 {
        let posterior = |errors: u64, of: u64| Posterior::new(errors.min(of), of);
        let false_positive_rate = posterior(counts.false_positives, counts.observations_out);
        let false_negative_rate = posterior(counts.false_negatives, counts.observations_in);
        let [positive, negative] = [&false_positive_rate, &false_negative_rate].map(|one| one.mean);
        let guess = log((1.0 - positive - delta).max(1e-9) / negative)
            .max(log((1.0 - negative - delta).max(1e-9) / positive));
        crossing(significance, 0.0, guess.clamp(0.0, 50.0), |x| {
            probability_at_most(x, &false_positive_rate, &false_negative_rate, delta)
        })
    }
}

/// The posterior law of a rate.
struct Posterior {
    law: Beta,
    mean: f64,
    /// The logit of the mode. `reach` says how far the law reaches below and above it, in logits.
    mode: f64,
    width: f64,
    reach: [f64; 2],
}

impl Posterior {
    fn new(errors: u64, of: u64) -> Self {
        let (a, b) = (errors as f64 + 0.5, (of - errors) as f64 + 0.5);
        let width = sqrt((a + b) / (a * b));
        let reach = [a, b].map(|shape| 8.0 * width.min(2.0) + 36.0 / shape);
        Posterior { law: Beta::new(a, b), mean: a / (a + b), mode: log(a / b), width, reach }
    }
}

/// P(epsilon <= x), as an integral over the logit of FPR of the probability that FNR is large enough for x.
fn probability_at_most(x: f64, positive: &Posterior, negative: &Posterior, delta: f64) -> f64 {
    let factor = exp(x);
    let demanded = |p: f64| ((1.0 - delta - p) / factor).max(1.0 - delta - factor * p);
    let value = |logit: f64| {
        let odds = exp(logit);
        let demanded = demanded(Proportion::from_odds(odds).value);
        let met = if demanded >= 1.0 { 0.0 } else { negative.law.tails(demanded / (1.0 - demanded))[1] };
        positive.law.logit_density(odds) * met
    };
    // Panels end where the required FNR changes its formula, and where it crosses the bulk of FNR's law. So the
    // integrand is smooth on each panel.
    let logit = |p: f64| if p > 0.0 && p < 1.0 { log(p / (1.0 - p)) } else { f64::NAN };
    let [from, to] = [positive.mode - positive.reach[0], positive.mode + positive.reach[1]];
    let mut cuts = vec![from, positive.mode, to, logit((1.0 - delta) / (1.0 + factor))];
    for multiple in [-6.0, 0.0, 6.0] {
        cuts.push(positive.mode + multiple * positive.width);
        let demanded = Proportion::from_odds(exp(negative.mode + multiple * negative.width)).value;
        cuts.extend([logit(1.0 - delta - factor * demanded), logit((1.0 - delta - demanded) / factor)]);
    }
    cuts.retain(|cut| (from..=to).contains(cut));
    cuts.sort_by(f64::total_cmp);
    cuts.windows(2).filter(|pair| pair[0] < pair[1]).map(|pair| integrate(pair[0], pair[1], value)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Golden {
        /// False positives, false negatives, observations in, observations out, delta, significance, jeffreys,
        /// joint-bayesian.
        cases: Vec<[f64; 8]>,
    }

    /// Reference values from scipy (`testdata/scripts/posterior.py`).
    #[test]
    fn agrees_with_a_plain_sum_over_the_posterior() {
        let golden: Golden = toml::from_str(include_str!("../../../testdata/posterior.toml")).unwrap();
        assert!(golden.cases.len() >= 16);
        for [positives, negatives, of_in, of_out, delta, significance, jeffreys, joint] in golden.cases {
            let [false_positives, false_negatives, observations_in, observations_out] =
                [positives, negatives, of_in, of_out].map(|count| count as u64);
            let counts = ErrorCounts { false_positives, false_negatives, observations_in, observations_out };
            let found = Jeffreys.epsilon(&counts, delta, significance);
            assert!((found - jeffreys).abs() < 1e-7, "{counts:?}: {found} for {jeffreys}");
            let found = JointBayesian.epsilon(&counts, delta, significance);
            assert!((found - joint).abs() < 1e-4, "{counts:?}: {found} for {joint}");
        }
    }
}
