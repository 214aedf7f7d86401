//! [`Reproduction`]: the paper's printed numbers beside ours.

use crate::request::{self, ReproduceRequest};
use crate::{EngineUsed, Theory, Tone, TradeOff, Verdict, VerdictKind};
use misdeal_core::{Bounds, ClosedSet, Precision, Setting, Spread, ThreatModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name in `reproduce` of experiments that go beyond the paper.
const PAST_THE_PAPER: &str = "beyond";

/// Printed numbers beside ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<ReproduceRequest>,
    /// What was asked for.
    pub name: String,
    /// The seed of the first run.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Whether fewer observations were played than in the paper.
    pub quick: bool,
    /// What the names of the rows that were played contain, if not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Runs that means were to be taken over, if not those of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
    /// Observations that a run was to have at most, if not those of the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observations: Option<u64>,
    /// The arithmetic that trainings on a CUDA device were to have, if not f32.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
    /// What each table or figure shows, and what to know about it.
    pub artefacts: Vec<Heading>,
    /// The numbers, in the order of the paper.
    pub rows: Vec<Reproduced>,
    /// What drawings show, made again.
    #[serde(default)]
    pub deals: Vec<Dealt>,
    /// Time for all of them.
    pub seconds: f64,
}

/// What a table or a figure is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Heading {
    /// Its name on the command line.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What a reader should know.
    pub remarks: Vec<String>,
    /// In how many settings more is found than is claimed, where the rows are published settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub above_the_claim: Option<AboveTheClaim>,
}

/// In how many published settings more is found than Poisson sampling justifies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct AboveTheClaim {
    /// All that were played.
    #[serde(flatten)]
    pub all: AboveCount,
    /// The same by where the settings come from, for each kind among the rows.
    pub by_provenance: BTreeMap<Provenance, AboveCount>,
}

/// How many of some settings leak more than Poisson sampling with the same noise: more than the upper bound of its epsilon, which is
/// never too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AboveCount {
    /// Settings that were played.
    pub settings: u64,
    /// Those where theory's lower bound for the scheme that was played proves it.
    pub theory: u64,
    /// Those where a bound that holds as stated shows it.
    pub valid: u64,
    /// Those where the paper's estimate, which is not a valid bound, shows it.
    pub ours: u64,
}

/// How sure it is that a published setting is what its authors trained with. The files in `paper/` say `exact`, `derived` or `guess`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum Provenance {
    /// The paper prints it.
    #[serde(rename = "as printed", alias = "exact")]
    AsPrinted,
    /// It is a point of an assumed grid.
    #[serde(rename = "assumed", alias = "guess")]
    Assumed,
    /// The authors' public code has it, or it follows from that.
    #[serde(rename = "from public code", alias = "derived")]
    FromPublicCode,
}

impl Provenance {
    /// Returns the name in words, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::AsPrinted => "as printed",
            Provenance::Assumed => "assumed",
            Provenance::FromPublicCode => "from public code",
        }
    }
}

misdeal_core::closed_set! {
    "verdict",
    /// How our number stands to the printed one.
    #[schemars(inline)]
    pub enum Agreement {
        /// Within the tolerance.
        Reproduced,
        /// Larger by more than the tolerance.
        Exceeded,
        /// Smaller by more than the tolerance.
        Differs,
        /// Off by more than the tolerance, and from fewer observations than the paper's; or from so few runs that 0 is within the tolerance.
        #[serde(rename = "too few observations")]
        #[strum(serialize = "too few observations")]
        TooFewObservations,
        /// The data for it are missing.
        #[serde(rename = "not played")]
        #[strum(serialize = "not played")]
        NotPlayed,
    }
}

/// A printed number beside ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Reproduced {
    /// The table or figure.
    pub artefact: String,
    /// What was audited.
    pub name: String,
    /// Where the setting comes from, in a list of published ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What it is one point of, in a figure against the number of observations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The number in the paper; null where a figure shows none.
    #[serde(default)]
    pub printed: Option<f64>,
    /// Our mean over the runs of the same estimate, the maximum over all thresholds, which is not a valid bound; null where
    /// nothing was played.
    #[serde(default)]
    pub ours: Option<f64>,
    /// The standard deviation over the runs; null for one run.
    #[serde(default)]
    pub standard_deviation: Option<f64>,
    /// That estimate of every run, in the order of their seeds: a maximum's law has a long tail, which a mean and a deviation hide.
    #[serde(default)]
    pub estimates: Vec<f64>,
    /// The mean over the runs of a bound that holds as stated, from the same scores.
    #[serde(default)]
    pub valid_epsilon: Option<f64>,
    /// How far ours may lie from the print.
    #[serde(default)]
    pub tolerance: f64,
    /// Why that far.
    #[serde(default)]
    pub tolerance_reason: String,
    /// How ours stands to the print; null without a printed number.
    #[serde(default)]
    pub verdict: Option<Agreement>,
    /// Why ours differs, or was not played, where that is known; where it does not differ, what kept runs say of the print.
    #[serde(default)]
    pub reason: Option<String>,
    /// The claim in the paper.
    #[serde(default)]
    pub printed_claim: Option<f64>,
    /// What theory says at the same setting, by scheme.
    pub theory: Theory,
    /// What was played, in the first run; null where nothing was.
    #[serde(default)]
    pub setting: Option<Setting>,
    /// The delta of all epsilons.
    pub delta: f64,
    /// Observations of each run.
    pub observations: u64,
    /// Observations in the paper.
    #[serde(default)]
    pub printed_observations: Option<u64>,
    /// Runs that the mean is over.
    pub runs: u64,
    /// The data that models were trained on; made-up data in the place of others say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The share of test records classified correctly, in the first run of a training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<Spread>,
    /// The natural records' part in the adversary's outputs, in units of the clipping norm, in the first run of a training that has
    /// natural gradients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<Spread>,
    /// The curves of the first run, and what they refute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOff>,
    /// The engine that played; null where nothing was.
    #[serde(default)]
    pub engine: Option<EngineUsed>,
    /// Time for all runs.
    #[serde(default)]
    pub seconds: f64,
}

impl Reproduced {
    /// Returns theory's bounds for the scheme that was run.
    pub fn theory_of_the_scheme(&self) -> Option<&Bounds> {
        self.theory.get(&self.setting.as_ref()?.scheme.into())
    }

    /// Returns the adversary's threat model; `None` if nothing was run.
    pub fn threat_model(&self) -> Option<ThreatModel> {
        self.setting.as_ref().map(|setting| setting.threat_model)
    }

    /// Returns the epsilon that one could claim if batches were drawn by Poisson sampling.
    pub fn poisson_upper_bound(&self) -> Option<f64> {
        self.theory.poisson_upper_bound()
    }
}

/// A few epochs of a scheme on a small file, and what all epochs have in common.
///
/// Records are numbered by their place in the file, from 0. Every epoch is the first one of a trial of its own, so that all are
/// independent under every scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Dealt {
    /// The figure.
    pub artefact: String,
    /// What is dealt, in a few words.
    pub name: String,
    /// The scheme and its sizes; noise and threat model play no part.
    pub setting: Setting,
    /// The first epochs: each a list of batches, each a list of records.
    pub shown_epochs: Vec<Vec<Vec<u64>>>,
    /// Epochs that the shares below are counted over.
    pub epochs: u64,
    /// For each batch of an epoch, the share of the epochs that had the target in it.
    pub target_shares: Vec<f64>,
    /// For each record, the share of the epochs that had it in the target's batch; 1 for the target itself.
    pub company_shares: Vec<f64>,
}

impl Reproduction {
    /// Returns how many rows have a printed number.
    pub fn printed(&self) -> usize {
        self.rows.iter().filter(|row| row.printed.is_some()).count()
    }

    /// Counts the rows of each [`Agreement`], and leaves out empty kinds.
    pub fn counted(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let count = |kind| self.rows.iter().filter(|row| row.verdict == Some(kind)).count();
        let all = Agreement::all().iter().map(move |&kind| (kind.name(), count(kind)));
        all.filter(|&(_, rows)| rows > 0)
    }

    /// Says in a sentence how many printed numbers were reproduced, and how many were not.
    pub fn tally(&self) -> String {
        let counted = self.counted().map(|(kind, rows)| format!("{rows} {kind}")).collect::<Vec<_>>();
        format!("Of {}: {}.", printed_numbers(self.printed()), counted.join(", "))
    }

    /// Returns the verdict on how our numbers agree with the printed ones.
    pub fn verdict(&self) -> Verdict {
        if self.rows.is_empty() && !self.deals.is_empty() {
            let sentence = "The paper draws how records move; here the samplers of audits and trainings deal them again.";
            return neutral("Dealt again", sentence);
        }
        let printed = self.printed();
        if printed == 0 {
            return self.verdict_without_print();
        }
        let count = |kind| self.rows.iter().filter(|row| row.verdict == Some(kind)).count();
        let [reproduced, exceeded] = [Agreement::Reproduced, Agreement::Exceeded].map(count);
        let (tone, label) = match (reproduced, exceeded) {
            _ if count(Agreement::Differs) > 0 => (Tone::Doubt, "Some numbers differ"),
            _ if count(Agreement::NotPlayed) == printed => (Tone::Neutral, "Not played"),
            (0, 0) => (Tone::Neutral, "Too few observations to tell"),
            _ if reproduced + exceeded < printed => (Tone::Neutral, "Partly undecided"),
            (_, 0) => (Tone::Open, "Reproduced"),
            (0, _) => (Tone::Open, "Exceeded"),
            _ => (Tone::Open, "Reproduced or exceeded"),
        };
        let more = match self.rows.len() - printed {
            0 => String::new(),
            1 => " One more setting has no printed number.".into(),
            more => format!(" {more} more settings have no printed number."),
        };
        Verdict::new(VerdictKind::NoClaim, tone, label, format!("{}{more}", self.tally()))
    }

    fn verdict_without_print(&self) -> Verdict {
        if self.rows.iter().all(|row| row.artefact == PAST_THE_PAPER) {
            return neutral(
                "Past the paper",
                "The paper has nothing like this; what was found stands for itself.",
            );
        }
        match self.curves_refuted() {
            Some(curves) => neutral("Curves tested", &curves),
            None => neutral(
                "No numbers to compare",
                "The paper prints no numbers for these settings; what was found stands below.",
            ),
        }
    }

    /// Says in how many settings the tested curves refute each promised curve.
    ///
    /// Returns `None` if no curve was tested.
    fn curves_refuted(&self) -> Option<String> {
        let tests =
            self.rows.iter().filter_map(|row| row.trade_off.as_ref()).flat_map(|curves| &curves.promised);
        let mut promises: Vec<(&str, usize, usize)> = Vec::new();
        for (name, test) in tests.filter_map(|promise| Some((promise.name.as_str(), promise.test.as_ref()?)))
        {
            let refuted = usize::from(test.refuted);
            match promises.iter_mut().find(|(other, ..)| *other == name) {
                Some((_, tested, so_far)) => (*tested, *so_far) = (*tested + 1, *so_far + refuted),
                None => promises.push((name, 1, refuted)),
            }
        }
        let told = promises.iter().map(|(name, tested, refuted)| format!("{name} in {refuted} of {tested}"));
        let told = told.collect::<Vec<_>>().join(", ");
        (!told.is_empty()).then(|| format!("Refuted by whole curves, of what was promised: {told}."))
    }
}

fn neutral(label: &str, sentence: &str) -> Verdict {
    Verdict::new(VerdictKind::NoClaim, Tone::Neutral, label, sentence)
}

/// Formats a count of printed numbers: `2 printed numbers`.
pub fn printed_numbers(number: usize) -> String {
    format!("{number} printed number{}", if number == 1 { "" } else { "s" })
}
