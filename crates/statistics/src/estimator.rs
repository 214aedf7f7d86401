//! From scores to epsilon: what all estimators have in common.
//!
//! # Why two traits?
//! `Estimator` goes from all scores to epsilon. Most estimators need only the errors at one threshold: they implement
//! `ErrorEstimator` and get every threshold choice (`max`, `hold-out`, `band`, `sequential`) for free.
//!
//! # When is an estimate called valid?
//! Only if it is proven to be a lower confidence bound for any mechanism, given how its threshold was chosen. An
//! estimate that needs an assumption names it in `guarantee`.

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

/// A way to turn the scores of both worlds into an epsilon.
pub trait Estimator: Sync {
    /// The name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// What is proven of it.
    fn guarantee(&self) -> Guarantee;

    /// Whether a threshold is chosen at all, so that it matters how.
    fn chooses_a_threshold(&self) -> bool {
        true
    }

    /// Whether the epsilon is proven to be a lower confidence bound for any mechanism, given how its threshold is chosen.
    fn is_valid(&self, choice: ThresholdChoice, evidence: &Evidence<'_>) -> bool;

    /// The epsilon that the evidence shows at `delta`, at least 0, and where it was found.
    fn find(
        &self,
        evidence: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> Finding;

    /// What it would find at most in as many scores as `flawless` has, all of which are told right.
    fn largest(
        &self,
        flawless: &Evidence<'_>,
        choice: ThresholdChoice,
        delta: f64,
        significance: f64,
    ) -> f64 {
        self.find(flawless, choice, delta, significance).epsilon
    }

    /// Whether what it [finds](Self::find) is above `epsilon`.
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

/// What an estimator found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The epsilon.
    pub epsilon: f64,
    /// The threshold whose errors show it.
    pub threshold: f64,
    /// The trials that it was counted on.
    pub(crate) counted: Trials,
}

/// The tail in which a rank was fixed in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Ranks among the scores `Out`, from the highest down: few false positives.
    Upper,
    /// Ranks among the scores `In`, from the lowest up: few false negatives.
    Lower,
    /// Ranks among all scores together, from the highest down: few guesses.
    Together,
}

/// An estimator that needs nothing but the errors at one threshold.
///
/// # Law
/// [`epsilon`](ErrorEstimator::epsilon) never grows when `false_positives` or `false_negatives` grow and the rest stays,
/// apart from rounding. The search for the best threshold relies on it.
pub trait ErrorEstimator: Sync {
    /// The name on the command line and in JSON.
    fn name(&self) -> &'static str;

    /// What is proven of it.
    fn guarantee(&self) -> Guarantee;

    /// The epsilon that the counts show at `delta`; at least 0.
    fn epsilon(&self, counts: &ErrorCounts, delta: f64, significance: f64) -> f64;

    /// Whose epsilon chooses the threshold of hold-out and max: this estimator's own, or that of a cheaper one that
    /// likes the same thresholds.
    fn chooser(&self) -> Option<&dyn ErrorEstimator> {
        None
    }

    /// The tails in which a band fixes its thresholds.
    fn sides(&self) -> &'static [Side] {
        &[Side::Upper, Side::Lower]
    }

    /// The epsilon at a threshold with fewer than `rank` errors of one kind, the rank having been fixed in advance; `floor` if that is
    /// not above it.
    ///
    /// The rate of those errors lies stochastically below Beta(rank, n - rank + 1) (see `band.rs`), which is what rank - 1
    /// errors at a fixed threshold would say by Clopper and Pearson: that count stands for the one observed.
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

    /// What [`epsilon_at_rank`](Self::epsilon_at_rank) cannot exceed, if there is a cheaper way to tell.
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
            // The theorem is not stated for numbers of guesses that depend on other canaries, nor for worlds cut to one size, which is
            // what a look of a confidence sequence has.
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
        // Whichever threshold is chosen, no errors at it are the fewest.
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

/// All estimators.
pub static ESTIMATORS: [&dyn Estimator; 9] =
    [&ClopperPearson, &Jeffreys, &JointBayesian, &LogKatz, &Gdp, &Divergence, &OneRun, &OneRunFdp, &Raw];

/// Those that need nothing but the errors at one threshold.
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
/// Decreases in both rates. A numerator that is not positive shows nothing; a positive one over 0 is infinite.
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
