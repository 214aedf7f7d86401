//! How far a sum of terms can reach: the window in which its law is computed, with the probability of leaving it.

use super::cells::{CellMass, Spread};
use super::shift_pair::WeightGroup;

/// A window for the sum of the terms of all batches but the target's, and for each term by itself.
///
/// With `clip = below + floor`, where no term is below `-floor`: a term above `clip` makes the whole sum positive
/// unless the others fall below `-below`.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The sum stays above `-below`, for any number of the terms, ...
    pub below: f64,
    /// ... and, while every term is below `clip`, under `above`.
    pub above: f64,
    /// A term at least this large decides the sign by itself.
    pub clip: f64,
    below_tilt: Chernoff,
    above_tilt: Chernoff,
    terms: f64,
}

/// One exponential moment bound: ln P(beyond distance r) <= `log_moments` - `tilt` r.
#[derive(Debug, Clone, Copy)]
struct Chernoff {
    tilt: f64,
    log_moments: f64,
}

impl Window {
    /// The window that the sum leaves with probability at most about e^-`log_odds` on either side.
    ///
    /// `spreads` and `masses` are the cells' law of the scaled term; group i scales it by `weight_i / largest`.
    pub fn new(
        spreads: &[Spread],
        masses: &[CellMass],
        groups: &[WeightGroup],
        floor: f64,
        log_odds: f64,
    ) -> Self {
        let largest = groups.iter().map(|group| group.weight).fold(0.0, f64::max);
        let terms: f64 = groups.iter().map(|group| group.batches as f64).sum();
        let log_moments = |sign: f64, clip: f64, tilt: f64| -> f64 {
            let group_moment = |group: &WeightGroup| {
                let scale = group.weight / largest;
                let end = |value: f64, share: f64| {
                    if value * scale < clip { share * (sign * tilt * scale * value).exp() } else { 0.0 }
                };
                let cell = |(spread, mass): (&Spread, &CellMass)| {
                    // A cell that straddles the clip is counted at the clip, the most its unclipped part can be.
                    if spread.low * scale < clip && spread.high * scale >= clip && sign > 0.0 {
                        return mass.base * (tilt * clip).exp();
                    }
                    let share = spread.high_share;
                    mass.base * (end(spread.low, 1.0 - share) + end(spread.high, share))
                };
                let moment: f64 = spreads.iter().zip(masses).map(cell).sum();
                if !moment.is_finite() {
                    return f64::INFINITY; // zero mass times an overflow, among others
                }
                // Any number of the terms, up to all: never less than nothing.
                group.batches as f64 * moment.ln().max(0.0)
            };
            groups.iter().map(group_moment).sum()
        };
        let below_tilt = shortest_reach(log_odds, |tilt| log_moments(-1.0, f64::INFINITY, tilt));
        let below = below_tilt.reach(log_odds).max(floor);
        let clip = below + floor;
        let above_tilt = shortest_reach(log_odds, |tilt| log_moments(1.0, clip, tilt));
        let above = above_tilt.reach(log_odds).max(1.05 * clip);
        Self { below, above, clip, below_tilt, above_tilt, terms }
    }

    /// The power of two from which on a grid over the window rounds finely enough to keep the tails inside.
    pub fn least_points(&self) -> usize {
        let tilt = self.below_tilt.tilt.max(self.above_tilt.tilt);
        let points = (self.below + self.above) * tilt * self.terms.sqrt();
        (points.min(1e9) as usize).next_power_of_two()
    }

    /// Upper bounds on the probabilities of leaving below and above, when each term has moreover been rounded at
    /// random, without bias, to a grid of this `step`: each rounding has moment at most e^(tilt^2 step^2 / 8).
    pub fn escapes(&self, step: f64) -> (f64, f64) {
        let escape = |side: &Chernoff, reach: f64| {
            let rounding = self.terms * (side.tilt * step).powi(2) / 8.0;
            // One step is lost where the window's ends are rounded to the grid.
            (side.log_moments + rounding - side.tilt * (reach - 2.0 * step)).exp().min(1.0)
        };
        (escape(&self.below_tilt, self.below), escape(&self.above_tilt, self.above))
    }
}

impl Chernoff {
    /// The distance beyond which the probability is at most e^-`log_odds`; infinite where the moments overflow.
    fn reach(&self, log_odds: f64) -> f64 {
        let reach = (log_odds + self.log_moments) / self.tilt;
        if reach.is_nan() { f64::INFINITY } else { reach }
    }
}

/// The tilt with the smallest reach. The reach is quasi-convex in ln tilt, so golden sections find it; any tilt is
/// valid, so a search that stops early costs width, not truth.
fn shortest_reach(log_odds: f64, log_moments: impl Fn(f64) -> f64) -> Chernoff {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let at = |log_tilt: f64| {
        let tilt = log_tilt.exp();
        Chernoff { tilt, log_moments: log_moments(tilt) }
    };
    let (mut left, mut right) = (-20.0, 14.0);
    let mut inner = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)];
    let mut found = inner.map(at);
    while right - left > 0.05 {
        if found[0].reach(log_odds) <= found[1].reach(log_odds) {
            right = inner[1];
            inner = [right - GOLDEN * (right - left), inner[0]];
            found = [at(inner[0]), found[0]];
        } else {
            left = inner[0];
            inner = [inner[1], left + GOLDEN * (right - left)];
            found = [found[1], at(inner[1])];
        }
    }
    if found[0].reach(log_odds) <= found[1].reach(log_odds) { found[0] } else { found[1] }
}
