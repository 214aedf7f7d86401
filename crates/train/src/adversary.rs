//! How the adversary modifies a batch: the paper's Algorithm 2, for one target or several.
//!
//! # Which scheme decides what is planted?
//! The scheme that runs, as in the simulated game. The scheme that the adversary believes in does not matter here.
//!
//! # Why does the worst case compute no gradients?
//! All gradients are planted. Canaries and noise still move the parameters.
//!
//! # Where are several targets?
//! Targets are consecutive records, starting at `target_index`. All are present, or all are zeroed out. Each has its own score.

use misdeal_core::{BatchScheme, Setting, ThreatModel, World};
use std::ops::Range;

/// The rule for planted gradients.
///
/// | record | its gradient |
/// |---|---|
/// | target k | canary k if the targets are present, zero if they are zeroed out |
/// | last records of a batch, one for each target missing from the batch | minus that target's canary; only in partially informed and worst case, with fixed batch sizes |
/// | every other record | its own; zero in the worst case |
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
        Adversary {
            targets: setting.target_index..setting.target_index + canaries as u64,
            opposes: fixed && !floods && setting.threat_model != ThreatModel::TargetCanary,
            floods,
            keeps_naturals: !worst_case,
            batch_size: setting.batch_size,
        }
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

    /// Splits a batch into natural records and multiples of canaries.
    pub fn modify(&self, world: World, batch: &[u64], modified: &mut ModifiedBatch) {
        let ModifiedBatch { naturals, canaries } = modified;
        naturals.clear();
        canaries.clear();
        // Targets not yet seen in the batch are marked by a number that no sum can reach.
        let missing = i64::MIN;
        canaries.resize((self.targets.end - self.targets.start) as usize, missing);
        for &record in batch {
            if self.is_target(record) {
                canaries[(record - self.targets.start) as usize] = i64::from(world == World::In);
            } else {
                naturals.push(record);
            }
        }
        for canary in canaries {
            let is_missing = *canary == missing;
            if is_missing {
                *canary = 0;
            }
            if self.floods {
                *canary += if is_missing { -1 } else { 1 } * naturals.len() as i64;
            } else if self.opposes && is_missing {
                naturals.pop();
                *canary = -1;
            }
        }
        if !self.keeps_naturals {
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
        let mut modified = ModifiedBatch::default();
        Adversary::new(&setting, canaries).modify(world, batch, &mut modified);
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

    #[test]
    fn several_targets_have_a_slot_each() {
        let three = |world, batch: &[u64]| {
            let modified = modified(ThreatModel::PartiallyInformed, BatchScheme::Shuffle, 3, world, batch);
            (modified.naturals, modified.canaries)
        };
        assert_eq!(three(World::In, &[8, 2, 9, 4]), (vec![8], vec![1, -1, 1]));
        assert_eq!(three(World::Out, &[8, 2, 9, 4]), (vec![8], vec![0, -1, 0]));
        assert_eq!(three(World::Out, &[8, 7, 9, 6]), (vec![8], vec![-1, -1, -1]));
    }
}
