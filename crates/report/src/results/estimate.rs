//! Epsilons from scores, and what else scores show.

use misdeal_results::Judged;
use misdeal_statistics::{ScoreHistogram, promises};
use serde::Deserialize;
use std::collections::BTreeMap;

/// One estimate; what is infinite is absent.
#[derive(Debug, Clone, Deserialize)]
pub struct Estimate {
    pub estimator: String,
    pub threshold_choice: String,
    pub valid: bool,
    pub guarantee: String,
    #[serde(deserialize_with = "super::infinite_if_null")]
    pub empirical_epsilon: f64,
    pub raw_epsilon: Option<f64>,
    /// Absent from documents that were written before there was one, too.
    pub largest_epsilon: Option<f64>,
    pub threshold: Option<f64>,
    pub false_positives: u64,
    pub false_negatives: u64,
    pub observations_in: u64,
    pub observations_out: u64,
    pub delta: f64,
    pub significance: f64,
}

impl Estimate {
    /// An estimate by itself, which no command wrote.
    pub fn parse_bare(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Bare {
            command: Option<String>,
            #[serde(flatten)]
            estimate: Estimate,
        }
        let bare: Bare = serde_json::from_str(text).ok()?;
        bare.command.is_none().then_some(bare.estimate)
    }

    /// Whether it holds, but under an assumption only, which `guarantee` names.
    pub fn is_conditional(&self) -> bool {
        !self.valid && promises(&self.guarantee)
    }

    /// The estimate beside a claim.
    pub fn judged(&self, claimed_epsilon: Option<f64>) -> Judged {
        let &Estimate { empirical_epsilon, valid, delta, significance, largest_epsilon, .. } = self;
        let guarantee = self.guarantee.clone();
        Judged { empirical_epsilon, valid, guarantee, delta, significance, claimed_epsilon, largest_epsilon }
    }
}

/// What `estimate` wrote.
#[derive(Debug, Clone, Deserialize)]
pub struct Estimation {
    pub scores_in: Option<String>,
    pub scores_out: Option<String>,
    #[serde(flatten)]
    pub estimate: Option<Estimate>,
    #[serde(default)]
    pub estimates: BTreeMap<String, Estimate>,
    pub claimed_epsilon: Option<f64>,
    pub descriptive: Option<Describing>,
    pub remark: Option<String>,
    #[serde(default, deserialize_with = "super::histogram::whole")]
    pub score_histogram: Option<ScoreHistogram>,
    pub trade_off: Option<TradeOff>,
    pub seconds: f64,
}

impl Estimation {
    /// Whose scores they are.
    pub fn title(&self) -> String {
        match (&self.scores_in, &self.scores_out) {
            (Some(scores_in), Some(scores_out)) => format!("{scores_in} beside {scores_out}"),
            _ => "scores from memory".into(),
        }
    }
}

/// How well scores tell the worlds apart.
#[derive(Debug, Clone, Deserialize)]
pub struct Describing {
    pub auroc: Interval,
    pub true_positive_rates: Vec<RateAt>,
}

/// A value between two others.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Interval {
    pub value: f64,
    pub lower: f64,
    pub upper: f64,
}

/// A true-positive rate.
#[derive(Debug, Clone, Deserialize)]
pub struct RateAt {
    pub false_positive_rate: f64,
    #[serde(flatten)]
    pub rate: Interval,
}

/// Curves.
#[derive(Debug, Clone, Deserialize)]
pub struct TradeOff {
    pub observed: Observed,
    pub promised: Vec<Promised>,
    #[serde(default)]
    pub not_tested: Option<String>,
}

/// The observed curve.
#[derive(Debug, Clone, Deserialize)]
pub struct Observed {
    pub points: Vec<ObservedPoint>,
    pub significance: f64,
    pub observations_in: u64,
    pub observations_out: u64,
}

/// Both errors at one threshold, which is absent where it is infinite.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct ObservedPoint {
    pub threshold: Option<f64>,
    pub false_positive_rate: f64,
    pub false_negative_rate: f64,
    pub false_positive_rate_upper_bound: f64,
    pub false_negative_rate_upper_bound: f64,
}

/// A promised curve.
#[derive(Debug, Clone, Deserialize)]
pub struct Promised {
    pub name: String,
    pub false_positive_rates: Vec<f64>,
    pub false_negative_rates: Vec<f64>,
    pub test: Option<CurveTested>,
}

impl Promised {
    /// The curve's name, and what became of it if it was tested.
    pub fn legend(&self) -> String {
        match &self.test {
            Some(test) if test.refuted => format!("{}: refuted", self.name),
            Some(_) => format!("{}: not refuted", self.name),
            None => self.name.clone(),
        }
    }

    /// Its points: false-positive and false-negative rate.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> {
        self.false_positive_rates.iter().zip(&self.false_negative_rates).map(|(&x, &y)| [x, y])
    }
}

/// What became of a promise.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct CurveTested {
    pub p_value: f64,
    pub refuted: bool,
}
