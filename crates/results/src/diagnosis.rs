//! Diagnoses: which scheme made the batches of a log.

use crate::numbers::{rounded_down, significant};
use crate::request::{self, DiagnoseRequest};
use crate::{Theory, Tone, Verdict, VerdictKind};
use misdeal_core::{BoundMethod, ClosedSet, SchemeName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

misdeal_core::closed_set! {
    "scheme",
    /// What may have made the batches of a log.
    pub enum LoggedScheme {
        /// Every record joins every batch independently.
        Poisson,
        /// A fresh permutation in each epoch, cut into batches.
        Shuffle,
        /// One permutation for all epochs, cut into batches.
        ShuffleOnce,
        /// Blocks of consecutive records, each permuted, then cut into batches.
        PartialShuffle,
        /// A sliding buffer.
        StreamShuffle,
        /// Batches of consecutive records, in random order.
        BatchThenShuffle,
        /// Every record joins one batch of each epoch, chosen independently of the others.
        BallsInBins,
        /// Every batch is a fresh subset of fixed size.
        WithoutReplacement,
        /// File order, no randomness.
        FixedOrder,
        /// Balls in bins, drawn once for all epochs.
        BallsInBinsOnce,
        /// Poisson sampling whose batches are cut at a largest size.
        TruncatedPoisson,
        /// Poisson sampling from groups of records that take turns.
        CyclicPoisson,
        /// Every record joins the same number of batches of each epoch, chosen at random.
        Allocation,
        /// Every entry of a batch is drawn anew from all records.
        WithReplacement,
        /// Groups of records that always come in the same order, each shuffled.
        Staged,
        /// Records that are alike share batches.
        LengthGrouped,
        /// Shards of the file in random order, then a buffer.
        ShardsThenBuffer,
        /// None of these.
        Unknown,
    }
}

impl LoggedScheme {
    /// Returns the batch scheme, if misdeal can audit it.
    pub fn batch_scheme(self) -> Option<SchemeName> {
        SchemeName::from_name(self.name()).ok()
    }
}

misdeal_core::closed_set! {
    "defect",
    /// What no scheme is meant to do, by name.
    #[derive(PartialOrd, Ord)]
    pub enum DefectName {
        /// An epoch begins again before it ends.
        EpochRestarted,
        /// The log does not say where epochs end.
        EpochsNotMarked,
        /// Records are repeated to fill the last batches.
        PaddedWithDuplicates,
        /// Ranks of a distributed run have the same batches.
        RanksDealTheSameRecords,
        /// Ranks of a distributed run draw from the same seed: the same places of different shards.
        RanksShareSeed,
        /// Some batch has a record twice.
        RecordsTwiceInABatch,
        /// Records are counted from 1 instead of 0.
        RecordsCountedFromOne,
        /// Some records of an epoch are in none of its batches.
        RecordsDropped,
        /// Some records are in several batches of an epoch.
        RecordsDuplicated,
        /// Some records are in no batch of any epoch.
        RecordsNeverDealt,
        /// Epochs have the same order.
        SameOrderEveryEpoch,
        /// Epochs have the same order on all ranks of a distributed run.
        SetEpochForgotten,
        /// Workers of a loader give the same records.
        WorkersDealTheSameRecords,
    }
}

/// What a scheme needs to be told beside its name, as far as a log shows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SchemeParameters {
    /// Records in the buffer: the size under which the log is likeliest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
    /// The largest buffer that would have made so small displacements with probability 0.05 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_size_upper_bound: Option<u64>,
    /// Records that are read at once into a sliding buffer, where it is not one for each that leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refilled_by: Option<u64>,
    /// The share of the records that a batch holds on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_probability: Option<f64>,
    /// The largest batch, where larger ones are cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_batch: Option<u64>,
    /// Steps after which the same group of records has its turn again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle_length: Option<u64>,
    /// Batches of an epoch that each record joins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u64>,
    /// Whether the order of the first epoch serves all of them, in a scheme that should draw it anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_is_reused: Option<bool>,
}

/// One scheme held against a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Candidate {
    /// The scheme.
    pub scheme: LoggedScheme,
    /// The parameters under which the log is likeliest.
    pub parameters: SchemeParameters,
    /// ln of the probability of the log under the scheme, its parameters at their likeliest. Null where the scheme could
    /// never have made these batches, or where there is no formula.
    pub log_likelihood: Option<f64>,
    /// The probability, under the scheme, of a log that looks at least as unlike it: the smallest of several tests' p-values times
    /// their number. Zero where the scheme could never have made these batches.
    pub p_value: f64,
    /// What speaks against the scheme, or how well it fits.
    pub evidence: String,
}

impl Candidate {
    /// Creates a candidate that could never have made these batches; `evidence` says why.
    pub fn impossible(scheme: LoggedScheme, evidence: impl Into<String>) -> Self {
        let parameters = SchemeParameters::default();
        Candidate { scheme, parameters, log_likelihood: None, p_value: 0.0, evidence: evidence.into() }
    }
}

/// Something that no scheme is meant to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Defect {
    /// Its name.
    pub defect: DefectName,
    /// Records that it touches, in the epoch where they are most.
    pub records: u64,
    /// What was seen and what it means, in a sentence.
    pub message: String,
}

/// Where records of a log were dealt: at most some thousands of them, evenly spread over the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PositionSample {
    /// Records in the file.
    pub dataset_size: u64,
    /// Entries in an epoch, in the longest one.
    pub epoch_length: u64,
    /// The epochs shown.
    pub epochs: Vec<EpochPositions>,
}

/// Where some records were dealt in one epoch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct EpochPositions {
    /// The epoch's number in the log.
    pub epoch: u64,
    /// For each record its position in the file and its position in the epoch.
    pub points: Vec<[u64; 2]>,
}

/// Which scheme made a log's batches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// The likeliest scheme, or `unknown` if its tests rule it out.
    pub scheme: LoggedScheme,
    /// Its parameters.
    pub parameters: SchemeParameters,
    /// Whether every other scheme that misdeal knows is ruled out; for `unknown`, whether the tests rule every scheme out. A sliding buffer of nine tenths of
    /// the records or more counts as a full shuffle.
    pub certain: bool,
    /// What was found, in plain words.
    pub explanation: String,
    /// Likely causes and next steps, where no scheme fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// The epochs that speak most against the schemes, by their numbers in the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub epochs_concerned: Vec<u64>,
    /// All schemes, the likeliest first.
    pub candidates: Vec<Candidate>,
    /// What no scheme is meant to do.
    pub defects: Vec<Defect>,
    /// What the reader of the log noticed or left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What a log of batches tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosed {
    /// What was asked for; absent in older documents, and where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<DiagnoseRequest>,
    /// The file.
    pub log: String,
    /// Records in the data set.
    pub dataset_size: u64,
    /// Epochs in the log.
    pub epochs: u64,
    /// Steps of an epoch, in the longest one.
    pub steps_per_epoch: u64,
    /// Records of a step, in the largest one.
    pub batch_size: u64,
    /// Processes of a distributed run.
    pub ranks: u64,
    /// The scheme.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// What leaks under it, at the noise that was given.
    #[serde(default)]
    pub leakage: Option<Leakage>,
    /// What theory says of a full shuffle and of Poisson sampling with as many steps; absent without noise.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub theory: Theory,
    /// Time from the first byte to the scheme and its leakage.
    pub seconds: f64,
    /// Where some of the records were dealt.
    #[serde(default)]
    pub positions: Option<PositionSample>,
}

fn is_empty(theory: &Theory) -> bool {
    theory.is_empty()
}

/// What leaks, from both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Leakage {
    /// Some adversary learns this much.
    pub epsilon_lower_bound: Option<f64>,
    /// None learns more.
    pub epsilon_upper_bound: Option<f64>,
    /// Whether the lower bound rests on a law that was estimated from the log, and is no bound on anything else.
    pub is_estimate: bool,
    /// The confidence with which the bounds hold where they rest on a simulation or on what the log shows of the scheme's parameters;
    /// null where theory proves them of the scheme that was found.
    #[serde(default)]
    pub confidence: Option<f64>,
    /// The schemes that the log does not rule out, and that the bounds hold for; empty where none is known.
    #[serde(default)]
    pub schemes: Vec<LoggedScheme>,
    /// How both sides were found.
    pub method: BoundMethod,
    /// The noise at which they are meant.
    pub noise_multiplier: f64,
    /// The delta at which they are meant.
    pub delta: f64,
    /// Epochs that they are about.
    pub epochs: u64,
}

impl Leakage {
    /// Returns the lower and the upper bound.
    pub fn sides(&self) -> [Option<f64>; 2] {
        [self.epsilon_lower_bound, self.epsilon_upper_bound]
    }
}

impl Diagnosed {
    /// Returns the name of the log's file, without folders.
    pub fn file_name(&self) -> &str {
        self.log.rsplit(['/', '\\']).next().unwrap_or(&self.log)
    }

    /// Returns the epsilon that Poisson sampling would justify; `None` without a noise multiplier.
    pub fn claimed_epsilon(&self) -> Option<f64> {
        self.theory.poisson_upper_bound()
    }

    /// Says that the batches leak more than Poisson sampling would justify; `None` if that is not shown.
    pub fn excess(&self) -> Option<String> {
        let (leakage, claim) = (self.leakage.as_ref()?, self.claimed_epsilon()?);
        let leaks = leakage.epsilon_lower_bound.filter(|&leaks| leaks > claim)?;
        let leaks = rounded_down(leaks);
        let leaks = if leakage.is_estimate {
            format!("an estimate from the log finds {leaks}, and the truth may be more")
        } else {
            format!("at least {leaks} leaks")
        };
        let claim = significant(claim);
        Some(format!("A library that accounts for Poisson sampling would claim epsilon {claim}; {leaks}."))
    }

    /// Returns the verdict on the claim that Poisson sampling would justify, with the diagnosis.
    pub fn verdict(&self) -> Verdict {
        let Diagnosis { scheme, certain, explanation, defects, .. } = &self.diagnosis;
        let excess = self.excess();
        let kind = match (&self.leakage, self.claimed_epsilon()) {
            (Some(leakage), Some(claim)) if !leakage.is_estimate => match leakage.sides() {
                [Some(lower), _] if lower > claim => VerdictKind::Refuted,
                [_, Some(upper)] if upper <= claim => VerdictKind::Holds,
                _ => VerdictKind::Undecided,
            },
            (Some(_), Some(_)) => VerdictKind::Undecided,
            _ => VerdictKind::NoClaim,
        };
        let doubt = if kind == VerdictKind::Refuted { Tone::Refuted } else { Tone::Doubt };
        let (tone, label) = match (scheme, certain, defects.len()) {
            (LoggedScheme::Unknown, _, _) => (doubt, "Unknown scheme".into()),
            (scheme, false, _) => (doubt, format!("Probably {scheme}")),
            (scheme, true, 0) if excess.is_some() => (Tone::Refuted, scheme.to_string()),
            (scheme, true, 0) => (Tone::Neutral, scheme.to_string()),
            (scheme, true, 1) => (Tone::Refuted, format!("{scheme}, with a defect")),
            (scheme, true, defects) => (Tone::Refuted, format!("{scheme}, with {defects} defects")),
        };
        let more = excess.map_or(String::new(), |more| format!(" {more}"));
        Verdict::new(kind, tone, &label, format!("{explanation}{more}"))
    }
}
