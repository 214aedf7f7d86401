//! The window in which a sum's law is computed, with the probability that the sum leaves it.

use super::cells::{CellMass, Spread};
use super::shift_pair::WeightGroup;

/// Minus the logarithm of the probability of leaving the window at level zero.
const LOG_ODDS: f64 = 38.0;

/// A window for the sum of the terms of all batches except the target's, and for each term.
///
/// No term is below `-floor`, and `clip = below + floor`. So a term above `clip` makes the whole sum positive unless
/// the others sum to less than `-below`.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// The sum of any number of the terms stays above `-below`.
    pub below: f64,
    /// The sum stays under `above` while every term is below `clip`.
    pub above: f64,
    /// A term of at least this size decides the sign of the sum.
    pub clip: f64,
    /// Below level zero the sum's law is tilted by e^(-tilt S), so that negative sums are not rare.
    pub tilt: Option<f64>,
    below_tilt: Chernoff,
    above_tilt: Chernoff,
    terms: f64,
}

/// A bound from one exponential moment: ln P(beyond distance r) <= `log_moments` - `tilt` r.
#[derive(Debug, Clone, Copy)]
struct Chernoff {
    tilt: f64,
    log_moments: f64,
}

impl Window {
    /// The window that the sum leaves with probability at most about e^-(38 + |level|) on each side.
    ///
    /// `spreads` and `masses` are the cells' law of the scaled term. Group i scales it by `weight_i / largest`.
    pub fn new(
        spreads: &[Spread],
        masses: &[CellMass],
        groups: &[WeightGroup],
        floor: f64,
        level: f64,
    ) -> Self {
        let log_odds = LOG_ODDS + level.abs();
        let largest = groups.iter().map(|group| group.weight).fold(0.0, f64::max);
        let terms: f64 = groups.iter().map(|group| group.batches as f64).sum();
        let log_moments = |sign: f64, clip: f64, least: f64, tilt: f64| -> f64 {
            let group_moment = |group: &WeightGroup| {
                let scale = group.weight / largest;
                let end = |value: f64, share: f64| {
                    if value * scale < clip { share * (sign * tilt * scale * value).exp() } else { 0.0 }
                };
                let cell = |(spread, mass): (&Spread, &CellMass)| {
                    // A cell on both sides of the clip is counted at the clip, the largest value of its unclipped part.
                    if spread.low * scale < clip && spread.high * scale >= clip && sign > 0.0 {
                        return mass.base * (tilt * clip).exp();
                    }
                    let share = spread.high_share;
                    mass.base * (end(spread.low, 1.0 - share) + end(spread.high, share))
                };
                let moment: f64 = spreads.iter().zip(masses).map(cell).sum();
                if !moment.is_finite() {
                    return f64::INFINITY; // for example zero mass times an overflow
                }
                group.batches as f64 * moment.ln().max(least)
            };
            groups.iter().map(group_moment).sum()
        };
        // The bound covers any number of the terms up to all, so a logarithm of a moment counts as at least zero.
        let below_tilt = shortest_reach(log_odds, terms, |tilt| log_moments(-1.0, f64::INFINITY, 0.0, tilt));
        let below = below_tilt.reach(log_odds, terms).max(floor);
        let clip = below + floor;
        let above_tilt = shortest_reach(log_odds, terms, |tilt| log_moments(1.0, clip, 0.0, tilt));
        // The tilt is limited so that mass that wraps around from far below stays small (see `escapes`).
        let width = below + 1.05 * clip;
        let steepest = (below_tilt.tilt * (width - floor) - below_tilt.log_moments - log_odds) / width;
        let tilt = (level < 0.0)
            .then(|| least_moment(|tilt| log_moments(-1.0, f64::INFINITY, f64::NEG_INFINITY, tilt)))
            .map(|tilt| tilt.min(steepest).min(600.0 / width))
            .filter(|tilt| *tilt >= 0.0);
        // Under a tilt, mass that wraps around is smaller by e^(-tilt width), so less width is needed.
        let extra = tilt.unwrap_or(0.0);
        let needed = (log_odds - extra * below + above_tilt.log_moments) / (above_tilt.tilt + extra);
        let above = if extra > 0.0 { 1.01 * needed } else { above_tilt.reach(log_odds, terms) };
        Self { below, above: above.max(1.05 * clip), clip, tilt, below_tilt, above_tilt, terms }
    }

    /// A bound on the terms from below: no term is below minus this value.
    pub fn floor(&self) -> f64 {
        self.clip - self.below
    }

    /// The smallest power of two at which a grid over the window is fine enough to keep the tails inside.
    pub fn least_points(&self) -> usize {
        let tilt = self.below_tilt.tilt.max(self.above_tilt.tilt);
        let points = (self.below + self.above) * tilt * self.terms.sqrt();
        (points.min(1e9) as usize).next_power_of_two()
    }

    /// Upper bounds on the probabilities of leaving the window below and above.
    ///
    /// They include random unbiased rounding of each term to a grid of this `step`. Each rounding has a moment of at
    /// most e^(tilt^2 step^2 / 8).
    pub fn escapes(&self, step: f64) -> (f64, f64) {
        let escape = |side: &Chernoff, reach: f64| {
            let rounding = self.terms * (side.tilt * step).powi(2) / 8.0;
            // One step is lost when the window's ends are rounded to the grid.
            (side.log_moments + rounding - side.tilt * (reach - 2.0 * step)).exp().min(1.0)
        };
        let below = escape(&self.below_tilt, self.below);
        let above = escape(&self.above_tilt, self.above);
        let Some(tilt) = self.tilt else { return (below, above) };
        // Mass that wraps around by the whole width is wrong by a factor of e^(tilt width) once the tilt is undone.
        // Mass from the right becomes smaller. Mass from the left becomes larger, but it comes from as far below as the
        // sum of both reaches. The tilt is so small (`steepest`) that each further width is rarer by more than e^(tilt
        // width + 30).
        let width = self.below + self.above;
        let far_below = escape(&self.below_tilt, width - self.floor());
        let once = above * (-tilt * width).exp() + far_below * (tilt * width).exp();
        (below, once * (1.0 + 1e-12))
    }
}

impl Chernoff {
    /// The distance beyond which the probability is at most e^-`log_odds`; infinite if the moments overflow.
    ///
    /// It leaves room for rounding `terms` terms to a grid of a thousandth of the distance. Otherwise the best tilt
    /// could be so steep that any rounding makes the bound useless.
    fn reach(&self, log_odds: f64, terms: f64) -> f64 {
        let bare = (log_odds + self.log_moments) / self.tilt;
        let step = bare / 1024.0;
        let reach = bare + 2.0 * step + terms * self.tilt * step * step / 8.0;
        if reach.is_nan() { f64::INFINITY } else { reach }
    }
}

/// The tilt with approximately the smallest moment of the whole sum. Any tilt is valid.
fn least_moment(log_moments: impl Fn(f64) -> f64) -> f64 {
    let (mut best, mut least) = (0.0, 0.0);
    let mut tilt = 1e-6;
    while tilt < 1e6 {
        let moments = log_moments(tilt);
        if moments > least + 1.0 {
            break; // the function is convex, so it only rises from here
        }
        if moments < least {
            (best, least) = (tilt, moments);
        }
        tilt *= 1.3;
    }
    best
}

/// The tilt with approximately the smallest reach.
///
/// The reach is quasi-convex in ln tilt, so a golden-section search finds it. Any tilt is valid, so a search that stops
/// early gives a wider window but no error.
fn shortest_reach(log_odds: f64, terms: f64, log_moments: impl Fn(f64) -> f64) -> Chernoff {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let at = |log_tilt: f64| {
        let tilt = log_tilt.exp();
        Chernoff { tilt, log_moments: log_moments(tilt) }
    };
    let (mut left, mut right) = (-20.0, 14.0);
    let mut inner = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)];
    let mut found = inner.map(at);
    while right - left > 0.05 {
        if found[0].reach(log_odds, terms) <= found[1].reach(log_odds, terms) {
            right = inner[1];
            inner = [right - GOLDEN * (right - left), inner[0]];
            found = [at(inner[0]), found[0]];
        } else {
            left = inner[0];
            inner = [inner[1], left + GOLDEN * (right - left)];
            found = [found[1], at(inner[1])];
        }
    }
    if found[0].reach(log_odds, terms) <= found[1].reach(log_odds, terms) { found[0] } else { found[1] }
}
