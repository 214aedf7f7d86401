//! The bins of the grid that hold scores.

use crate::threshold_choice::Trials;
use misdeal_core::{BinCounts, ScoreStore, World};

/// The numbers of scores in one bin: `In` and `Out`, each with the even trials first.
pub type BinTally = [[u64; 2]; 2];

/// Ascending bins with their tallies.
///
/// This is all that an estimate needs from a store of counts. It takes a few kilobytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct OccupiedBins(Vec<(u32, BinTally)>);

impl OccupiedBins {
    /// The counts of ascending bins. Equal bins are joined, and empty bins are left out.
    pub fn new(bins: impl IntoIterator<Item = (u32, BinTally)>) -> Self {
        let mut joined: Vec<(u32, BinTally)> = Vec::new();
        for (bin, tally) in bins {
            match joined.last_mut() {
                _ if tally == BinTally::default() => {}
                Some((last, sum)) if *last == bin => {
                    sum.iter_mut()
                        .flatten()
                        .zip(tally.iter().flatten())
                        .for_each(|(sum, count)| *sum += count);
                }
                _ => joined.push((bin, tally)),
            }
        }
        OccupiedBins(joined)
    }

    /// The bins of a store of counts.
    pub fn of(store: &ScoreStore) -> Self {
        let mut single: Vec<(u32, BinTally)> = Vec::new();
        for world in World::BOTH {
            for odd in [false, true] {
                single.extend(store.bin_counts(world, odd).into_iter().flat_map(BinCounts::iter).map(
                    |(bin, count)| {
                        let mut tally = BinTally::default();
                        tally[world as usize][usize::from(odd)] = count;
                        (bin, tally)
                    },
                ));
            }
        }
        // The list consists of four ascending runs, which this sort merges.
        single.sort_by_key(|&(bin, _)| bin);
        OccupiedBins::new(single)
    }

    /// The numbers of scores `In` and `Out` of `trials` in bin `first` and above.
    pub fn reaching(&self, trials: Trials, first: u32) -> [u64; 2] {
        let from = self.0.partition_point(|&(bin, _)| bin < first);
        self.0[from..].iter().fold([0, 0], |[sum_in, sum_out], &(_, tally)| {
            let [more_in, more_out] = of_trials(tally, trials);
            [sum_in + more_in, sum_out + more_out]
        })
    }

    /// The bins that hold scores of `trials`, with the numbers of scores `In` and `Out`.
    pub fn cells(&self, trials: Trials) -> (Vec<u32>, Vec<[u64; 2]>) {
        let cells = self.0.iter().map(|&(bin, tally)| (bin, of_trials(tally, trials)));
        cells.filter(|&(_, cell)| cell != [0, 0]).unzip()
    }
}

fn of_trials(tally: BinTally, trials: Trials) -> [u64; 2] {
    tally.map(|[even, odd]| match trials {
        Trials::All => even + odd,
        Trials::Even => even,
        Trials::Odd => odd,
    })
}
