//! The traits that all estimators share: from scores to epsilon.
//!
//! # Why two traits?
//! `Estimator` goes from all scores to epsilon. Most estimators need only the errors at one threshold. They implement
//! `ErrorEstimator` and so support every threshold choice (`max`, `hold-out`, `band`, `sequential`).
//!
//! # When is an estimate called valid?
//! An estimate is valid only if it is proven to be a lower confidence bound for any mechanism, under the way its
//! threshold was chosen. If the proof needs an assumption, `guarantee` names it.

use crate::band;
use crate::binomial::Proportion;
use crate::evidence::Evidence;
use crate::search::Objective;
use crate::threshold_choice::{ThresholdChoice, Trials};
use crate::{
    ClopperPearson, Divergence, ErrorCounts, Gdp, Guarantee, Jeffreys, JointBayesian, LogKatz, OneRun,
    OneRunFdp, Raw,
};
use misdeal_core::{Error, Result};

/// A method that turns the scores of both worlds into an epsilon.
pub trait Estimator: Sync {
    /// The name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// What is proven about the estimator.
    fn guarantee(&self) -> Guarantee;

    /// Whether the estimator uses a threshold, so that the threshold choice matters.
    fn chooses_a_threshold(&self) -> bool {
        true
    }

    /// Whether the epsilon is proven to be a lower confidence bound for any mechanism under this threshold choice.
    fn is_valid(&self, choice: ThresholdChoice, evidence: &Evidence<'_>) -> bool;

    /// The epsilon that the evidence shows at `delta` (at least 0), and where it was found.
    fn find(
        &self,
        evidence: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> Finding;

    /// The largest epsilon that it could find in as many scores as `flawless` has.
    ///
    /// `flawless` must separate the worlds without an error.
    fn largest(
        &self,
        flawless: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> f64 {
        self.find(flawless, choice, delta, significance).epsilon
    }

    /// Whether the epsilon that it [finds](Self::find) is above `epsilon`.
    fn refutes(
        &self,
        epsilon: f64,
        evidence: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> bool {
        self.find(evidence, choice, delta, significance).epsilon > epsilon
    }
}

/// The result of an estimator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The epsilon.
    pub epsilon: f64,
    /// The threshold whose errors show this epsilon.
    pub threshold: f64,
    /// The trials on which the errors were counted.
    pub(crate) counted: Trials,
}

/// The tail of the scores in which a rank is fixed in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Ranks among the scores `Out`, from the highest down. A small rank means few false positives.
    Upper,
    /// Ranks among the scores `In`, from the lowest up. A small rank means few false negatives.
    Lower,
    /// Ranks among all scores together, from the highest down. A small rank means few guesses.
    Together,
}

/// An estimator that needs only the errors at one threshold.
///
/// # Law
/// If `false_positives` or `false_negatives` increase and the other counts stay the same,
/// [`epsilon`](ErrorEstimator::epsilon) never increases, apart from rounding. The search for the best threshold relies
/// on this.
pub trait ErrorEstimator: Sync {
    /// The name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// What is proven about the estimator.
    fn guarantee(&self) -> Guarantee;

    /// The epsilon that the counts show at `delta`; at least 0.
    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64;

    /// The estimator whose epsilon chooses the threshold for hold-out and max; `None` for this one.
    ///
    /// A cheaper estimator may be used if it prefers the same thresholds.
    fn chooser(&self) -> Option<&dyn ErrorEstimator> {
        None
    }

    /// The tails in which a band fixes its ranks.
    fn sides(&self) -> &'static [Side] {
        &[Side::Upper, Side::Lower]
    }

    /// The epsilon at a threshold with fewer than `rank` errors of one kind, but at least `floor`.
    ///
    /// The rank must have been fixed in advance.
    ///
    /// The rate of those errors is stochastically below Beta(rank, n - rank + 1) (see `band.rs`). By Clopper and
    /// Pearson, rank - 1 errors at a fixed threshold give the same law. So rank - 1 replaces the observed count.
    fn epsilon_at_rank(
        &self,
        counts: &ErrorCounts,
        side: Side,
        rank: u64,
        delta: f64,
        significance: f64,
        floor: f64,
    ) -> f64 {
        self.epsilon(&counts.at_rank(side, rank), delta, significance).max(floor)
    }

    /// An upper limit on [`epsilon_at_rank`](Self::epsilon_at_rank) that is cheaper to compute; infinite by default.
    fn limit_at_rank(
        &self,
        _counts: &ErrorCounts,
        _side: Side,
        _rank: u64,
        _delta: f64,
        _significance: f64,
    ) -> f64 {
        f64::INFINITY
    }
}

impl<E: ErrorEstimator> Estimator for E {
    fn name(&self) -> &'static str {
        ErrorEstimator::name(self)
    }

    fn guarantee(&self) -> Guarantee {
        ErrorEstimator::guarantee(self)
    }

    fn is_valid(&self, choice: ThresholdChoice, evidence: &Evidence<'_>) -> bool {
        match ErrorEstimator::guarantee(self) {
            Guarantee::AnyMechanism => choice.valid(),
            // The theorem does not cover numbers of guesses that depend on other canaries. It also does not cover
            // worlds cut to equal size, as in a look of a confidence sequence.
            Guarantee::FairCoins => choice == ThresholdChoice::Band && evidence.has_fair_coins(),
            _ => false,
        }
    }

    fn find(
        &self,
        evidence: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> Finding {
        let [choosing, counted] = match choice {
            ThresholdChoice::HoldOut => [Trials::Even, Trials::Odd],
            ThresholdChoice::Max => [Trials::All, Trials::All],
            ThresholdChoice::Band | ThresholdChoice::Sequential => {
                return band::find(self, evidence, delta, significance, 0.0);
            }
        };
        let [observations_in, observations_out] = evidence.observations(choosing);
        let chooser = self.chooser().unwrap_or(self);
        let objective =
            Objective { estimator: chooser, observations_in, observations_out, delta, significance };
        let threshold = evidence.best_threshold(choosing, &objective);
        let epsilon = self.epsilon(&evidence.errors(counted, threshold), delta, significance);
        Finding { epsilon, threshold, counted }
    }

    fn largest(
        &self,
        flawless: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> f64 {
        let counted = match choice {
            ThresholdChoice::HoldOut => Trials::Odd,
            ThresholdChoice::Max => Trials::All,
            ThresholdChoice::Band | ThresholdChoice::Sequential => {
                return band::find(self, flawless, delta, significance, 0.0).epsilon;
            }
        };
        // For any threshold, zero errors is the smallest count.
        let [observations_in, observations_out] = flawless.observations(counted);
        let counts =
            ErrorCounts { false_positives: 0, false_negatives: 0, observations_in, observations_out };
        self.epsilon(&counts, delta, significance)
    }

    fn refutes(
        &self,
        epsilon: f64,
        evidence: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> bool {
        let found = match choice {
            ThresholdChoice::Band | ThresholdChoice::Sequential => {
                band::find(self, evidence, delta, significance, epsilon)
            }
            ThresholdChoice::HoldOut | ThresholdChoice::Max => {
                self.find(evidence, choice, delta, significance)
            }
        };
        found.epsilon > epsilon
    }
}

/// The list of all estimators.
pub static ESTIMATORS: [&dyn Estimator; 9] =
    [&ClopperPearson, &Jeffreys, &JointBayesian, &LogKatz, &Gdp, &Divergence, &OneRun, &OneRunFdp, &Raw];

/// The estimators that need only the errors at one threshold.
pub static ERROR_ESTIMATORS: [&dyn ErrorEstimator; 8] =
    [&ClopperPearson, &Jeffreys, &JointBayesian, &LogKatz, &Gdp, &OneRun, &OneRunFdp, &Raw];

/// The estimator called `name`.
///
/// # Errors
/// An unknown name.
pub fn estimator(name: &str) -> Result<&'static dyn Estimator> {
    ESTIMATORS.into_iter().find(|estimator| estimator.name() == name).ok_or_else(|| {
        let names: Vec<_> = ESTIMATORS.iter().map(|estimator| estimator.name()).collect();
        Error::bad_value("estimator", name, format!("one of {}", names.join(", ")), "check the spelling")
    })
}

/// max{ ln((1 - FPR - delta)/FNR), ln((1 - FNR - delta)/FPR), 0 }.
///
/// The value decreases in both rates. A numerator that is not positive shows nothing. A positive numerator over 0 is
/// infinite.
pub(crate) fn epsilon_of_rates(
    false_positive_rate: Proportion,
    false_negative_rate: Proportion,
    delta: f64,
) -> f64 {
    let ratio = |one: Proportion, other: Proportion| {
        let numerator = one.complement - delta;
        if numerator > 0.0 { numerator / other.value } else { 0.0 }
    };
    let ratio =
        ratio(false_positive_rate, false_negative_rate).max(ratio(false_negative_rate, false_positive_rate));
    if ratio > 1.0 { libm::log(ratio) } else { 0.0 }
}
