//! The set of trials in a store.

use crate::{Error, Result};
use std::ops::Range;

/// A set of trials, as sorted ranges.
///
/// Ranges are not empty and neither overlap nor touch. So each set has exactly one form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrialRanges(Vec<Range<u64>>);

impl TrialRanges {
    /// The set of all trials in `ranges`, which may be in any order.
    ///
    /// # Errors
    /// A trial that is in two of the ranges.
    pub fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Result<Self> {
        let mut ranges: Vec<_> = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        ranges.sort_by_key(|range| range.start);
        let mut set = TrialRanges::default();
        for range in ranges {
            match set.0.last_mut() {
                Some(last) if range.start < last.end => {
                    return Err(twice(range.start..last.end.min(range.end)));
                }
                Some(last) if range.start == last.end => last.end = range.end,
                _ => set.0.push(range),
            }
        }
        Ok(set)
    }

    /// The ranges, ascending.
    pub fn as_slice(&self) -> &[Range<u64>] {
        &self.0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of trials.
    pub fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    /// The number of trials with an even index.
    pub fn even(&self) -> u64 {
        self.0.iter().map(|range| range.end.div_ceil(2) - range.start.div_ceil(2)).sum()
    }

    /// Adds `range`. On an error the set does not change.
    ///
    /// # Errors
    /// A trial that is already in the set.
    pub fn insert(&mut self, range: Range<u64>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let next = self.0.partition_point(|known| known.end <= range.start);
        if let Some(known) = self.0.get(next)
            && known.start < range.end
        {
            return Err(twice(known.start.max(range.start)..known.end.min(range.end)));
        }
        let joins_next = self.0.get(next).is_some_and(|known| known.start == range.end);
        let joins_last = next > 0 && self.0[next - 1].end == range.start;
        match (joins_last, joins_next) {
            (true, true) => self.0[next - 1].end = self.0.remove(next).end,
            (true, false) => self.0[next - 1].end = range.end,
            (false, true) => self.0[next].start = range.start,
            (false, false) => self.0.insert(next, range),
        }
        Ok(())
    }

    /// The set of the trials of both sets.
    ///
    /// # Errors
    /// A trial that is in both sets.
    pub fn union(&self, other: &Self) -> Result<Self> {
        TrialRanges::new(self.0.iter().chain(&other.0).cloned())
    }
}

fn twice(range: Range<u64>) -> Error {
    Error::Mismatch(format!(
        "trials {} to {} are there twice; each trial counts once",
        range.start,
        range.end - 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{prelude::*, test_runner::RngSeed};
    use std::collections::BTreeSet;

    fn trials(ranges: &TrialRanges) -> BTreeSet<u64> {
        ranges.as_slice().iter().cloned().flatten().collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            rng_seed: RngSeed::Fixed(21),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Compares with a plain set of single trials.
        #[test]
        fn is_a_set(ranges in prop::collection::vec((0_u64..60, 0_u64..8), 0..12)) {
            let mut ours = TrialRanges::default();
            let mut exact = BTreeSet::new();
            for (start, length) in ranges {
                let range = start..start + length;
                let fresh = range.clone().all(|trial| !exact.contains(&trial));
                let before = ours.clone();
                prop_assert_eq!(ours.insert(range.clone()).is_ok(), fresh);
                prop_assert_eq!(before.union(&TrialRanges::new([range.clone()]).unwrap()).ok(), fresh.then(|| ours.clone()));
                if fresh {
                    exact.extend(range);
                }
                prop_assert_eq!(&trials(&ours), &exact);
                prop_assert_eq!(ours.len(), exact.len() as u64);
                prop_assert_eq!(ours.even(), exact.iter().filter(|&trial| trial % 2 == 0).count() as u64);
                prop_assert!(ours.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
            }
        }
    }
}
