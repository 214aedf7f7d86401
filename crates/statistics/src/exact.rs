//! Finds the best threshold of exact scores without sorting all scores.
//!
//! # Why not sort?
//! Only a few cells can hold the best threshold. The code counts scores on the store's grid, and `search` bounds whole
//! intervals of thresholds. Only cells that can still win are sorted. This takes a few hundred Clopper-Pearson
//! evaluations instead of one per score. It finds the same maximum as Algorithm 1.

use crate::estimator::Side;
use crate::evidence::knot_of_rank;
use crate::sample::Sample;
use crate::search::{Curve, Objective, search};
use crate::threshold_choice::Trials;
use misdeal_core::BinCounts;
use misdeal_core::score_grid::{BINS, bin, lower_edge};

/// The smallest number of scores to collect in one pass. Smaller passes would cost more time than the saved memory is
/// worth.
const LEAST_COLLECTED: u64 = 1 << 20;

/// The threshold (a score or infinity) at which `objective` is largest.
///
/// The result equals that of the paper's Algorithm 1, which tries every score as a threshold and counts its errors.
/// Tied scores stay together. The code counts the scores on the grid and searches the edges. It collects and sorts only
/// the bins that, by the bound of [`search`], may hold a better threshold.
pub fn best_threshold(samples: &[Sample<'_>; 2], trials: Trials, objective: &Objective<'_>) -> f64 {
    let [counts_in, counts_out] = samples.each_ref().map(|sample| sample.counted(trials));
    let (bins, cells) = occupied(&counts_in, &counts_out);
    let curve = Curve::new(&cells, 0, 0);
    let found = search(&curve, objective, f64::NEG_INFINITY, true);
    let (mut best, knot) = found.best.unwrap_or((f64::NEG_INFINITY, 0));
    let mut threshold = None;

    let size = |cell: usize| cells[cell].iter().sum::<u64>();
    let budget = LEAST_COLLECTED.max((objective.observations_in + objective.observations_out) / 4);
    let mut promising = &found.promising[..];
    while promising.first().is_some_and(|&(bound, _)| bound > best) {
        let mut collected = 0;
        let fits = promising.iter().take_while(|&&(bound, cell)| {
            collected += size(cell);
            bound > best && collected <= budget
        });
        let (now, later) = promising.split_at(fits.count().max(1));
        promising = later;
        let chosen: Vec<_> = now.iter().map(|&(_, cell)| (bins[cell], cells[cell])).collect();
        let [mut scores_in, mut scores_out] =
            [0, 1].map(|world| collect(&samples[world], trials, &chosen, world));
        for (i, &(bound, cell)) in now.iter().enumerate() {
            if bound <= best {
                break;
            }
            let (values, steps) = steps(&mut scores_in[i], &mut scores_out[i]);
            let [below, above] = curve.around(cell);
            let inner = search(&Curve::new(&steps, below, above), objective, best, false);
            if let Some((value, knot)) = inner.best {
                best = value;
                threshold = values.get(knot).copied();
            }
        }
    }
    threshold.unwrap_or_else(|| bins.get(knot).map_or(f64::INFINITY, |&bin| least_from(samples, trials, bin)))
}

/// The thresholds at given ranks among all trials, and their false negatives and positives.
///
/// A rank selects a knot of the grid. The score itself lies in a cell at one end of that knot.
pub fn refined_thresholds(
    samples: &[Sample<'_>; 2],
    (bins, cells): (&[u32], &[[u64; 2]]),
    curve: &Curve,
    ranks: &[(Side, u64)],
    observations_in: u64,
) -> Vec<(f64, [u64; 2])> {
    // The count passes the rank within one cell: the one between the last knot before that and the first knot after it.
    let cell_of = |side: Side, rank: u64| {
        let knot = knot_of_rank(curve, side, rank, observations_in);
        if side == Side::Lower { knot.min(cells.len() - 1) } else { knot.saturating_sub(1) }
    };
    let wanted: Vec<usize> = ranks.iter().map(|&(side, rank)| cell_of(side, rank)).collect();
    let mut chosen = wanted.clone();
    chosen.sort_unstable();
    chosen.dedup();
    let collected: Vec<_> = chosen.iter().map(|&cell| (bins[cell], cells[cell])).collect();
    let [mut scores_in, mut scores_out] =
        [0, 1].map(|world| collect(&samples[world], Trials::All, &collected, world));
    let refined: Vec<_> = chosen
        .iter()
        .enumerate()
        .map(|(i, &cell)| {
            let (values, steps) = steps(&mut scores_in[i], &mut scores_out[i]);
            let [below, above] = curve.around(cell);
            (values, Curve::new(&steps, below, above))
        })
        .collect();
    let threshold = |(&(side, rank), cell): (&(Side, u64), &usize)| {
        let place = chosen.binary_search(cell).expect("every wanted cell was chosen");
        let (values, inner) = &refined[place];
        let knot = knot_of_rank(inner, side, rank, observations_in);
        (values.get(knot).copied().unwrap_or_else(|| lower_edge(bins[*cell] + 1)), inner.errors(knot))
    };
    ranks.iter().zip(&wanted).map(threshold).collect()
}

/// The bins that hold scores, ascending, with their numbers of scores `In` and `Out`.
pub fn occupied(counts_in: &BinCounts, counts_out: &BinCounts) -> (Vec<u32>, Vec<[u64; 2]>) {
    let (mut bins, mut cells) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (counts_in.iter().peekable(), counts_out.iter().peekable());
    loop {
        let next = [left.peek(), right.peek()].map(|item| item.map_or(BINS, |&(bin, _)| bin));
        let bin = next[0].min(next[1]);
        if bin == BINS {
            return (bins, cells);
        }
        let scores_in = left.next_if(|item| item.0 == bin).map_or(0, |item| item.1);
        let scores_out = right.next_if(|item| item.0 == bin).map_or(0, |item| item.1);
        bins.push(bin);
        cells.push([scores_in, scores_out]);
    }
}

/// The scores in each of the `chosen` bins. `chosen` gives each bin with its number of scores in both worlds.
fn collect(sample: &Sample<'_>, trials: Trials, chosen: &[(u32, [u64; 2])], world: usize) -> Vec<Vec<f64>> {
    const NONE: u32 = u32::MAX;
    let bins = || chosen.iter().map(|&(bin, _)| bin);
    let (lowest, highest) = (bins().min().unwrap_or(0), bins().max().unwrap_or(0));
    let mut places = vec![NONE; (highest - lowest + 1) as usize];
    bins().zip(0..).for_each(|(bin, place)| places[(bin - lowest) as usize] = place);
    let mut scores: Vec<_> =
        chosen.iter().map(|(_, sizes)| Vec::with_capacity(sizes[world] as usize)).collect();
    // Most scores lie outside the range of the chosen bins, and two comparisons detect this.
    let (from, to) = (lower_edge(lowest), lower_edge(highest + 1));
    sample.for_each(trials, |score| {
        if score >= from && score < to {
            let place = places[(bin(score) - lowest) as usize];
            if place != NONE {
                scores[place as usize].push(score);
            }
        }
    });
    scores
}

/// The distinct scores of both worlds, ascending, and how often each occurs `In` and `Out`.
pub fn steps(scores_in: &mut [f64], scores_out: &mut [f64]) -> (Vec<f64>, Vec<[u64; 2]>) {
    scores_in.sort_unstable_by(f64::total_cmp);
    scores_out.sort_unstable_by(f64::total_cmp);
    let (mut values, mut steps) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (&*scores_in, &*scores_out);
    while let Some(value) = [left.first(), right.first()].into_iter().flatten().copied().reduce(f64::min) {
        // A linear scan is enough, because equal scores are skipped next anyway. -0.0 equals 0.0.
        let equal = [left, right].map(|scores| scores.iter().take_while(|&&score| score <= value).count());
        left = &left[equal[0]..];
        right = &right[equal[1]..];
        values.push(value);
        steps.push(equal.map(|count| count as u64));
    }
    (values, steps)
}

/// The smallest score in bin `bin` or above. It replaces the bin's edge as threshold.
fn least_from(samples: &[Sample<'_>; 2], trials: Trials, bin: u32) -> f64 {
    let edge = lower_edge(bin);
    let mut least = f64::INFINITY;
    for sample in samples {
        sample.for_each(trials, |score| least = if score >= edge { least.min(score) } else { least });
    }
    least
}
