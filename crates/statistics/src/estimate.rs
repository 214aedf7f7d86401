//! From scores to epsilon: choose a threshold, count its errors and bound the leakage.

use crate::threshold_choice::Trials;
use crate::{
    Descriptive, ErrorCounts, ErrorEstimator, Estimator, EstimatorName, Evidence, Figure, Finding, Guarantee,
    Raw, ThresholdChoice,
};
use misdeal_core::{ClosedSet, Error, OrInfinite, Result, ScoreStore, check_finite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An epsilon from error counts, with its guarantee.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EpsilonEstimate {
    /// The method that turned the scores into an epsilon.
    pub estimator: EstimatorName,
    /// The rule that chose the threshold.
    pub threshold_choice: ThresholdChoice,
    /// Whether it is proven, for any mechanism, that `empirical_epsilon` exceeds the true epsilon with probability at
    /// most `significance`.
    pub valid: bool,
    /// The guarantee in one sentence.
    pub guarantee: String,
    /// The kind of guarantee.
    pub guarantee_kind: Guarantee,
    /// The reason why nothing is proven, if the scores or the run rule it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objection: Option<String>,
    /// The estimate; null if infinite. If `valid`, it is a lower bound, which errs downwards and is never infinite.
    pub empirical_epsilon: OrInfinite,
    /// The epsilon of the observed rates, with no confidence in either direction; null if infinite.
    pub raw_epsilon: OrInfinite,
    /// The largest epsilon that this many scores could show if none were misclassified; null if infinite.
    #[serde(default)]
    pub largest_epsilon: OrInfinite,
    /// Scores at or above this value count as runs with the target; null if no score should.
    pub threshold: OrInfinite,
    /// The number of counted scores `Out` at or above the threshold.
    pub false_positives: u64,
    /// The number of counted scores `In` below the threshold.
    pub false_negatives: u64,
    /// The number of counted scores in each world; null if the worlds have different numbers.
    pub observations_per_world: Option<u64>,
    /// The number of counted scores `In`.
    pub observations_in: u64,
    /// The number of counted scores `Out`.
    pub observations_out: u64,
    /// The delta that belongs to epsilon.
    pub delta: f64,
    /// The significance level of the confidence bound.
    pub significance: f64,
}

impl EpsilonEstimate {
    /// Marks the estimate as not valid, with the reason.
    pub fn refuse(&mut self, reason: String) {
        self.valid = false;
        self.guarantee = format!("none: {reason}");
        self.guarantee_kind = Guarantee::Nothing;
        self.objection = Some(reason);
    }

    /// Whether the estimate is a bound only under an assumption, which the guarantee names.
    pub fn is_conditional(&self) -> bool {
        !self.valid && self.promises()
    }

    /// Whether anything is proven about the estimate, possibly under an assumption.
    pub fn promises(&self) -> bool {
        self.guarantee_kind != Guarantee::Nothing
    }

    /// Whether a valid bound exceeds the claim.
    pub fn violates(&self, claimed_epsilon: f64) -> bool {
        self.valid && self.exceeds(claimed_epsilon)
    }

    /// Whether the estimate exceeds the claim, valid or not. This alone does not refute the claim.
    pub fn exceeds(&self, claimed_epsilon: f64) -> bool {
        self.empirical_epsilon > claimed_epsilon
    }
}

/// The epsilon that a store's scores show.
///
/// For a store of counts, thresholds are edges of the grid. This can only make the estimate smaller.
///
/// # Errors
/// `delta` outside [0, 1), `significance` outside (0, 0.5], or fewer than two scores to choose the threshold or to
/// count.
pub fn estimate(
    store: &ScoreStore,
    choice: ThresholdChoice,
    estimator: &dyn Estimator,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate> {
    from_evidence(&Evidence::of_store(store), choice, estimator, delta, significance)
}

/// Figures that say how well a store's scores separate the worlds.
///
/// # Errors
/// Fewer than two scores in a world.
pub fn describe(store: &ScoreStore) -> Result<Descriptive> {
    let evidence = Evidence::of_store(store);
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(Descriptive::of(&evidence))
}

/// The epsilon that any scores show. Their indices serve as trial numbers, and the first is even.
///
/// It uses the exact maximum over all thresholds (the paper's Algorithm 1) on the scores that choose the threshold.
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
/// The errors of [`estimate`], and scores that are not finite.
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

/// The epsilon of canaries that independent fair coins included in one training.
///
/// It works as [`from_scores`].
///
/// Bounds of one-run estimators rely on these coins. Scores cannot show that coins were used, so the caller states it.
/// Other estimators count independent runs. The canaries of one training are not independent runs, so those estimates
/// are not valid here.
///
/// # Errors
/// The errors of [`from_scores`], and numbers of scores that fair coins give with a probability below 1e-9.
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

/// Refuses a split of canaries that is too unlikely for fair coins.
///
/// By Hoeffding's inequality, n fair coins differ from n/2 heads by more than t with probability at most 2 exp(-2 t^2 /
/// n).
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

/// The evidence of any scores, if all are finite.
pub(crate) fn finite<'a>(scores_in: &'a [f64], scores_out: &'a [f64]) -> Result<Evidence<'a>> {
    check_finite("scores_in", 0, scores_in)?;
    check_finite("scores_out", 0, scores_out)?;
    Ok(Evidence::of_scores(scores_in, scores_out))
}

/// Figures that say how well any scores separate the worlds.
///
/// # Errors
/// Scores that are not finite, or fewer than two in a world.
pub fn describe_scores(scores_in: &[f64], scores_out: &[f64]) -> Result<Descriptive> {
    let evidence = finite(scores_in, scores_out)?;
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(Descriptive::of(&evidence))
}

/// The area under the receiver operating characteristic, if the scores look reversed.
///
/// This is the case if the area and its whole 95 % interval are below 1/2. Larger scores must mean that the target was
/// present.
///
/// # Errors
/// Scores that are not finite, or fewer than two in a world.
pub fn reversed_auroc(scores_in: &[f64], scores_out: &[f64]) -> Result<Option<Figure>> {
    let evidence = finite(scores_in, scores_out)?;
    check_enough(&evidence, ThresholdChoice::Max)?;
    Ok(crate::descriptive::reversed(&evidence.fine_cells()))
}

/// Refuses a delta or a significance outside its range.
///
/// # Errors
/// `delta` outside [0, 1), or `significance` outside (0, 0.5]. A bound that is more likely wrong than right refutes
/// nothing.
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

/// The evidence that a threshold choice uses, and the significance level that it may spend.
///
/// # Errors
/// The errors of [`estimate`].
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
/// Fewer than two scores to choose the threshold or to count.
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
