//! Finds where an increasing probability crosses a level.

use libm::log;

/// The result may lie below the crossing by this much.
const TOLERANCE: f64 = 1e-10;

/// The largest x >= `floor` with `probability(x)` below `level`, or `floor` if there is none.
///
/// The result is too small by at most 1e-10. `start` is a guess. If the result is `floor`, one evaluation suffices.
///
/// `probability` must not decrease. The search uses the secant of its logarithm, kept inside a bracket. The logarithm
/// of a tail is nearly straight, so few evaluations are needed.
pub(crate) fn crossing(level: f64, floor: f64, start: f64, probability: impl Fn(f64) -> f64) -> f64 {
    // Far below the level the logarithm carries little information and may be infinite.
    let excess = |x: f64| log((probability(x) / level).clamp(1e-20, 1e20));
    let (mut low, mut high) = (floor, start.max(floor) + 0.05);
    let mut at_low = excess(low);
    if at_low >= 0.0 {
        return floor;
    }
    let mut at_high = excess(high);
    while at_high < 0.0 {
        (low, at_low) = (high, at_high);
        high = 1.5 * high + 0.1;
        at_high = excess(high);
        if high > 1e6 {
            return f64::INFINITY;
        }
    }
    // A good guess also gives the lower end of the bracket.
    for step in [0.1, 0.8] {
        let below = start - step;
        if below > low {
            let value = excess(below);
            if value < 0.0 {
                (low, at_low) = (below, value);
                break;
            }
            (high, at_high) = (below, value);
        }
    }
    let mut slow = false;
    for _ in 0..200 {
        if high - low < TOLERANCE || at_high == 0.0 && high - low < 1e-7 {
            break;
        }
        let secant = low + (high - low) * (-at_low / (at_high - at_low));
        // Move the secant slightly across the crossing, so that both ends of the bracket move.
        let nudge = 0.4 * TOLERANCE;
        let width = high - low;
        let x = if slow || secant.is_nan() {
            low.midpoint(high)
        } else {
            let nudged = if -at_low < at_high { secant + nudge } else { secant - nudge };
            nudged.clamp(low + nudge.min(0.25 * width), high - nudge.min(0.25 * width))
        };
        let value = excess(x);
        if value < 0.0 {
            (low, at_low) = (x, value);
        } else {
            (high, at_high) = (x, value);
        }
        slow = high - low > 0.5 * width && !slow;
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn finds_the_crossing_from_any_start_in_few_steps() {
        let calls = Cell::new(0);
        let tail = |x: f64| {
            calls.set(calls.get() + 1);
            misdeal_core::normal::cdf(2.0 * x - 9.0)
        };
        for level in [1e-6, 1e-3, 0.05] {
            let exact = 0.5 * (9.0 + misdeal_core::normal::lower_quantile(level));
            for start in [0.0, exact - 0.01, exact, exact + 0.3, 20.0] {
                calls.set(0);
                let found = crossing(level, 0.0, start, tail);
                assert!((-1e-12..2e-10).contains(&(exact - found)), "{level} {start}: {found} for {exact}");
                assert!(calls.get() < 60, "{level} {start}: {}", calls.get());
            }
        }
        assert_eq!(crossing(0.05, 0.0, 3.0, |_| 0.06), 0.0);
        calls.set(0);
        assert_eq!((crossing(0.05, 5.0, 3.0, tail), calls.get()), (5.0, 1));
        assert!((crossing(0.05, 2.0, 3.0, tail) - crossing(0.05, 0.0, 3.0, tail)).abs() < 2e-10);
    }
}
