//! From scores to epsilon: choose a threshold, count its errors, bound the leakage that they show.

use crate::threshold_choice::Trials;
use crate::{
    Descriptive, ErrorCounts, ErrorEstimator, Estimator, EstimatorName, Evidence, Figure, Finding, Guarantee,
    Raw, ThresholdChoice,
};
use misdeal_core::{ClosedSet, Error, OrInfinite, Result, ScoreStore, check_finite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An epsilon from error counts, with what is proven of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpsilonEstimate {
    /// How scores became an epsilon.
    pub estimator: EstimatorName,
    /// How the threshold was chosen.
    pub threshold_choice: ThresholdChoice,
    /// Whether `empirical_epsilon` exceeds the true epsilon with probability at most `significance`, proven for any mechanism.
    pub valid: bool,
    /// What the estimate is worth, in a sentence.
    pub guarantee: String,
    /// What is proven of it, in a word.
    pub guarantee_kind: Guarantee,
    /// Why nothing is proven, where something about the scores or the run rules it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
    /// The estimate. If `valid`, a lower bound: it errs downwards. Null if infinite, which a valid bound never is.
    pub empirical_epsilon: OrInfinite,
    /// The same from the observed rates as they are, with no confidence in either direction; null if infinite.
    pub raw_epsilon: OrInfinite,
    /// What as many scores would show if not one were mistaken: none can show more; null if infinite.
    #[serde(default)]
    pub largest_epsilon: OrInfinite,
    /// Scores from here on are taken for runs with the target; null where the best is to take all for runs without it.
    pub threshold: OrInfinite,
    /// Counted scores `Out` at or above the threshold.
    pub false_positives: u64,
    /// Counted scores `In` below the threshold.
    pub false_negatives: u64,
    /// The scores of either world that the errors are counted among; null if the worlds differ in it.
    pub observations_per_world: Option<u64>,
    /// The scores `In` that the false negatives are counted among.
    pub observations_in: u64,
    /// The scores `Out` that the false positives are counted among.
    pub observations_out: u64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The level of the confidence bound.
    pub significance: f64,
}

impl EpsilonEstimate {
    /// Says that nothing is proven of the estimate, for this reason.
    pub fn refuse(&mut self, reason: String) {
        self.valid = false;
        self.guarantee = format!("none: {reason}");
        self.guarantee_kind = Guarantee::Nothing;
        self.objection = Some(reason);
    }

    /// Whether it is a bound under an assumption only, which the guarantee names.
    pub fn is_conditional(&self) -> bool {
        !self.valid && self.promises()
    }

    /// Whether anything is proven of it, if only under an assumption.
    pub fn promises(&self) -> bool {
        self.guarantee_kind != Guarantee::Nothing
    }

    /// Whether a valid bound exceeds the claim.
    pub fn violates(&self, claimed_epsilon: f64) -> bool {
        self.valid && self.exceeds(claimed_epsilon)
    }

    /// Whether the estimate exceeds the claim, valid or not; by itself this accuses nobody.
    pub fn exceeds(&self, claimed_epsilon: f64) -> bool {
        self.empirical_epsilon > claimed_epsilon
    }
}

/// The epsilon that a store's scores show.
///
/// In a store of counts thresholds are edges of the grid, which can only make the estimate smaller.
///
/// # Errors
/// `delta` outside [0, 1), `significance` outside (0, 0.5], or fewer than two scores to choose by or to count.
pub fn estimate(
    store: &ScoreStore,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate> {
    from_evidence(&Evidence::of_store(store), choice, estimator, delta, significance)
}

/// How well a store's scores tell the worlds apart.
///
/// # Errors
/// Fewer than two scores in a world.
pub fn describe(store: &ScoreStore) -> Result<Descriptive> {
    let evidence = Evidence::of_store(store);
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(Descriptive::of(&evidence))
}

/// The epsilon that scores from anywhere show; their indices stand for trials, the first being even.
///
/// The exact maximum over all thresholds (the paper's Algorithm 1) on the scores that choose.
///
/// ```
/// use misdeal_statistics::{ClopperPearson, ThresholdChoice, from_scores};
/// let (scores_in, scores_out): (Vec<_>, Vec<_>) = (0..1000).map(|i| (f64::from(i), f64::from(i) - 900.0)).unzip();
/// let estimate = from_scores(&scores_in, &scores_out, ThresholdChoice::HoldOut, &ClopperPearson, 1e-5, 0.05)?;
/// assert!(estimate.valid && estimate.empirical_epsilon > 4.0);
/// assert_eq!(estimate.observations_per_world, Some(500));
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// As [`estimate`], and scores that are not finite.
pub fn from_scores(
    scores_in: &[f64],
    scores_out: &[f64],
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate> {
    from_evidence(&finite(scores_in, scores_out)?, choice, estimator, delta, significance)
}

/// As [`from_scores`], of canaries each of which was included in one training by a fair coin of its own.
///
/// Bounds of one-run estimators rest on these coins. Scores cannot show that they were tossed, so the caller states it. Other estimators
/// count independent runs, which the canaries of one training are not: their estimates are not valid here.
///
/// # Errors
/// As [`from_scores`], and numbers of scores that fair coins give with a probability below 1e-9.
pub fn from_coin_scores(
    scores_in: &[f64],
    scores_out: &[f64],
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate> {
    let evidence = finite(scores_in, scores_out)?.with_fair_coins(true);
    check_split(scores_in.len() as u64, scores_out.len() as u64)?;
    let mut estimate = from_evidence(&evidence, choice, estimator, delta, significance)?;
    if !matches!(estimator.guarantee(), Guarantee::FairCoins | Guarantee::FairCoinsGaussian) {
        let reason = "canaries that share a training are not independent; use --estimator one-run";
        estimate.refuse(reason.to_owned());
    }
    Ok(estimate)
}

/// Refuses a split of canaries that fair coins do not give.
///
/// By Hoeffding's inequality n fair coins are further than t from n/2 heads with probability at most 2 exp(-2 t^2 / n).
fn check_split(included: u64, left_out: u64) -> Result<()> {
    let (included, left_out) = (included as f64, left_out as f64);
    let away = 0.5 * (included - left_out);
    if 2.0 * libm::exp(-2.0 * away * away / (included + left_out)) >= 1e-9 {
        return Ok(());
    }
    let value = format!("stated for {included} canaries included and {left_out} left out");
    let allowed = "a split that fair coins give with a probability above 1e-9";
    let hint = "give the scores of all canaries, or leave it out where the worlds were not drawn by coins";
    Err(Error::bad_value("fair_coins", value, allowed, hint))
}

/// Scores from anywhere, if all are finite.
pub(crate) fn finite<'a>(scores_in: &'a [f64], scores_out: &'a [f64]) -> Result<Evidence<'a>> {
    check_finite("scores_in", 0, scores_in)?;
    check_finite("scores_out", 0, scores_out)?;
    Ok(Evidence::of_scores(scores_in, scores_out))
}

/// How well scores from anywhere tell the worlds apart.
///
/// # Errors
/// Scores that are not finite, or fewer than two in a world.
pub fn describe_scores(scores_in: &[f64], scores_out: &[f64]) -> Result<Descriptive> {
    let evidence = finite(scores_in, scores_out)?;
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(Descriptive::of(&evidence))
}

/// The area under the receiver operating characteristic of scores from anywhere, if it is below 1/2 and so is all of its 95 % interval:
/// then scores look reversed, because larger ones must mean that the target was present.
///
/// # Errors
/// Scores that are not finite, or fewer than two in a world.
pub fn reversed_auroc(scores_in: &[f64], scores_out: &[f64]) -> Result<Option<Figure>> {
    let evidence = finite(scores_in, scores_out)?;
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(crate::descriptive::reversed(&evidence.fine_cells()))
}

/// Refuses a delta or a significance that makes no sense.
///
/// # Errors
/// `delta` outside [0, 1), or `significance` outside (0, 0.5]: what is more likely wrong than right refutes nothing.
pub fn check_levels(delta: f64, significance: f64) -> Result<()> {
    if !(0.0..1.0).contains(&delta) {
        let hint = "it is the probability with which the guarantee may fail, say 1e-5";
        return Err(Error::bad_value("delta", delta, "a number from 0 to below 1", hint));
    }
    if significance.is_nan() || significance <= 0.0 || significance > 0.5 {
        let hint = "it is the probability of a wrong bound: 0.05 gives bounds that hold with 95 % confidence";
        return Err(Error::bad_value("significance", significance, "a number above 0 and up to 0.5", hint));
    }
    Ok(())
}

pub(crate) fn from_evidence(
    evidence: &Evidence<'_>,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate> {
    let (evidence, level) = at_level(evidence, choice, delta, significance)?;
    let Finding { epsilon, threshold, counted } = estimator.find(&evidence, choice, delta, level);
    let counts = evidence.errors(counted, threshold);
    let ErrorCounts { false_positives, false_negatives, observations_in, observations_out } = counts;
    Ok(EpsilonEstimate {
        estimator: EstimatorName::from_name(estimator.name())?,
        threshold_choice: choice,
        valid: estimator.is_valid(choice, &evidence),
        guarantee: estimator.guarantee().sentence(choice, estimator.chooses_a_threshold(), significance),
        guarantee_kind: estimator.guarantee().at(choice, estimator.chooses_a_threshold()),
        objection: None,
        empirical_epsilon: epsilon.into(),
        raw_epsilon: Raw.epsilon(&counts, delta, significance).into(),
        largest_epsilon: crate::flawless::largest_of(&evidence, choice, estimator, delta, level),
        threshold: threshold.into(),
        false_positives,
        false_negatives,
        observations_per_world: (observations_in == observations_out).then_some(observations_in),
        observations_in,
        observations_out,
        delta,
        significance,
    })
}

/// The evidence that counts under a threshold choice, and the level that it may spend.
///
/// # Errors
/// As [`estimate`].
pub(crate) fn at_level<'a>(
    evidence: &'a Evidence<'_>,
    choice: ThresholdChoice,
    delta: f64,
    significance: f64,
) -> Result<(Evidence<'a>, f64)> {
    check_levels(delta, significance)?;
    check_enough(evidence, choice)?;
    if choice == ThresholdChoice::Sequential {
        let (evidence, look) = evidence.at_last_look()?;
        return Ok((evidence, significance * look.share()));
    }
    Ok((evidence.borrowed(), significance))
}

/// # Errors
/// Fewer than two scores to choose by or to count.
pub(crate) fn check_enough(evidence: &Evidence<'_>, choice: ThresholdChoice) -> Result<()> {
    let (needed, allowed, hint) = match choice {
        ThresholdChoice::HoldOut => (
            &[Trials::Even, Trials::Odd][..],
            "at least 2 even and 2 odd trials per world",
            "hold-out chooses on even trials and counts odd ones",
        ),
        _ => (&[Trials::All][..], "at least 2 trials per world", "play more trials"),
    };
    for &trials in needed {
        let fewest = evidence.observations(trials).into_iter().min().unwrap_or(0);
        if fewest < 2 {
            return Err(Error::bad_value("observations_per_world", fewest, allowed, hint));
        }
    }
    Ok(())
}
