//! Estimates of epsilon from scores of any source.

use crate::request::{self, EstimateRequest};
use crate::{Judged, TestedCurve, TradeOff, Verdict};
use misdeal_statistics::{Descriptive, EpsilonEstimate, EstimatorName, ScoreHistogram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Scores turned into an epsilon, by one estimator or by all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimation {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<EstimateRequest>,
    /// The file with the scores of runs with the target; absent for scores from memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores_in: Option<String>,
    /// The file with those of runs without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores_out: Option<String>,
    /// The one file with the scores of both, if they were in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<String>,
    /// The one estimate that was asked for.
    #[serde(flatten)]
    pub estimate: Option<EpsilonEstimate>,
    /// Whether the caller stated that fair coins chose the worlds.
    #[serde(default)]
    pub fair_coins: bool,
    /// All estimates by name, if all were asked for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimates: BTreeMap<EstimatorName, EpsilonEstimate>,
    /// The claim that was tested.
    pub claimed_epsilon: Option<f64>,
    /// Whether a valid bound exceeds the claim; null without a claim or with all estimators.
    #[serde(default)]
    pub violated: Option<bool>,
    /// Whether the estimate exceeds the claim, valid or not; null without a claim or with all estimators.
    #[serde(default)]
    pub estimate_exceeds_claim: Option<bool>,
    /// How well the scores tell the worlds apart, if all estimators were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descriptive: Option<Descriptive>,
    /// What looks odd about the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// All scores in a few cells; absent without scores.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::histogram::whole")]
    pub score_histogram: Option<ScoreHistogram>,
    /// The whole trade-off curve beside those that are promised, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOff>,
    /// The test of the curve that was claimed by name or by its points, from right guesses and a bet; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<TestedCurve>,
    /// Time from scores in memory to epsilon.
    pub seconds: f64,
}

impl Estimation {
    /// Returns a title that names the files of the scores.
    pub fn title(&self) -> String {
        match (&self.scores_in, &self.scores_out) {
            (Some(scores_in), Some(scores_out)) => format!("{scores_in} beside {scores_out}"),
            _ if self.scores.is_some() => self.scores.clone().unwrap_or_default(),
            _ => "scores from memory".into(),
        }
    }

    /// Returns the estimate that is compared with the claim.
    ///
    /// This is the requested estimate. If all were requested, it is `one-run` with fair coins and `clopper-pearson` without.
    pub fn counted(&self) -> Option<&EpsilonEstimate> {
        let name = if self.fair_coins { EstimatorName::OneRun } else { EstimatorName::ClopperPearson };
        self.estimate.as_ref().or_else(|| self.estimates.get(&name))
    }

    /// Compares an estimate with the claim.
    pub fn judged(&self, estimate: &EpsilonEstimate) -> Judged {
        let judged = Judged::of(estimate, self.claimed_epsilon);
        let one_run = matches!(estimate.estimator, EstimatorName::OneRun | EstimatorName::OneRunFdp);
        let remedy = match (self.fair_coins, one_run) {
            // The canaries of one training are not independent: what counts independent runs bounds nothing.
            (true, _) => "the estimator one-run and the threshold choice band",
            (false, true) => {
                "--fair-coins, the estimator one-run and the threshold choice band if a fair coin of its own included each canary, or else \
                 with the estimator clopper-pearson"
            }
            (false, false) => return judged,
        };
        Judged { remedy, ..judged }
    }

    /// Returns the verdict on the claim.
    pub fn verdict(&self) -> Verdict {
        self.counted().map_or_else(Verdict::default, |one| self.judged(one).verdict(None, [None, None]))
    }
}
