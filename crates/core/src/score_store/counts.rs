//! The counts of both worlds, with even and odd trials separate.

use super::bin_counts::BinCounts;
use crate::World;

/// Counts by world and by the parity of the trial.
///
/// Hold-out chooses a threshold on the even trials and counts errors on the odd ones. So a store keeps them separate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// The tables `In` and `Out`, each with the even trials first.
    tables: [[BinCounts; 2]; 2],
}

impl Counts {
    /// The counts in these tables: `In` and `Out`, each with the even trials first.
    pub fn from_tables(tables: [[BinCounts; 2]; 2]) -> Self {
        Counts { tables }
    }

    /// Adds the finite `scores` of consecutive trials from `first_trial` on.
    pub fn insert(&mut self, world: World, first_trial: u64, scores: &[f64]) {
        let [even, odd] = &mut self.tables[world as usize];
        let (first, second) = if first_trial.is_multiple_of(2) { (even, odd) } else { (odd, even) };
        let pairs = scores.chunks_exact(2);
        pairs.remainder().iter().for_each(|&score| first.insert(score));
        for pair in pairs {
            first.insert(pair[0]);
            second.insert(pair[1]);
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        let theirs = other.tables.into_iter().flatten();
        self.tables.iter_mut().flatten().zip(theirs).for_each(|(ours, theirs)| ours.merge(theirs));
    }

    /// The counts of the even trials (`odd` false) or the odd ones.
    pub fn half(&self, world: World, odd: bool) -> &BinCounts {
        &self.tables[world as usize][usize::from(odd)]
    }

    /// The four tables in file order: `In` even, `In` odd, `Out` even, `Out` odd.
    pub fn tables(&self) -> impl Iterator<Item = &BinCounts> {
        self.tables.iter().flatten()
    }

    /// The four tables in file order, for a reader to fill.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = &mut BinCounts> {
        self.tables.iter_mut().flatten()
    }
}
