//! The epsilon of one epoch: where the hockey-stick divergence meets delta, from both sides.

use super::cells::Cells;
use super::level::{LevelEvaluator, Sharpness};
use super::shift_pair::ShiftPair;
use super::{CELLS_PER_DEVIATION, PairInterval};

/// Relative width at which a root is bracketed closely enough.
const ROOT_WIDTH: f64 = 1e-6;

/// The interval that holds the pair's epsilon at `delta` for one epoch, the larger of both directions.
///
/// The lower end has a divergence certified to be at least `delta`, the upper end one that is at most `delta`.
pub fn one_epoch(pair: &ShiftPair, delta: f64) -> PairInterval {
    let cells = Cells::new(pair, CELLS_PER_DEVIATION);
    let mut evaluator = LevelEvaluator::new(pair, &cells);
    let sharpness = Sharpness { relative: 3e-4, absolute: 1e-5 * delta, most_points: 1 << 19 };
    let mut at = |epsilon: f64, forward: bool| {
        let level = if forward { epsilon } else { -epsilon };
        let point = evaluator.evaluate(level, &sharpness);
        if forward { point } else { point.reversed() }
    };
    let mut interval = PairInterval { epsilon_lower_bound: 0.0, epsilon_upper_bound: 0.0 };
    for forward in [true, false] {
        // Where the other direction is already known to be larger, this one has nothing to add.
        let start = at(interval.epsilon_lower_bound, forward);
        if start.delta_upper_bound <= delta {
            continue;
        }
        let from = interval.epsilon_lower_bound;
        let mut lower = |epsilon| at(epsilon, forward).delta_lower_bound;
        let (below, above) = bracket(&mut lower, delta, from, start.delta_lower_bound);
        let mut upper = |epsilon| at(epsilon, forward).delta_upper_bound;
        let at_above = upper(above);
        let (_, end) = if at_above <= delta {
            (below, above)
        } else {
            bracket(&mut upper, delta, above, at_above)
        };
        interval.epsilon_lower_bound = interval.epsilon_lower_bound.max(below);
        interval.epsilon_upper_bound = interval.epsilon_upper_bound.max(end);
    }
    interval
}

/// Two nearby points with `value(first) >= target > value(second)` for a decreasing `value`, from `start` upwards;
/// both are `start` where even there the value is below the target.
///
/// Only the two inequalities are used as certificates: noise in `value` costs width, not truth.
fn bracket(value: &mut impl FnMut(f64) -> f64, target: f64, start: f64, at_start: f64) -> (f64, f64) {
    let log_ratio = |v: f64| (v.max(1e-300) / target).ln();
    let (mut left, mut at_left) = (start, log_ratio(at_start));
    if at_left < 0.0 {
        return (start, start);
    }
    let mut stride = 0.1 + 0.01 * start;
    let (mut right, mut at_right) = loop {
        let right = left + stride;
        let at_right = log_ratio(value(right));
        if at_right < 0.0 {
            break (right, at_right);
        }
        (left, at_left) = (right, at_right);
        stride *= 2.0;
    };
    let mut last_moved_left = None;
    while right - left > ROOT_WIDTH * right {
        // Regula falsi in ln value, the Illinois way; kept off the ends so that both of them move.
        let share = (at_left / (at_left - at_right)).clamp(0.02, 0.98);
        let middle = left + share * (right - left);
        let at_middle = log_ratio(value(middle));
        if at_middle >= 0.0 {
            (left, at_left) = (middle, at_middle);
            if last_moved_left == Some(true) {
                at_right *= 0.5;
            }
            last_moved_left = Some(true);
        } else {
            (right, at_right) = (middle, at_middle);
            if last_moved_left == Some(false) {
                at_left *= 0.5;
            }
            last_moved_left = Some(false);
        }
    }
    (left, right)
}

