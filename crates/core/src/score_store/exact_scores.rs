//! Every score of both worlds, by trial.

use crate::World;
use std::collections::BTreeMap;

/// The scores of disjoint segments of consecutive trials, keyed by the segment's first trial.
///
/// Segments stay as they were inserted and are never joined. Equality and iteration do not depend on where the segments
/// begin and end.
#[derive(Debug, Clone, Default)]
pub struct ExactScores {
    segments: BTreeMap<u64, [Vec<f64>; 2]>,
}

impl ExactScores {
    /// Adds a segment that does not overlap the others, with as many scores `In` as `Out`.
    pub fn insert(&mut self, first_trial: u64, scores_in: Vec<f64>, scores_out: Vec<f64>) {
        debug_assert_eq!(scores_in.len(), scores_out.len());
        if !scores_in.is_empty() {
            self.segments.insert(first_trial, [scores_in, scores_out]);
        }
    }

    /// Adds the segments of `other`, which must not overlap these.
    pub fn merge(&mut self, mut other: Self) {
        self.segments.append(&mut other.segments);
    }

    /// One world's segments in trial order, each with its first trial.
    pub fn segments(&self, world: World) -> impl Iterator<Item = (u64, &[f64])> {
        self.segments.iter().map(move |(&first, scores)| (first, &scores[world as usize][..]))
    }

    /// The scores of every trial, `In` and `Out`, in trial order.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, [f64; 2])> {
        self.segments.iter().flat_map(|(&first, [scores_in, scores_out])| {
            (first..).zip(scores_in.iter().zip(scores_out).map(|(&i, &o)| [i, o]))
        })
    }
}

impl PartialEq for ExactScores {
    fn eq(&self, other: &Self) -> bool {
        let bits = |(trial, pair): (u64, [f64; 2])| (trial, pair.map(f64::to_bits));
        self.pairs().map(bits).eq(other.pairs().map(bits))
    }
}
