//! One world's exact scores, in the pieces in which they are stored.

use crate::threshold_choice::Trials;
use misdeal_core::BinCounts;

/// Pieces of scores of consecutive trials, each with its first trial.
pub struct Sample<'a>(pub Vec<(u64, &'a [f64])>);

impl Sample<'_> {
    /// Calls `visit` with every score of `trials`.
    #[inline]
    pub fn for_each(&self, trials: Trials, mut visit: impl FnMut(f64)) {
        for &(first, scores) in &self.0 {
            let skipped = match trials {
                Trials::All => {
                    for &score in scores {
                        visit(score);
                    }
                    continue;
                }
                Trials::Even => first % 2,
                Trials::Odd => (first + 1) % 2,
            };
            let scores = scores.get(skipped as usize..).unwrap_or_default();
            let pairs = scores.chunks_exact(2);
            let rest = pairs.remainder();
            for pair in pairs {
                visit(pair[0]);
            }
            for &score in rest {
                visit(score);
            }
        }
    }

    /// The scores of trials below `end`.
    pub fn first(&self, end: u64) -> Sample<'_> {
        let cut = self.0.iter().filter_map(|&(first, scores)| {
            let length = end.saturating_sub(first).min(scores.len() as u64) as usize;
            (length > 0).then(|| (first, &scores[..length]))
        });
        Sample(cut.collect())
    }

    /// The counts of the scores of `trials` on the grid.
    pub fn counted(&self, trials: Trials) -> BinCounts {
        let mut counts = BinCounts::default();
        self.for_each(trials, |score| counts.insert(score));
        counts
    }

    /// The number of scores of `trials`.
    pub fn len(&self, trials: Trials) -> u64 {
        let length = |&(first, scores): &(u64, &[f64])| {
            let all = scores.len() as u64;
            let even = if first % 2 == 0 { all.div_ceil(2) } else { all / 2 };
            match trials {
                Trials::All => all,
                Trials::Even => even,
                Trials::Odd => all - even,
            }
        };
        self.0.iter().map(length).sum()
    }

    /// The number of scores of `trials` that are at least `threshold`.
    pub fn reaching(&self, trials: Trials, threshold: f64) -> u64 {
        let mut count = 0;
        self.for_each(trials, |score| count += u64::from(score >= threshold));
        count
    }
}
