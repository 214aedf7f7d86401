//! A loss law from values of its divergence that are never too small: it connects the dots.
//!
//! H(a) = delta(ln a) is convex in a = e^level. Take values that are at least H, and connect them by lines over their
//! lower convex hull. These lines are at least H everywhere, and so is every divergence after composition. They are the
//! H of a law on the knots (Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the dots"). The mass under P at
//! a knot is
//!
//! ```text
//! p_i = (d_(i+1) - d_i) / (e^(l_(i+1) - l_i) - 1) - (d_i - d_(i-1)) / (1 - e^(l_(i-1) - l_i)).
//! ```
//!
//! Below level 0 the code does the same with the reverse divergence, H(a) = 1 - a + a H'(1/a), which exchanges P and Q.

use super::{LossGrid, Side};
use libm::{exp, expm1};

/// The relative margin for round-off in the differences.
const MARGIN: f64 = 1e-11;

/// The divergence at one level, which is the point `index` of the grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Divergence {
    pub index: i64,
    pub level: f64,
    /// H at e^level from level 0 on, and below it the reverse divergence at e^-level. Never too small.
    pub value: f64,
}

/// The divergence and the reverse divergence at one level.
#[derive(Clone, Copy)]
struct Dot {
    index: i64,
    level: f64,
    delta: f64,
    reverse_delta: f64,
}

/// The loss law of the least convex curve above the divergences, for levels in ascending order.
pub(crate) fn connect_dots(step: f64, divergences: impl Iterator<Item = Divergence>) -> LossGrid {
    let start = Dot { index: i64::MIN, level: f64::NEG_INFINITY, delta: 1.0, reverse_delta: f64::NAN };
    let mut hull = vec![start];
    for Divergence { index, level, value } in divergences {
        let (odds, value) = (exp(level), value * (1.0 + MARGIN));
        let (delta, reverse_delta) = if level >= 0.0 {
            (value, (value - 1.0) / odds + 1.0)
        } else {
            ((value - 1.0) * odds + 1.0, value)
        };
        let dot = Dot { index, level, delta, reverse_delta };
        while hull.len() > 1 && mass(hull[hull.len() - 2], hull[hull.len() - 1], Some(dot)) <= 0.0 {
            hull.pop();
        }
        hull.push(dot);
    }
    // Above the last knot the divergence is taken as constant, so that mass is at infinity.
    while hull.len() > 2 && mass(hull[hull.len() - 2], hull[hull.len() - 1], None) <= 0.0 {
        hull.pop();
    }
    let (first, last) = (hull[1].index, hull[hull.len() - 1].index);
    let mut masses = vec![0.0; (last - first + 1) as usize];
    for i in 1..hull.len() {
        masses[(hull[i].index - first) as usize] =
            mass(hull[i - 1], hull[i], hull.get(i + 1).copied()).max(0.0);
    }
    let infinity_mass = hull[hull.len() - 1].delta;
    LossGrid { side: Side::Upper, step, origin: 0.0, first, masses, infinity_mass }
}

/// The mass under P at `here`, computed from its neighbours on the hull.
fn mass(before: Dot, here: Dot, after: Option<Dot>) -> f64 {
    let up = |after: Dot| expm1(after.level - here.level);
    let down = -expm1(before.level - here.level);
    if here.level >= 0.0 || before.level == f64::NEG_INFINITY {
        after.map_or(0.0, |after| (after.delta - here.delta) / up(after)) - (here.delta - before.delta) / down
    } else {
        // This is the mass under Q from the reverse divergence, whose levels have the opposite order.
        let towards_before = (before.reverse_delta - here.reverse_delta) / expm1(here.level - before.level);
        let towards_after = after.map_or(0.0, |after| {
            (here.reverse_delta - after.reverse_delta) / -expm1(here.level - after.level)
        });
        (towards_before - towards_after) * exp(here.level)
    }
}
