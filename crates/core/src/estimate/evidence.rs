//! The scores of both worlds, in whichever form they are kept.

use super::ErrorCounts;
use super::exact::{best_threshold, occupied};
use super::sample::Sample;
use super::search::{Curve, Objective, search};
use super::threshold_choice::Trials;
use crate::score_grid::{BINS, bin, lower_edge};
use crate::score_store::Counts;
use crate::{BinCounts, World};
use std::borrow::Cow;

/// What an estimate is made from.
pub enum Evidence<'a> {
    /// Counts on the grid: thresholds are its edges.
    Counts(&'a Counts),
    /// Scores `In` and `Out`: thresholds are the scores.
    Exact([Sample<'a>; 2]),
}

impl Evidence<'_> {
    /// The numbers of scores `In` and `Out` of `trials`.
    pub fn observations(&self, trials: Trials) -> [u64; 2] {
        match self {
            Self::Counts(counts) => World::BOTH.map(|world| table(counts, world, trials).from_bin_up(0)),
            Self::Exact(samples) => samples.each_ref().map(|sample| sample.len(trials)),
        }
    }

    /// The threshold that is best for `trials`; infinite if that is to predict `Out` always.
    pub fn best_threshold(&self, trials: Trials, objective: &Objective<'_>) -> f64 {
        match self {
            Self::Counts(counts) => {
                let [counts_in, counts_out] = World::BOTH.map(|world| table(counts, world, trials));
                let (bins, cells) = occupied(&counts_in, &counts_out);
                let found = search(&Curve::new(&cells, 0, 0), objective, f64::NEG_INFINITY, false);
                let bin = found.best.and_then(|(_, knot)| bins.get(knot));
                bin.map_or(f64::INFINITY, |&bin| lower_edge(bin))
            }
            Self::Exact(samples) => best_threshold(samples, trials, objective),
        }
    }

    /// The errors of `trials` at a threshold that [`best_threshold`](Self::best_threshold) gave.
    pub fn errors(&self, trials: Trials, threshold: f64) -> ErrorCounts {
        let [observations_in, observations_out] = self.observations(trials);
        let [reaching_in, false_positives] = match self {
            Self::Counts(counts) => {
                let first = if threshold < f64::INFINITY { bin(threshold) } else { BINS };
                World::BOTH.map(|world| table(counts, world, trials).from_bin_up(first))
            }
            Self::Exact(samples) => samples.each_ref().map(|sample| sample.reaching(trials, threshold)),
        };
        let false_negatives = observations_in - reaching_in;
        ErrorCounts { false_positives, false_negatives, observations_in, observations_out }
    }
}

fn table(counts: &Counts, world: World, trials: Trials) -> Cow<'_, BinCounts> {
    match trials {
        Trials::All => Cow::Owned(counts.all(world)),
        Trials::Even => Cow::Borrowed(counts.half(world, false)),
        Trials::Odd => Cow::Borrowed(counts.half(world, true)),
    }
}
