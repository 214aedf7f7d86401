//! The input of both discretisations: the masses of P and Q in every cell of the grid.

use super::{LossGrid, Side};
use libm::{exp, expm1, floor, log};

/// The masses that the two laws give to one event.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Masses {
    /// The mass under P.
    pub p: f64,
    /// The mass under Q.
    pub q: f64,
}

/// A pair of laws, given by the cells `[l_i, l_(i+1)]` of the grid `l_i = origin + (first + i) * step`.
///
/// A cell's masses are stored as two point masses at its ends that have the same P and the same Q mass ("connect the
/// dots": Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022). This form is the same for (Q, P) with negated losses, so
/// one `Cells` serves both directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    pub(super) step: f64,
    pub(super) origin: f64,
    pub(super) first: i64,
    /// The P mass at the lower end of each cell.
    pub(super) low: Vec<f64>,
    /// The P mass at the upper end of each cell.
    pub(super) high: Vec<f64>,
    pub(super) below: Masses,
    pub(super) above: Masses,
}

impl Cells {
    /// Cells from the P mass of every cell and its part at the upper end, and the masses outside all cells.
    ///
    /// The part is `share = E_P[(1 - e^(l_i - L)) / (1 - e^-h); cell]`.
    ///
    /// If `share` is computed as a separate integral, P and Q mass do not cancel.
    pub fn from_shares(
        step: f64,
        origin: f64,
        first: i64,
        masses_and_shares: impl Iterator<Item = (f64, f64)>,
        below: Masses,
        above: Masses,
    ) -> Self {
        let (low, high) = masses_and_shares
            .map(|(mass, share)| {
                let share = share.clamp(0.0, mass.max(0.0));
                (mass.max(0.0) - share, share)
            })
            .unzip();
        Cells { step, origin, first, low, high, below, above }
    }

    /// Cells from `P(L > l_i)` and `Q(L > l_i)` at the ends of all cells (one more value than cells).
    ///
    /// Differences of nearly equal values lose digits, which does not matter for tests against closed forms.
    #[cfg(test)]
    pub(super) fn from_survival(step: f64, first: i64, survival_p: &[f64], survival_q: &[f64]) -> Self {
        let (last_p, last_q) = (survival_p[survival_p.len() - 1], survival_q[survival_q.len() - 1]);
        let below = Masses { p: 1.0 - survival_p[0], q: 1.0 - survival_q[0] };
        let cells = survival_p.windows(2).zip(survival_q.windows(2)).enumerate().map(|(i, (p, q))| {
            let lower_end = (first + i as i64) as f64 * step;
            let (p, q) = (p[0] - p[1], q[0] - q[1]);
            (p, (p - q * exp(lower_end)) / -expm1(-step))
        });
        Self::from_shares(step, 0.0, first, cells, below, Masses { p: last_p, q: last_q })
    }

    /// Cells from any partition of the outcomes into events, for a lower bound.
    ///
    /// Reporting only the event is post-processing, so no order and no monotone loss is needed. A finer partition gives
    /// a better bound.
    ///
    /// The grid has `cells` cells from `first` on. Events outside it count as below or above the grid.
    pub fn from_events(step: f64, first: i64, cells: usize, events: impl Iterator<Item = Masses>) -> Self {
        let mut result = Cells {
            step,
            origin: 0.0,
            first,
            low: vec![0.0; cells],
            high: vec![0.0; cells],
            below: Masses::default(),
            above: Masses::default(),
        };
        for Masses { p, q } in events.filter(|event| event.p > 0.0) {
            let loss = log(p) - log(q);
            let cell = floor(loss / step) - first as f64;
            let outside = if cell < 0.0 { Some(&mut result.below) } else { None };
            let outside = if cell >= cells as f64 { Some(&mut result.above) } else { outside };
            if let Some(masses) = outside {
                masses.p += p;
                masses.q += q;
            } else {
                let i = cell as usize;
                let share = p * expm1((first + i as i64) as f64 * step - loss) / expm1(-step);
                let share = share.clamp(0.0, p);
                result.low[i] += p - share;
                result.high[i] += share;
            }
        }
        result
    }

    /// The same pair with P and Q exchanged, so that every loss changes its sign.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let exchange = |masses: &[f64], offset: i64| -> Vec<f64> {
            let under_q =
                masses.iter().enumerate().map(|(i, mass)| mass * exp(-self.end(i as i64 + offset))).rev();
            under_q.collect()
        };
        let swap = |masses: Masses| Masses { p: masses.q, q: masses.p };
        Cells {
            step: self.step,
            origin: -self.origin,
            first: -(self.first + self.low.len() as i64),
            low: exchange(&self.high, 1),
            high: exchange(&self.low, 0),
            below: swap(self.above),
            above: swap(self.below),
        }
    }

    /// These cells without the masses above them: the bulk of a law that is split at a large loss.
    #[must_use]
    pub fn without_above(mut self) -> Self {
        self.above = Masses::default();
        self
    }

    /// The masses above the cells.
    pub fn above(&self) -> Masses {
        self.above
    }

    /// The loss at the upper end of the last cell.
    pub fn top(&self) -> f64 {
        self.end(self.low.len() as i64)
    }

    /// The law whose delta is never too small, before and after composition.
    ///
    /// The losses of a cell move to its two ends. This keeps E\[e^-L\] and can only increase a convex function of e^-L.
    /// Losses below the grid move up to its first point. Losses above the grid go to the last point and to +infinity.
    pub fn pessimistic(&self) -> LossGrid {
        let mut masses = self.point_masses();
        let last = masses.len() - 1;
        masses[0] += self.below.p;
        let kept = (self.above.q * exp(self.end(last as i64))).min(self.above.p);
        masses[last] += kept;
        LossGrid {
            side: Side::Upper,
            step: self.step,
            origin: self.origin,
            first: self.first,
            masses,
            infinity_mass: self.above.p - kept,
        }
    }

    /// The loss at the lower end of cell `i`.
    pub(super) fn end(&self, i: i64) -> f64 {
        self.origin + (self.first + i) as f64 * self.step
    }

    /// The P masses at all ends, without the masses outside the cells.
    pub(super) fn point_masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.low.len() + 1];
        for (i, (low, high)) in self.low.iter().zip(&self.high).enumerate() {
            masses[i] += low;
            masses[i + 1] += high;
        }
        masses
    }
}
