//! [`Audit`]: the result of an audit.

use crate::request::{self, AuditMechanismRequest, AuditRequest};
use crate::{EngineUsed, Judged, Theory, TradeOff, Verdict, VerdictKind};
use misdeal_core::{Independence, OrInfinite, Recipe, Setting, Spread, StoreKind};
use misdeal_statistics::{Descriptive, EpsilonEstimate, ScoreHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An audit of the batched Gaussian mechanism, which is also what `misdeal` alone gives, or of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    #[schemars(with = "Option<AuditMechanismRequest>")]
    pub request: Option<AuditRequest>,
    /// What was audited.
    pub setting: Setting,
    /// Observations in both worlds together, half in each.
    pub observations: u64,
    /// Whether the run ended before all observations were made, because its stopping rule was met.
    #[serde(default)]
    pub stopped_early: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// What the scores show.
    #[serde(flatten)]
    pub estimate: EpsilonEstimate,
    /// What they show by another analysis, for whoever re-runs the paper; no document has it.
    #[serde(skip)]
    pub second_estimate: Option<EpsilonEstimate>,
    /// How well the scores tell the worlds apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptive: Option<Descriptive>,
    /// All scores in a few cells; absent without scores.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::histogram::whole")]
    pub score_histogram: Option<ScoreHistogram>,
    /// The claim that was tested; the upper bound for Poisson sampling if none was given.
    pub claimed_epsilon: Option<f64>,
    /// Whether a valid bound exceeds the claim; null without a claim.
    #[serde(default)]
    pub violated: Option<bool>,
    /// Whether the estimate exceeds the claim, valid or not; null without a claim. By itself it refutes nothing.
    #[serde(default)]
    pub estimate_exceeds_claim: Option<bool>,
    /// Records that fill no batch of an epoch and are dropped, if the size of the data set was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unused_records: Option<u64>,
    /// What theory says at the same setting, by scheme.
    pub theory: Theory,
    /// The whole trade-off curve beside those that are promised, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOff>,
    /// What was kept of a score.
    pub scores: StoreKind,
    /// The engine that computed the scores.
    pub engine: EngineUsed,
    /// The random stream of the trials, without which the same seed gives other ones; absent in documents of version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
    /// Time from the first draw to epsilon.
    pub seconds: f64,
    /// Observations of this run, each second.
    pub observations_per_second: f64,
    /// Where the scores were saved, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// The guesses of an adversary that does not know the buffer, if it was to guess.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_search: Option<BufferSearch>,
    /// What was trained; none for the mechanism.
    #[serde(flatten)]
    #[schemars(skip)]
    pub training: Option<Training>,
}

impl Audit {
    /// Whether the claim is the epsilon that Poisson sampling would justify.
    pub fn claims_poisson(&self) -> bool {
        self.claimed_epsilon.is_some() && self.claimed_epsilon == self.theory.poisson_upper_bound()
    }

    /// Compares the estimate with the claim.
    pub fn judged(&self) -> Judged {
        Judged::of(&self.estimate, self.claimed_epsilon)
    }

    /// Returns the verdict on the claim, from this audit and from theory.
    pub fn verdict(&self) -> Verdict {
        let scheme = self.setting.scheme;
        self.judged().verdict(Some(scheme), self.theory.sides(scheme))
    }

    /// Whether a valid bound refutes the claim, from the audit or from theory.
    pub fn refutes_the_claim(&self) -> bool {
        self.verdict().kind == VerdictKind::Refuted
    }
}

/// How an adversary that does not know the buffer corrects for its guesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Levels of all possible guesses add up to the significance: the largest bound is valid.
    Bonferroni,
    /// Every guess at the full level and the largest taken, as the paper does: not a valid bound.
    None,
}

/// What an adversary that does not know the buffer tried, and what it found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BufferSearch {
    /// The guess with the largest bound.
    pub buffer_size: u64,
    /// How the level was corrected for the number of guesses.
    pub correction: Correction,
    /// The same in a sentence.
    pub meaning: String,
    /// The guesses, in the order in which they were made.
    pub guesses: Vec<Guess>,
}

/// One guess of the buffer's size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Guess {
    /// Records in the buffer.
    pub buffer_size: u64,
    /// Batches that they fill.
    pub batches: u64,
    /// Whether the guess is one of the paper's or was found by bisection.
    pub is_from_the_paper: bool,
    /// The level of its bound.
    pub significance: f64,
    /// What its scores show; null if infinite.
    pub empirical_epsilon: OrInfinite,
    /// The same from the observed rates as they are; null if infinite.
    pub raw_epsilon: OrInfinite,
    /// The threshold on its scores; null if infinite.
    pub threshold: OrInfinite,
}

/// What was trained, and what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Training {
    /// The data set.
    pub dataset: String,
    /// Records that are trained on.
    pub dataset_size: u64,
    /// The model.
    pub model: String,
    /// Its parameters.
    pub parameters: u64,
    /// Model, learning rate, clipping norm and canaries.
    pub recipe: Recipe,
    /// What proves that the scores of all canaries are independent; null where nothing does, and then `valid` is false. Absent in
    /// documents of earlier versions.
    #[serde(default)]
    pub independence: Option<Independence>,
    /// The epsilon that the noise was calibrated to, as if batches were drawn by Poisson sampling.
    pub target_epsilon: Option<f64>,
    /// Models trained in this run, each second.
    pub models_per_second: f64,
    /// Floating-point operations of the layers of one model's training, in units of 10^9.
    #[serde(default)]
    pub gigaflop_per_model: f64,
    /// Working memory of each core in bytes, were processors to train; the data set is shared.
    #[serde(default)]
    pub workspace_bytes: u64,
    /// The share of training records classified correctly, over the models behind the scores, earlier ones of a resumed store
    /// included; of some trials only, where there are many.
    pub train_accuracy: Option<Spread>,
    /// The share of test records; null without test data.
    pub test_accuracy: Option<Spread>,
    /// The natural records' part in the adversary's outputs, over steps and models, in units of the clipping norm.
    pub bias: Option<Spread>,
}
