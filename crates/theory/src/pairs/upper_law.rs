//! A law of the one-epoch loss that is never too small: it connects the dots of the divergence.
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

use super::knots::Knots;
use crate::pld::{LossGrid, Side};

/// The relative margin for round-off in the differences.
const MARGIN: f64 = 1e-11;

/// The divergence and the reverse divergence at one level.
#[derive(Clone, Copy)]
struct Dot {
    index: i64,
    level: f64,
    delta: f64,
    reverse_delta: f64,
}

/// The loss law whose divergences are never too small.
pub fn upper_law(knots: &Knots) -> LossGrid {
    let start = Dot { index: i64::MIN, level: f64::NEG_INFINITY, delta: 1.0, reverse_delta: f64::NAN };
    let mut hull = vec![start];
    for (index, point) in &knots.points {
        let odds = point.level.exp();
        let (delta, reverse_delta) = if point.level >= 0.0 {
            let delta = point.delta_upper_bound * (1.0 + MARGIN);
            (delta, (delta - 1.0) / odds + 1.0)
        } else {
            let reverse = point.reverse_delta_upper_bound * (1.0 + MARGIN);
            ((reverse - 1.0) * odds + 1.0, reverse)
        };
        let dot = Dot { index: *index, level: point.level, delta, reverse_delta };
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
    LossGrid { side: Side::Upper, step: knots.step, origin: 0.0, first, masses, infinity_mass }
}

/// The mass under P at `here`, computed from its neighbours on the hull.
fn mass(before: Dot, here: Dot, after: Option<Dot>) -> f64 {
    let up = |after: Dot| (after.level - here.level).exp_m1();
    let down = -(before.level - here.level).exp_m1();
    if here.level >= 0.0 || before.level == f64::NEG_INFINITY {
        after.map_or(0.0, |after| (after.delta - here.delta) / up(after)) - (here.delta - before.delta) / down
    } else {
        // This is the mass under Q from the reverse divergence, whose levels have the opposite order.
        let towards_before =
            (before.reverse_delta - here.reverse_delta) / (here.level - before.level).exp_m1();
        let towards_after = after.map_or(0.0, |after| {
            (here.reverse_delta - after.reverse_delta) / -(here.level - after.level).exp_m1()
        });
        (towards_before - towards_after) * here.level.exp()
    }
}
