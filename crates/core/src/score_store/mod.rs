//! The store of a run: scores or counts of trials, and what is needed to merge runs.

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
use std::collections::BTreeMap;
use std::ops::Range;

crate::closed_set! {
    "scores",
    /// What a store keeps of a score.
    pub enum StoreKind {
        /// Its bin on the [`score_grid`](crate::score_grid): a few megabytes, however many trials.
        Counts,
        /// The score itself: 16 bytes a trial.
        Exact,
    }
}

/// The scores of a set of trials in both worlds.
///
/// # Formal guarantees
/// - A store holds integer counts on a fixed grid or exact scores, and sums of whole numbers. It holds no
///   floating-point sums. So [`merge`](ScoreStore::merge) is exactly associative and commutative. The order in which
///   workers, shards and resumed runs finish does not change the store or the bytes of its file.
/// - A trial is counted once. A trial that is already in the store is refused. So is another setting, lineage, stream
///   or kind.
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

/// The scores in one of the two kinds.
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
    /// An empty store for trials of `setting`.
    ///
    /// `lineage` names the family of engines that give bit-identical scores, such as `cpu`. `stream` names the random
    /// stream.
    ///
    /// # Errors
    /// A setting that is not valid.
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

    /// An empty store that merges with this one. It takes a few kilobytes.
    ///
    /// Workers start from it.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        Self::empty(self.identity.clone(), self.kind())
    }

    /// Adds the scores of consecutive `trials` in both worlds, in trial order.
    ///
    /// # Errors
    /// Slices whose length differs from the range, a score that is not finite (the error names its trial), or trials
    /// that are already in the store.
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

    /// Adds scores that an engine has already counted on the grid.
    ///
    /// `tables` holds the counts of the consecutive `trials`, `In` and `Out`, each with the even trials first.
    ///
    /// # Errors
    /// A store of exact scores, tables without exactly one score for each trial, or trials that are already in the
    /// store.
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

    /// Adds all trials of `other`.
    ///
    /// # Errors
    /// Says how the stores differ (setting, lineage, stream, kind), or which trials both have.
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

    /// Adds whole numbers that trials gave beside their scores.
    ///
    /// An example is the number of records that a model classifies correctly. An empty tally adds nothing. Call it once
    /// for each set of trials that you insert.
    pub fn insert_tally(&mut self, name: &str, tally: &Tally) {
        if tally.count() > 0 {
            self.tallies.entry(name.to_owned()).or_default().merge(tally);
        }
    }

    /// The tally called `name`; empty if there is none.
    pub fn tally(&self, name: &str) -> Tally {
        self.tallies.get(name).copied().unwrap_or_default()
    }

    /// The judgements of these scores so far.
    pub fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    /// Adds the judgements of a store that this one replaces.
    pub fn remember(&mut self, judgements: &Judgements) {
        self.judgements.merge(judgements);
    }

    /// Records a judgement of these scores. Returns why it is not valid, or `None` if it is.
    ///
    /// The scores are judged as a run of `planned` trials per world, or as a part of it.
    pub fn judge(&mut self, planned: u64) -> Option<String> {
        let objection = self.judgements.objection(planned, self.trials.as_slice());
        self.judgements.add(planned);
        objection
    }

    /// Records a look of a confidence sequence. Returns why it is not valid, or `None` if it is.
    pub fn judge_sequentially(&mut self) -> Option<String> {
        let objection = self.judgements.objection_to_sequential();
        self.judgements.add_sequential();
        objection
    }

    /// The setting that was audited.
    pub fn setting(&self) -> &Setting {
        &self.identity.setting
    }

    /// The hash of [`setting`](Self::setting).
    pub fn setting_hash(&self) -> SettingHash {
        self.identity.hash
    }

    /// The family of engines that computed the scores.
    pub fn lineage(&self) -> &str {
        &self.identity.lineage
    }

    /// The name of the random stream that the trials used.
    pub fn stream(&self) -> &str {
        &self.identity.stream
    }

    /// What the store keeps of each score.
    pub fn kind(&self) -> StoreKind {
        match self.scores {
            Scores::Counts(_) => StoreKind::Counts,
            Scores::Exact(_) => StoreKind::Exact,
        }
    }

    /// The trials in the store, the same in both worlds.
    ///
    /// The ranges are ascending and neither overlap nor touch.
    pub fn trials(&self) -> &[Range<u64>] {
        self.trials.as_slice()
    }

    /// The number of trials in the store, which is the number of scores in each world.
    pub fn observations_per_world(&self) -> u64 {
        self.trials.len()
    }

    /// One world's exact scores, in ascending pieces of consecutive trials.
    ///
    /// Each piece comes with its first trial. A store of counts gives no pieces.
    pub fn exact_scores(&self, world: World) -> impl Iterator<Item = (u64, &[f64])> {
        let exact = match &self.scores {
            Scores::Exact(exact) => Some(exact),
            Scores::Counts(_) => None,
        };
        exact.into_iter().flat_map(move |exact| exact.segments(world))
    }

    /// One world's counts of the even or the odd trials; `None` for a store of exact scores.
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
/// Names the first score that is infinite or NaN, and its trial.
pub fn check_finite(field: &'static str, first_trial: u64, scores: &[f64]) -> Result<()> {
    // Each piece is checked without an early exit, so the compiler can vectorise the loop.
    let clean = |piece: &[f64]| piece.iter().fold(true, |clean, score| clean & score.is_finite());
    if scores.chunks(4096).all(clean) {
        return Ok(());
    }
    let (trial, score) =
        (first_trial..).zip(scores).find(|(_, score)| !score.is_finite()).unwrap_or((0, &0.0));
    let value = format!("{score} in trial {trial}");
    Err(Error::bad_value(field, value, "a finite number", "find out where it comes from"))
}
