//! How the adversary modifies a batch: the paper's Algorithm 2, for one target or several.
//!
//! # Which scheme decides what is planted?
//! The scheme that runs, as in the simulated game. The scheme that the adversary believes in does not matter here.
//!
//! # Why does the worst case compute no gradients?
//! All gradients are planted. Canaries and noise still move the parameters.
//!
//! # Where are several targets?
//! Targets are consecutive records, starting at `target_index`. A fair coin for each decides whether it is present or zeroed out
//! (`coins`). Each has its own score. Under a uniform shuffle, other records may play a canary (`follow`).

use crate::coins::coins;
use crate::follow::leaders;
use misdeal_core::{BatchScheme, Setting, Stream, ThreatModel, World};
use std::ops::Range;

/// The rule for planted gradients.
///
/// | record | its gradient |
/// |---|---|
/// | target k, if it leads | canary k if its coin says present, else zero |
/// | last records of a batch, one for each canary that has no target there but is placed there by its leader | the same: canary k or zero |
/// | last records of a batch, one for each canary that is placed elsewhere | minus that canary; only in partially informed and worst case, with fixed batch sizes |
/// | every other record, targets that follow included | its own; zero in the worst case |
///
/// The worst case against batch-then-shuffle differs. In the target's batch, all other records have the canary as their gradient.
/// In all other batches, all records have minus the canary.
///
/// With random batch sizes (poisson, balls-in-bins) there is no minus canary, because it would change the mechanism.
#[derive(Debug, Clone, PartialEq)]
pub struct Adversary {
    targets: Range<u64>,
    opposes: bool,
    floods: bool,
    keeps_naturals: bool,
    batch_size: u64,
    records: u64,
    follows: Option<Redrawn>,
}

/// When the canaries that follow are drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Redrawn {
    Never,
    EachEpoch,
    EachStep,
}

/// A batch after the adversary has modified it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModifiedBatch {
    /// Records with their natural gradients.
    pub naturals: Vec<u64>,
    /// Multiple of each canary in the sum.
    pub canaries: Vec<i64>,
}

impl Adversary {
    /// Creates the adversary of a setting. Its targets are `canaries` records, starting at `target_index`.
    pub fn new(setting: &Setting, canaries: usize) -> Self {
        let fixed = setting.scheme.has_fixed_batch_sizes();
        let worst_case = setting.threat_model == ThreatModel::WorstCase;
        let floods = worst_case && setting.scheme == BatchScheme::BatchThenShuffle;
        let opposes = fixed && !floods && setting.threat_model != ThreatModel::TargetCanary;
        let redrawn = match setting.scheme {
            BatchScheme::Shuffle => Some(Redrawn::EachEpoch),
            BatchScheme::ShuffleOnce => Some(Redrawn::Never),
            // Each batch is the start of a shuffle of its own.
            BatchScheme::WithoutReplacement => Some(Redrawn::EachStep),
            _ => None,
        };
        Adversary {
            targets: setting.target_index..setting.target_index + canaries as u64,
            opposes,
            floods,
            keeps_naturals: !worst_case,
            batch_size: setting.batch_size,
            records: setting.dataset_size(),
            follows: redrawn.filter(|_| opposes && canaries > 1),
        }
    }

    /// Whether other records may play a canary, so that places are independent (`follow`).
    pub fn follows(&self) -> bool {
        self.follows.is_some()
    }

    /// The roles of records in one model, before its first epoch.
    pub fn roles<'a>(&'a self, stream: &'a Stream, world: World, trial: u64) -> Roles<'a> {
        let canaries = self.canaries();
        Roles {
            adversary: self,
            stream,
            world,
            trial,
            coins: coins(stream, world, trial, canaries),
            leaders: (0..canaries).collect(),
            present: vec![false; canaries],
            step: 0,
        }
    }

    fn canaries(&self) -> usize {
        (self.targets.end - self.targets.start) as usize
    }

    /// Constant added to an output so that a batch without the target has mean zero.
    pub fn recentring(&self) -> f64 {
        if self.floods { self.batch_size as f64 } else { f64::from(u8::from(self.opposes)) }
    }

    /// Whether every batch without the target contains minus the canary.
    pub fn opposes(&self) -> bool {
        self.opposes
    }

    /// Whether all records of a batch have the canary, or all minus the canary.
    pub fn floods(&self) -> bool {
        self.floods
    }

    /// Whether any record keeps its natural gradient.
    pub fn keeps_naturals(&self) -> bool {
        self.keeps_naturals
    }

    /// Number of records with natural gradients in a batch without targets; the mean if batch sizes are random.
    pub fn naturals(&self) -> u64 {
        let lost = if self.opposes { self.targets.end - self.targets.start } else { 0 };
        if self.keeps_naturals { self.batch_size - lost } else { 0 }
    }

    /// Whether a record is a target.
    pub fn is_target(&self, record: u64) -> bool {
        self.targets.contains(&record)
    }
}

/// The roles of records in one model: which record plays which canary, epoch by epoch.
#[derive(Debug, Clone)]
pub struct Roles<'a> {
    adversary: &'a Adversary,
    stream: &'a Stream,
    world: World,
    trial: u64,
    coins: Vec<bool>,
    /// For each canary, the one whose record decides its batch.
    leaders: Vec<usize>,
    /// Whether a leader's record is in the batch at hand.
    present: Vec<bool>,
    /// The number of batches so far.
    step: u64,
}

impl Roles<'_> {
    /// Draws the roles of an epoch, which is counted from 0.
    pub fn begin_epoch(&mut self, epoch: u64) {
        match self.adversary.follows {
            Some(Redrawn::EachEpoch) => self.draw_leaders(epoch),
            Some(Redrawn::Never) => self.draw_leaders(0),
            Some(Redrawn::EachStep) | None => {}
        }
    }

    fn draw_leaders(&mut self, shuffle: u64) {
        let (records, canaries) = (self.adversary.records, self.coins.len());
        self.leaders = leaders(self.stream, (self.world, self.trial), shuffle, records, canaries);
    }

    /// Splits a batch into natural records and multiples of canaries.
    pub fn modify(&mut self, batch: &[u64], modified: &mut ModifiedBatch) {
        if self.adversary.follows == Some(Redrawn::EachStep) {
            self.draw_leaders(self.step);
        }
        self.step += 1;
        let ModifiedBatch { naturals, canaries } = modified;
        let adversary = self.adversary;
        naturals.clear();
        canaries.clear();
        self.present.fill(false);
        for &record in batch {
            let target = (record.wrapping_sub(adversary.targets.start)) as usize;
            if adversary.is_target(record) && self.leaders[target] == target {
                self.present[target] = true;
            } else {
                naturals.push(record);
            }
        }
        for (canary, (&coin, &leader)) in self.coins.iter().zip(&self.leaders).enumerate() {
            let is_here = self.present[leader];
            let mut multiple = i64::from(is_here && coin);
            if adversary.floods {
                multiple += if is_here { 1 } else { -1 } * naturals.len() as i64;
            } else if is_here && leader != canary {
                naturals.pop();
            } else if adversary.opposes && !is_here {
                naturals.pop();
                multiple = -1;
            }
            canaries.push(multiple);
        }
        if !adversary.keeps_naturals {
            naturals.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modified(
        threat_model: ThreatModel,
        scheme: BatchScheme,
        canaries: usize,
        world: World,
        batch: &[u64],
    ) -> ModifiedBatch {
        let setting = Setting { threat_model, scheme, batch_size: 4, target_index: 2, ..Setting::default() };
        let (mut modified, stream) = (ModifiedBatch::default(), Stream::new(&setting.hash()));
        Adversary::new(&setting, canaries).roles(&stream, world, 0).modify(batch, &mut modified);
        modified
    }

    #[test]
    fn batches_are_crafted_as_algorithm_2_says() {
        use BatchScheme::{BatchThenShuffle, Poisson, Shuffle};
        use ThreatModel::{PartiallyInformed, TargetCanary, WorstCase};
        let (with, without) = ([5, 2, 7, 9], [5, 6, 7, 9]);
        let case = |threat, scheme, world, batch: &[u64], naturals: &[u64], canary| {
            let expected = ModifiedBatch { naturals: naturals.to_vec(), canaries: vec![canary] };
            assert_eq!(modified(threat, scheme, 1, world, batch), expected, "{threat} {scheme} {world:?}");
        };
        case(TargetCanary, Shuffle, World::In, &with, &[5, 7, 9], 1);
        case(TargetCanary, Shuffle, World::Out, &with, &[5, 7, 9], 0);
        case(TargetCanary, Shuffle, World::In, &without, &without, 0);
        case(PartiallyInformed, Shuffle, World::In, &with, &[5, 7, 9], 1);
        case(PartiallyInformed, Shuffle, World::Out, &with, &[5, 7, 9], 0);
        case(PartiallyInformed, Shuffle, World::Out, &without, &[5, 6, 7], -1);
        case(PartiallyInformed, BatchThenShuffle, World::In, &without, &[5, 6, 7], -1);
        case(PartiallyInformed, Poisson, World::In, &without, &without, 0);
        case(WorstCase, Shuffle, World::In, &with, &[], 1);
        case(WorstCase, Shuffle, World::Out, &with, &[], 0);
        case(WorstCase, Shuffle, World::In, &without, &[], -1);
        case(WorstCase, Poisson, World::In, &with, &[], 1);
        case(WorstCase, Poisson, World::In, &without, &[], 0);
        case(WorstCase, Poisson, World::In, &[], &[], 0);
        case(WorstCase, BatchThenShuffle, World::In, &with, &[], 4);
        case(WorstCase, BatchThenShuffle, World::Out, &with, &[], 3);
        case(WorstCase, BatchThenShuffle, World::Out, &without, &[], -4);
    }

    /// Targets 2 to 4 in batches of four.
    fn three(coins: [bool; 3], leaders: [usize; 3], batch: &[u64]) -> (Vec<u64>, Vec<i64>) {
        let setting = Setting {
            threat_model: ThreatModel::PartiallyInformed,
            batch_size: 4,
            target_index: 2,
            ..Setting::default()
        };
        let (adversary, stream) = (Adversary::new(&setting, 3), Stream::new(&setting.hash()));
        let mut roles = adversary.roles(&stream, World::In, 0);
        (roles.coins, roles.leaders) = (coins.to_vec(), leaders.to_vec());
        let mut modified = ModifiedBatch::default();
        roles.modify(batch, &mut modified);
        (modified.naturals, modified.canaries)
    }

    #[test]
    fn several_targets_have_a_role_each() {
        let lead = [0, 1, 2];
        assert_eq!(three([true; 3], lead, &[8, 2, 9, 4]), (vec![8], vec![1, -1, 1]));
        assert_eq!(three([false, true, true], lead, &[8, 2, 9, 4]), (vec![8], vec![0, -1, 1]));
        assert_eq!(three([false; 3], lead, &[8, 7, 9, 6]), (vec![8], vec![-1, -1, -1]));
    }

    #[test]
    fn followers_are_played_by_other_records_and_their_own_is_ordinary() {
        let follows = [0, 0, 2];
        assert_eq!(three([true; 3], follows, &[8, 2, 9, 4]), (vec![8], vec![1, 1, 1]));
        assert_eq!(three([true, false, true], follows, &[2, 8, 9, 6]), (vec![8], vec![1, 0, -1]));
        assert_eq!(three([true; 3], follows, &[3, 8, 9, 4]), (vec![3], vec![-1, -1, 1]));
    }

    /// Every batch has one role for each canary, and each canary is placed once an epoch.
    #[test]
    fn every_batch_has_all_roles() {
        for scheme in [BatchScheme::Shuffle, BatchScheme::ShuffleOnce] {
            let setting =
                Setting { scheme, steps_per_epoch: 3, batch_size: 5, epochs: 4, ..Setting::default() };
            let (adversary, stream) = (Adversary::new(&setting, 5), Stream::new(&setting.hash()));
            let mut followers = 0;
            for trial in 0..200 {
                let mut roles = adversary.roles(&stream, World::Out, trial);
                let mut sampler = misdeal_schemes::sampler(&setting, &stream, World::Out, trial);
                let mut modified = ModifiedBatch::default();
                let mut all_leaders = vec![];
                for epoch in 0..setting.epochs {
                    roles.begin_epoch(epoch);
                    let mut placed = [0; 5];
                    for batch in sampler.next_epoch().iter() {
                        roles.modify(batch, &mut modified);
                        for (placed, &multiple) in placed.iter_mut().zip(&modified.canaries) {
                            *placed += i64::from(multiple >= 0);
                        }
                    }
                    assert_eq!(placed, [1; 5]);
                    all_leaders.push(roles.leaders.clone());
                }
                assert!(scheme == BatchScheme::Shuffle || all_leaders.windows(2).all(|two| two[0] == two[1]));
                followers +=
                    all_leaders.iter().flat_map(|l| l.iter().enumerate()).filter(|(k, l)| k != *l).count();
            }
            assert!(followers > 0);
        }
    }
}
