//! The epsilon of one epoch: the level at which the hockey-stick divergence equals delta, from both sides.

use super::cells::Cells;
use super::level::{LevelEvaluator, Sharpness};
use super::shift_pair::ShiftPair;
use super::{CELLS_PER_DEVIATION, PairInterval};
use crate::root::{Bracket, narrow};
use crate::work::{OutOfReach, Work};

/// The relative width at which a root's bracket is narrow enough.
const ROOT_WIDTH: f64 = 1e-6;

/// The share of the remaining work that one level may take. The search evaluates many levels.
const SHARE: f64 = 1.0 / 8.0;

/// The interval that holds the pair's epsilon at `delta` for one epoch, for the larger of both directions.
///
/// At the lower end the divergence is certified to be at least `delta`. At the upper end it is certified to be at most
/// `delta`. Alternatively the upper end is the epsilon of the Gaussian pair of a known batch, which dominates by joint
/// convexity.
pub(super) fn one_epoch(pair: &ShiftPair, delta: f64, work: &Work) -> Result<PairInterval, OutOfReach> {
    let cells = Cells::within(pair, CELLS_PER_DEVIATION, work)?;
    let mut evaluator = LevelEvaluator::new(pair, &cells);
    let sharpness = Sharpness { relative: 3e-4, absolute: 1e-5 * delta, most_points: 1 << 19 };
    let most = pair.known_batch(1).epsilon_upper_bound(delta);
    let mut interval = PairInterval { epsilon_lower_bound: 0.0, epsilon_upper_bound: 0.0 };
    for forward in [true, false] {
        let mut at = |epsilon: f64| {
            let level = if forward { epsilon } else { -epsilon };
            let (point, spent) = evaluator.evaluate(level, &sharpness, SHARE * work.left())?;
            work.charge(spent)?;
            Ok(if forward { point } else { point.reversed() })
        };
        // If the other direction already has a larger epsilon, this direction adds nothing.
        let from = interval.epsilon_lower_bound;
        let start = at(from)?;
        if start.delta_upper_bound <= delta {
            continue;
        }
        let lower = fall(|epsilon| Ok(at(epsilon)?.delta_lower_bound), delta, [from, most])?;
        let upper = fall(|epsilon| Ok(at(epsilon)?.delta_upper_bound), delta, [lower.low.0, most])?;
        interval.epsilon_lower_bound = lower.low.0;
        interval.epsilon_upper_bound = interval.epsilon_upper_bound.max(upper.high.0);
    }
    Ok(interval)
}

/// Two points close together in `range` with `value(low) >= delta > value(high)`, for a decreasing `value`.
///
/// If `value` does not cross delta inside the range, the result is an end of the range.
///
/// The two inequalities are the certificates. Noise in `value` makes the interval wider but not wrong.
fn fall(
    mut value: impl FnMut(f64) -> Result<f64, OutOfReach>,
    delta: f64,
    range: [f64; 2],
) -> Result<Bracket, OutOfReach> {
    let mut refused = None;
    let log_ratio = |epsilon: f64| match value(epsilon) {
        Ok(value) => (value.max(1e-300) / delta).ln(),
        // Zero ends the search, as at an exact root.
        Err(out_of_reach) => {
            refused = Some(out_of_reach);
            0.0
        }
    };
    let found = fall_of(log_ratio, range);
    refused.map_or(Ok(found), Err)
}

fn fall_of(mut log_ratio: impl FnMut(f64) -> f64, range: [f64; 2]) -> Bracket {
    let [start, end] = range;
    let mut low = (start, log_ratio(start));
    if low.1 <= 0.0 {
        return Bracket { low, high: low };
    }
    // Levels far beyond the root cost more than levels before it, so the search starts from below.
    let mut stride = ROOT_WIDTH.max(0.02 * start);
    loop {
        let at = low.0 + stride;
        if at >= end {
            return narrow(log_ratio, Bracket { low, high: (end, -1.0) }, ROOT_WIDTH * end.max(1e-3));
        }
        let high = (at, log_ratio(at));
        if high.1 <= 0.0 {
            return narrow(log_ratio, Bracket { low, high }, ROOT_WIDTH * at);
        }
        low = high;
        stride = (4.0 * stride).max(0.02 * end);
    }
}
