//! [`Outputs`]: verdicts on outputs of the user's own training code.

use crate::judged::remedy;
use crate::numbers::{probability, rounded_down, significant};
use crate::{Coins, Judged, TestedCurve, Theory, Tone, Verdict, VerdictKind};
use misdeal_core::{OrInfinite, Setting};
use misdeal_statistics::EpsilonEstimate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

misdeal_core::closed_set! {
    "score",
    /// How the outputs of a run become one score.
    ///
    /// Any function of the outputs is a test that differential privacy limits, so that each of these gives a bound that holds, whatever
    /// the training does. They differ in the mistakes that they see.
    #[derive(PartialOrd, Ord)]
    pub enum OutputScore {
        /// The likelihood ratio of the mechanism as it should be: sees batches made otherwise than claimed, too little noise,
        /// gradients that were not clipped, and noise that is the same in every run.
        LikelihoodRatio,
        /// The largest output less the smallest: sees noise that is the same in every step of a run.
        Spread,
    }
}

/// The outputs of somebody's own training, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outputs {
    /// What was audited, as it is claimed to be.
    pub setting: Setting,
    /// Runs in both worlds together, or coins.
    pub observations: u64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The level of the whole verdict; each score spends its share.
    pub significance: f64,
    /// Whether `empirical_epsilon` is a lower bound at that level.
    pub valid: bool,
    /// The largest of the estimates; null if infinite.
    pub empirical_epsilon: OrInfinite,
    /// The score that shows it.
    pub score: OutputScore,
    /// What each score shows.
    pub estimates: BTreeMap<OutputScore, EpsilonEstimate>,
    /// The claim that was tested; the upper bound for Poisson sampling if none was given.
    pub claimed_epsilon: Option<f64>,
    /// Whether a valid bound exceeds the claim; null without a claim.
    #[serde(default)]
    pub violated: Option<bool>,
    /// Whether the estimate exceeds the claim, valid or not; null without a claim.
    #[serde(default)]
    pub estimate_exceeds_claim: Option<bool>,
    /// What theory says of the scheme, and of Poisson sampling.
    pub theory: Theory,
    /// What a coin for each canary shows.
    #[serde(flatten)]
    pub coins: Option<Coins>,
}

impl Outputs {
    /// Returns the estimate of the score with the largest epsilon.
    pub fn best(&self) -> Option<&EpsilonEstimate> {
        self.estimates.get(&self.score)
    }

    /// Compares the largest estimate with the claim.
    pub fn judged(&self) -> Judged {
        // Either score could have shown most.
        let largest = self.estimates.values().map(|one| *one.largest_epsilon).fold(0.0, f64::max);
        let is_conditional = !self.valid && self.best().is_some_and(EpsilonEstimate::promises);
        Judged {
            empirical_epsilon: *self.empirical_epsilon,
            valid: self.valid,
            is_conditional,
            remedy: remedy(is_conditional),
            objection: self.best().and_then(|best| best.objection.clone()),
            delta: self.delta,
            significance: self.significance,
            claimed_epsilon: self.claimed_epsilon,
            largest_epsilon: largest.into(),
        }
    }

    /// Returns theory's lower bound for the scheme, and no upper bound.
    ///
    /// The user's own code may leak more than its scheme, so no upper bound is known.
    pub fn theory_of_the_scheme(&self) -> [Option<f64>; 2] {
        [self.theory.sides(self.setting.scheme)[0], None]
    }

    /// Returns the verdict on the claim, from these outputs and from theory.
    ///
    /// If a whole curve is claimed, its test decides.
    pub fn verdict(&self) -> Verdict {
        let judged = self.judged();
        let by_epsilon = || judged.verdict(Some(self.setting.scheme), self.theory_of_the_scheme());
        let Some((coins, curve)) = self.tested_curve() else { return by_epsilon() };
        let guessed = coins.guessed();
        if curve.refuted {
            let sentence = format!("{guessed}, {}. {}", curve.evidence(), self.shown(&judged));
            return Verdict::new(VerdictKind::Refuted, Tone::Refuted, "Claim refuted", sentence);
        }
        let found = by_epsilon();
        if judged.refutes() {
            let sentence = format!("{guessed}, {}. {}", curve.evidence(), self.shown(&judged));
            return Verdict::new(VerdictKind::Undecided, Tone::Doubt, "Open", sentence);
        }
        let sentence = format!("{guessed}. {}", found.sentence);
        Verdict::new(found.kind, found.tone, &found.label, sentence)
    }

    /// Returns the coins and the test of the claimed curve, if one is claimed.
    fn tested_curve(&self) -> Option<(&Coins, &TestedCurve)> {
        let coins = self.coins.as_ref()?;
        coins.curve.as_ref().map(|curve| (coins, curve))
    }

    /// Says what leaks at the claimed delta.
    fn shown(&self, judged: &Judged) -> String {
        let claim = self
            .claimed_epsilon
            .map_or(String::new(), |claim| format!("; the claim there is {}", significant(claim)));
        format!(
            "At delta {} at least epsilon {} leaks, with {} confidence{claim}.",
            probability(self.delta),
            rounded_down(*self.empirical_epsilon),
            judged.confidence()
        )
    }
}
