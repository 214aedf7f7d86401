//! The levels at which a pair's one-epoch law is computed: dense where the composed law is sensitive to them.

use super::cells::Cells;
use super::level::{LevelEvaluator, LevelPoint, Sharpness};
use super::shift_pair::ShiftPair;
use super::{CELLS_PER_DEVIATION, Target};
use crate::work::{OutOfReach, Work};
use rayon::prelude::*;

/// The number of grid steps between the lowest and the highest level.
const STEPS: i64 = 1 << 13;
/// From this number of epochs on there are fewer steps. A composed law has about `STEPS sqrt(epochs)` points. The
/// grid's error is of the order of `epochs / STEPS^2`, which is small compared with an epsilon of the order of
/// `epochs`.
const EPOCHS_OF_ALL_STEPS: u64 = 1 << 17;
/// The number of equally spaced gaps between levels before refinement.
const FIRST_KNOTS: i64 = 128;
/// The fewest gaps before refinement, used if more gaps would take more than half of the work.
const FEWEST_KNOTS: i64 = 16;
/// A thread evaluates at least this many levels. Every level is a pure function of the pair, so the number of threads
/// changes no result.
const LEAST_LEVELS: usize = 8;
/// The number of levels that are paid for together.
const PAID_TOGETHER: usize = 32;
/// The share of the remaining work that one level may take.
const SHARE: f64 = 1.0 / 32.0;
/// The largest share of the law's variance that rounding in one gap between levels may add.
const VARIANCE_SHARE: f64 = 3e-6;
/// The largest change of the logarithm of a tail between two levels.
const LOG_TAIL_CHANGE: f64 = 0.1;

/// The points of one pair at levels `index * step`, ascending.
#[derive(Debug, Clone)]
pub struct Knots {
    /// The width of the grid of losses.
    pub step: f64,
    /// The indices and the points at their levels.
    pub points: Vec<(i64, LevelPoint)>,
}

impl Knots {
    /// The knots for composing `target.epochs` epochs at `target.delta`.
    ///
    /// Beyond the outermost knots both divergences are at most 1e-4 delta / epochs. Refinement ends early if the work
    /// runs out; fewer knots are also valid.
    ///
    /// # Errors
    /// The remaining work is too little.
    pub fn new(pair: &ShiftPair, target: Target, work: &Work) -> Result<Self, OutOfReach> {
        let tail = 1e-4 * target.delta / target.epochs as f64;
        let cells = Cells::within(pair, CELLS_PER_DEVIATION, work)?;
        let sharpness = Sharpness { relative: 3e-4, absolute: 3.0 * tail, most_points: 1 << 17 };
        let coarse = Sharpness { relative: 0.5, absolute: 0.5 * tail, ..sharpness };
        let mut evaluator = LevelEvaluator::new(pair, &cells);
        let most = pair.known_batch(1).epsilon_upper_bound(tail);
        let mut dearest = 0.0_f64;
        let mut at = |level: f64| {
            let (point, spent) = evaluator.evaluate(level, &coarse, SHARE * work.left())?;
            work.charge(spent)?;
            dearest = dearest.max(spent);
            Ok(point)
        };
        let top = reach(most, tail, |level| Ok(at(level)?.delta_upper_bound))?;
        let bottom = -reach(most, tail, |level| Ok(at(-level)?.reverse_delta_upper_bound))?;
        let step = (top - bottom) / steps(target.epochs) as f64;
        let (first, last) = ((bottom / step).floor() as i64, (top / step).ceil() as i64);

        let evaluate = |indices: &[i64]| evaluate_all(pair, &cells, &sharpness, step, indices, work);
        let mut gaps = FIRST_KNOTS;
        while gaps > FEWEST_KNOTS && gaps as f64 * dearest > 0.5 * work.left() {
            gaps /= 2;
        }
        let indices: Vec<i64> = (0..=gaps).map(|i| first + (last - first) * i / gaps).collect();
        let (mut points, is_complete) = evaluate(&indices);
        if !is_complete {
            return Err(OutOfReach);
        }
        loop {
            let variance = variance(&points);
            let middles: Vec<i64> = points
                .windows(2)
                .filter(|gap| gap[1].0 - gap[0].0 > 1 && needs_middle(&gap[0].1, &gap[1].1, variance, tail))
                .map(|gap| i64::midpoint(gap[0].0, gap[1].0))
                .collect();
            if middles.is_empty() {
                return Ok(Self { step, points });
            }
            let (more, is_complete) = evaluate(&middles);
            points.extend(more);
            points.sort_by_key(|(index, _)| *index);
            if !is_complete {
                return Ok(Self { step, points });
            }
        }
    }

    /// The knots of the pair with P and Q exchanged.
    pub fn reversed(&self) -> Self {
        let points = self.points.iter().rev().map(|(index, point)| (-index, point.reversed())).collect();
        Self { points, ..*self }
    }
}

/// A level in (0, `most`] from which on the divergence is at most `tail`, accurate to a few per cent.
fn reach(
    most: f64,
    tail: f64,
    mut divergence: impl FnMut(f64) -> Result<f64, OutOfReach>,
) -> Result<f64, OutOfReach> {
    let (mut low, mut high) = (0.0, most);
    let mut share = 1.0 / 64.0;
    while share < 1.0 {
        if divergence(most * share)? <= tail {
            high = most * share;
            break;
        }
        low = most * share;
        share *= 2.0;
    }
    while high - low > 0.03 * high {
        let middle = 0.5 * (low + high);
        if divergence(middle)? <= tail { high = middle } else { low = middle }
    }
    Ok(high)
}

/// The number of grid steps for this many epochs: a power of two.
fn steps(epochs: u64) -> i64 {
    let halvings =
        (epochs / EPOCHS_OF_ALL_STEPS).checked_ilog2().map_or(0, |doublings| doublings.div_ceil(2));
    (STEPS >> halvings).max(FIRST_KNOTS)
}

/// The points at `indices`, in that order, until the work runs out, and whether these are all.
///
/// Levels are paid for after a group of them is computed. The allowance of one level shrinks with the remaining work,
/// so the levels never take more than that.
fn evaluate_all(
    pair: &ShiftPair,
    cells: &Cells,
    sharpness: &Sharpness,
    step: f64,
    indices: &[i64],
    work: &Work,
) -> (Vec<(i64, LevelPoint)>, bool) {
    let new_evaluator = || LevelEvaluator::new(pair, cells);
    let mut points = Vec::with_capacity(indices.len());
    for together in indices.chunks(PAID_TOGETHER) {
        let allowed = SHARE * work.left();
        let found: Vec<_> = together
            .par_iter()
            .with_min_len(LEAST_LEVELS)
            .map_init(new_evaluator, |evaluator, &index| {
                (index, evaluator.evaluate(index as f64 * step, sharpness, allowed))
            })
            .collect();
        for (index, found) in found {
            let Ok((point, spent)) = found else { return (points, false) };
            if work.charge(spent).is_err() {
                return (points, false);
            }
            points.push((index, point));
        }
    }
    (points, true)
}

/// The approximate variance of the loss under P.
fn variance(points: &[(i64, LevelPoint)]) -> f64 {
    let gaps = points.windows(2).map(|gap| {
        let mass = (gap[0].1.present - gap[1].1.present).max(0.0);
        (mass, 0.5 * (gap[0].1.level + gap[1].1.level))
    });
    let sums = gaps.fold([0.0; 3], |sums, (mass, level)| {
        [sums[0] + mass, sums[1] + mass * level, sums[2] + mass * level * level]
    });
    let mean = sums[1] / sums[0];
    sums[2] / sums[0] - mean * mean
}

/// Whether a gap between two levels adds too much variance, or a relevant tail changes too much across it.
fn needs_middle(low: &LevelPoint, high: &LevelPoint, variance: f64, tail: f64) -> bool {
    let width = high.level - low.level;
    let mass = low.present - high.present;
    let relevant = |tail_mass: f64| tail_mass < 0.5 && tail_mass > 30.0 * tail;
    let falls = |from: f64, to: f64| relevant(from) && from > to * LOG_TAIL_CHANGE.exp();
    mass * width * width > VARIANCE_SHARE * variance
        || falls(low.present, high.present)
        || falls(high.absent_complement, low.absent_complement)
}
