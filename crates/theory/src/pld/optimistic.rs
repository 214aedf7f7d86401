//! The law whose delta is never too large, with the same second-order error as connecting the dots.
//!
//! Write h(a) = delta(ln a), a convex function of a = e^epsilon. A law on the grid is a convex, piecewise linear h with
//! corners on the grid. The pair dominates it exactly if it lies below the pair's h.
//!
//! Connecting the dots gives chords, which lie above h. Take a cell with point masses A and B (under Q) at its ends.
//! There h is at most `A B (a_(i+1) - a_i) / (A + B)` below the chord, at the point where the two end tangents meet. So
//! every dot is lowered by the larger of its two neighbouring gaps. Then all chords lie below h, and the lower convex
//! hull of the lowered dots is the wanted law.
//!
//! Left of the first dot the curve is a line to its value at a = 0, the total under P, which does not change. Proof:
//! `docs/proofs/grid-laws.md`. Compare Doroshenko et al. 2022, section 5, who construct such a curve from tangents.

use super::{Cells, LossGrid, Side};
use libm::{exp, expm1};

impl Cells {
    /// The law whose delta is never too large, before and after composition.
    ///
    /// Losses above the grid move down to its last point. Losses below the grid are dropped.
    pub fn optimistic(&self) -> LossGrid {
        let mut masses = self.point_masses();
        let last = masses.len() - 1;
        masses[last] += self.above.p;
        let lowered_by = self.lowered_by(&masses);
        let (rise, fall) = (expm1(self.step), -expm1(-self.step));
        let lowered: Vec<f64> = (0..=last)
            .map(|i| {
                let here = lowered_by[i];
                let slope_after = if i < last { (lowered_by[i + 1] - here) / rise } else { -here / rise };
                let slope_before = if i > 0 { (here - lowered_by[i - 1]) / fall } else { here };
                masses[i] - slope_after + slope_before
            })
            .collect();
        LossGrid {
            side: Side::Lower,
            step: self.step,
            origin: self.origin,
            first: self.first,
            masses: convex_hull(lowered, self.step),
            infinity_mass: 0.0,
        }
    }

    /// The amount by which each dot is lowered.
    ///
    /// This is the larger of its two gaps, but at most half of its distance d to the two lines that h approaches. These
    /// lines are 0 on the right and 1 - a on the left. A curve below them would lose mass.
    ///
    /// If that is too little, a neighbour is lowered further. So the chord still passes below the point where the
    /// tangents meet, `A d_i + B d_(i+1) >= A B (a_(i+1) - a_i)`. It is the neighbour towards the middle of the law,
    /// which is far enough from both lines.
    fn lowered_by(&self, masses: &[f64]) -> Vec<f64> {
        let last = masses.len() - 1;
        let (fall, rise, shrink) = (-expm1(-self.step), expm1(self.step), exp(-self.step));
        // The distance to the line on the right is delta itself.
        let mut delta = vec![0.0; last + 1];
        let mut mass_above = masses[last];
        for i in (0..last).rev() {
            delta[i] = shrink * delta[i + 1] + fall * mass_above;
            mass_above += masses[i];
        }
        // The distance to the line on the left, while it is the smaller of the two.
        let mut distance = delta.clone();
        let (mut from_left, mut mass_below, mut middle) = (0.0, 0.0, 0);
        while middle < last && from_left < delta[middle] {
            distance[middle] = from_left;
            mass_below += masses[middle];
            from_left = from_left / shrink + rise * mass_below;
            middle += 1;
        }
        let (low, high) = (&self.low, &self.high);
        let gap = |i: usize| {
            if low[i] > 0.0 && high[i] > 0.0 {
                low[i] * high[i] * fall / (low[i] + high[i] * shrink)
            } else {
                0.0
            }
        };
        let larger_gap = |i: usize| match i {
            0 => gap(0),
            _ if i == last => gap(last - 1),
            _ => gap(i - 1).max(gap(i)),
        };
        let mut lowered_by: Vec<f64> = (0..=last).map(|i| larger_gap(i).min(0.5 * distance[i])).collect();
        let needed_before = |i: usize, after: f64| {
            if low[i] > 0.0 { high[i] * (fall - shrink / low[i] * after) } else { 0.0 }
        };
        let needed_after = |i: usize, before: f64| {
            if high[i] > 0.0 { low[i] * (rise - before / (high[i] * shrink)) } else { 0.0 }
        };
        for i in (middle..last).rev() {
            lowered_by[i] = lowered_by[i].max(needed_before(i, lowered_by[i + 1])).min(delta[i]);
        }
        for i in 0..middle {
            let needed = needed_after(i, lowered_by[i]);
            let possible = if i + 1 < middle { delta[i + 1] } else { 0.5 * delta[i + 1] };
            if needed > lowered_by[i + 1] {
                lowered_by[i + 1] = needed.min(possible.max(lowered_by[i + 1]));
                lowered_by[i] = lowered_by[i].max(needed_before(i, lowered_by[i + 1])).min(delta[i]);
            }
        }
        lowered_by
    }
}

/// Removes the corners that bend the wrong way.
///
/// A negative mass is spread over the remaining neighbours, which keeps the total under P and under Q. This replaces
/// the two lines at the corner by the chord below them.
fn convex_hull(masses: Vec<f64>, step: f64) -> Vec<f64> {
    let mut hull = vec![0.0; masses.len()];
    let mut kept: Vec<(usize, f64)> = Vec::with_capacity(masses.len());
    for (i, mass) in masses.into_iter().enumerate() {
        let mut mass = mass;
        while let Some(&(corner, bend)) = kept.last()
            && bend < 0.0
        {
            kept.pop();
            match kept.last_mut() {
                Some((before, left)) => {
                    let share =
                        expm1(-((corner - *before) as f64) * step) / expm1(-((i - *before) as f64) * step);
                    mass += bend * share;
                    *left += bend * (1.0 - share);
                }
                None => mass += bend,
            }
        }
        kept.push((i, mass));
    }
    for (i, mass) in kept {
        hull[i] = mass.max(0.0);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pld::Masses;
    use misdeal_core::normal;

    /// The Gaussian pair with mu = 1: L ~ N(1/2, 1) under P and N(-1/2, 1) under Q.
    fn gaussian(step: f64) -> Cells {
        let first = (-9.0 / step) as i64;
        let n = (18.0 / step) as usize;
        let loss = |i: usize| (first + i as i64) as f64 * step;
        let survival = |mean: f64| -> Vec<f64> { (0..=n).map(|i| normal::cdf(mean - loss(i))).collect() };
        Cells::from_survival(step, first, &survival(0.5), &survival(-0.5))
    }

    #[test]
    fn lies_below_and_costs_the_step_squared() {
        for step in [0.2, 0.1, 0.05] {
            let (lower, upper) = (gaussian(step).optimistic(), gaussian(step).pessimistic());
            for i in 0..60 {
                let epsilon = f64::from(i) * 0.0513;
                let exact = normal::cdf(0.5 - epsilon) - exp(epsilon) * normal::cdf(-0.5 - epsilon);
                let (below, above) = (lower.delta(epsilon), upper.delta(epsilon));
                assert!(below <= exact * (1.0 + 1e-9) && exact <= above * (1.0 + 1e-9), "{step} {epsilon}");
                assert!(above - below < 0.12 * step * step, "{step} {epsilon} {below} {above}");
            }
        }
    }

    #[test]
    fn stays_below_where_the_law_is_rough() {
        // Three atoms, two of them inside one cell, and one beyond the grid.
        let events = [(0.3, 0.4), (0.3, 0.35), (0.399, 0.2499), (0.001, 0.0001)];
        let events = events.map(|(p, q)| Masses { p, q });
        let cells = Cells::from_events(0.5, -2, 5, events.into_iter());
        let lower = cells.optimistic();
        for i in 0..100 {
            let epsilon = f64::from(i) * 0.03;
            let exact: f64 = events.iter().map(|e| (e.p - exp(epsilon) * e.q).max(0.0)).sum();
            assert!(lower.delta(epsilon) <= exact + 1e-15, "{epsilon}");
        }
        let reversed = cells.reversed().optimistic();
        let exact: f64 = events.iter().map(|e| (e.q - e.p).max(0.0)).sum();
        assert!(reversed.delta(0.0) <= exact);
    }
}
