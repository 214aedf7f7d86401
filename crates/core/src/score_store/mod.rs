//! What a run keeps: scores or counts of trials, with everything needed to put runs together.

mod bin_counts;
mod counts;
mod exact_scores;
mod format;
mod identity;
mod judgements;
mod sealed;
mod tally;
#[cfg(test)]
mod tests;
mod trial_ranges;

pub use bin_counts::BinCounts;
pub use format::{FORMAT_VERSION, ReadError, STORE_START};
pub use judgements::Judgements;
pub use tally::{Spread, Tally};
pub use trial_ranges::TrialRanges;

use crate::{ClosedSet, Error, Result, Setting, SettingHash, World};
use counts::Counts;
use exact_scores::ExactScores;
use identity::Identity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// What a store keeps of a score.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum StoreKind {
    /// Its bin on the [`score_grid`](crate::score_grid): a few megabytes, however many trials.
    Counts,
    /// The score itself: 16 bytes a trial.
    Exact,
}

impl ClosedSet for StoreKind {
    const FIELD: &'static str = "scores";
}

/// The scores of a set of trials in both worlds.
///
/// # Formal guarantees
/// - It holds integer counts on a fixed grid or exact scores, and sums of whole numbers, never floating-point sums, so that
///   [`merge`](ScoreStore::merge) is exactly associative and commutative: the order in which workers, shards and resumed
///   runs finish leaves no trace, not even in the bytes of the file.
/// - A trial is counted once. Inserting or merging one that is there already is refused, and so are another setting,
///   lineage, stream or kind.
/// - A refused operation changes nothing.
///
/// ```
/// use misdeal_core::{STREAM_NAME, ScoreStore, Setting, StoreKind};
/// let mut store = ScoreStore::new(Setting::default(), "cpu", STREAM_NAME, StoreKind::Counts)?;
/// let mut worker = store.empty_like();
/// store.insert(0..2, &[3.5, 0.5], &[-1.0, 0.25])?;
/// worker.insert(2..4, &[2.5, 1.5], &[-2.0, 0.75])?;
/// store.merge(worker)?;
/// assert_eq!(store.trials(), &[0..4]);
/// assert!(store.insert(3..4, &[0.0], &[0.0]).is_err());
/// assert_eq!(ScoreStore::from_bytes(&store.to_bytes())?, store);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreStore {
    identity: Identity,
    trials: TrialRanges,
    scores: Scores,
    tallies: BTreeMap<String, Tally>,
    judgements: Judgements,
}

/// The two kinds of content.
#[derive(Debug, Clone, PartialEq)]
enum Scores {
    Counts(Counts),
    Exact(ExactScores),
}

impl Scores {
    fn empty(kind: StoreKind) -> Self {
        match kind {
            StoreKind::Counts => Self::Counts(Counts::default()),
            StoreKind::Exact => Self::Exact(ExactScores::default()),
        }
    }
}

impl ScoreStore {
    /// An empty store for trials of `setting`, scored by engines of `lineage` (those that give bit-identical scores,
    /// such as `cpu`) from the random `stream`.
    ///
    /// # Errors
    /// A setting that does not validate.
    pub fn new(
        setting: Setting,
        lineage: impl Into<String>,
        stream: impl Into<String>,
        kind: StoreKind,
    ) -> Result<Self> {
        let identity = Identity::new(setting, lineage.into(), stream.into())?;
        Ok(Self::empty(identity, kind))
    }

    fn empty(identity: Identity, kind: StoreKind) -> Self {
        let (trials, scores) = (TrialRanges::default(), Scores::empty(kind));
        ScoreStore { identity, trials, scores, tallies: BTreeMap::new(), judgements: Judgements::default() }
    }

    /// An empty store that merges with this one: what a worker starts from. It takes a few kilobytes.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        Self::empty(self.identity.clone(), self.kind())
    }

    /// Adds the scores of the consecutive `trials`, in trial order, in both worlds.
    ///
    /// # Errors
    /// Slices of another length than the range, a score that is not finite (it names the trial), or trials that are
    /// there already.
    pub fn insert(&mut self, trials: Range<u64>, scores_in: &[f64], scores_out: &[f64]) -> Result<()> {
        let expected = trials.end.saturating_sub(trials.start);
        for (field, scores) in [("scores_in", scores_in), ("scores_out", scores_out)] {
            if scores.len() as u64 != expected {
                let allowed = format!("one score for each of the {expected} trials");
                let value = format!("{} scores", scores.len());
                return Err(Error::bad_value(
                    field,
                    value,
                    allowed,
                    "pass the scores of exactly these trials",
                ));
            }
            check_finite(field, trials.start, scores)?;
        }
        self.trials.insert(trials.clone())?;
        match &mut self.scores {
            Scores::Counts(counts) => {
                counts.insert(World::In, trials.start, scores_in);
                counts.insert(World::Out, trials.start, scores_out);
            }
            Scores::Exact(exact) => exact.insert(trials.start, scores_in.to_vec(), scores_out.to_vec()),
        }
        Ok(())
    }

    /// Adds what an engine counted itself: the scores of the consecutive `trials` on the grid, `In` and `Out`, each with
    /// the even trials first.
    ///
    /// # Errors
    /// A store of exact scores, tables that do not hold one score for each trial, or trials that are there already.
    pub fn insert_counts(&mut self, trials: Range<u64>, tables: [[BinCounts; 2]; 2]) -> Result<()> {
        let all = TrialRanges::new([trials.clone()])?;
        let expected = [all.even(), all.len() - all.even()];
        for (field, halves) in [("scores_in", &tables[0]), ("scores_out", &tables[1])] {
            let counted = halves.each_ref().map(|half| half.from_bin_up(0));
            if counted != expected {
                let allowed = format!("{} scores of even and {} of odd trials", expected[0], expected[1]);
                let value = format!("{} and {} scores", counted[0], counted[1]);
                let hint = "a score that is not finite is counted nowhere";
                return Err(Error::bad_value(field, value, allowed, hint));
            }
        }
        let Scores::Counts(counts) = &mut self.scores else {
            return Err(Error::Mismatch("a store of exact scores does not take counts".into()));
        };
        self.trials.insert(trials)?;
        counts.merge(Counts::from_tables(tables));
        Ok(())
    }

    /// Takes over the trials of `other`.
    ///
    /// # Errors
    /// Says in what the stores differ (setting, lineage, stream, kind), or which trials both have.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        self.identity.check_same(&other.identity)?;
        let kinds = [self.kind(), other.kind()].map(StoreKind::name);
        let trials = self.trials.union(&other.trials);
        match (&mut self.scores, other.scores) {
            (Scores::Counts(ours), Scores::Counts(theirs)) => {
                self.trials = trials?;
                ours.merge(theirs);
            }
            (Scores::Exact(ours), Scores::Exact(theirs)) => {
                self.trials = trials?;
                ours.merge(theirs);
            }
            _ => {
                let [ours, theirs] = kinds;
                return Err(Error::Mismatch(format!(
                    "the stores keep different things of a score: {ours} and {theirs}"
                )));
            }
        }
        other.tallies.iter().for_each(|(name, tally)| self.insert_tally(name, tally));
        self.judgements.merge(&other.judgements);
        Ok(())
    }

    /// Adds whole numbers that trials gave beside their scores, such as the records that models classify correctly; nothing if there
    /// are none. Whoever inserts the trials' scores does so once.
    pub fn insert_tally(&mut self, name: &str, tally: &Tally) {
        if tally.count() > 0 {
            self.tallies.entry(name.to_owned()).or_default().merge(tally);
        }
    }

    /// The whole numbers of this name.
    pub fn tally(&self, name: &str) -> Tally {
        self.tallies.get(name).copied().unwrap_or_default()
    }

    /// How the scores were judged so far.
    pub fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    /// Adds the judgements of a store that this one replaces.
    pub fn remember(&mut self, judgements: &Judgements) {
        self.judgements.merge(judgements);
    }

    /// Records that the scores are judged now, as a run of `planned` trials per world or a part of it. Returns why that judgement is
    /// not valid; `None` if it is.
    pub fn judge(&mut self, planned: u64) -> Option<String> {
        let objection = self.judgements.objection(planned, self.trials.as_slice());
        self.judgements.add(planned);
        objection
    }

    /// Records that a confidence sequence looks at the scores. Returns why that look is not valid; `None` if it is.
    pub fn judge_sequentially(&mut self) -> Option<String> {
        let objection = self.judgements.objection_to_sequential();
        self.judgements.add_sequential();
        objection
    }

    /// What was audited.
    pub fn setting(&self) -> &Setting {
        &self.identity.setting
    }

    /// The hash of [`setting`](Self::setting).
    pub fn setting_hash(&self) -> SettingHash {
        self.identity.hash
    }

    /// The family of engines that gave the scores.
    pub fn lineage(&self) -> &str {
        &self.identity.lineage
    }

    /// The random stream that the trials used.
    pub fn stream(&self) -> &str {
        &self.identity.stream
    }

    /// What is kept of a score.
    pub fn kind(&self) -> StoreKind {
        match self.scores {
            Scores::Counts(_) => StoreKind::Counts,
            Scores::Exact(_) => StoreKind::Exact,
        }
    }

    /// The trials covered, the same in both worlds: ascending ranges that neither overlap nor touch.
    pub fn trials(&self) -> &[Range<u64>] {
        self.trials.as_slice()
    }

    /// The number of trials covered, which is the number of scores of either world.
    pub fn observations_per_world(&self) -> u64 {
        self.trials.len()
    }

    /// One world's exact scores in pieces of consecutive trials, ascending, each with its first trial; nothing for a
    /// store of counts.
    pub fn exact_scores(&self, world: World) -> impl Iterator<Item = (u64, &[f64])> {
        let exact = match &self.scores {
            Scores::Exact(exact) => Some(exact),
            Scores::Counts(_) => None,
        };
        exact.into_iter().flat_map(move |exact| exact.segments(world))
    }

    /// One world's counts, of the even or the odd trials; nothing for a store of exact scores.
    pub fn bin_counts(&self, world: World, odd: bool) -> Option<&BinCounts> {
        match &self.scores {
            Scores::Counts(counts) => Some(counts.half(world, odd)),
            Scores::Exact(_) => None,
        }
    }
}

/// Refuses scores that are not finite.
///
/// # Errors
/// Names the first score that is infinite or not a number, and its trial.
pub fn check_finite(field: &'static str, first_trial: u64, scores: &[f64]) -> Result<()> {
    // By pieces without an early exit inside, so that the check is vectorised.
    let clean = |piece: &[f64]| piece.iter().fold(true, |clean, score| clean & score.is_finite());
    if scores.chunks(4096).all(clean) {
        return Ok(());
    }
    let (trial, score) =
        (first_trial..).zip(scores).find(|(_, score)| !score.is_finite()).unwrap_or((0, &0.0));
    let value = format!("{score} in trial {trial}");
    Err(Error::bad_value(field, value, "a finite number", "find out where it comes from"))
}
