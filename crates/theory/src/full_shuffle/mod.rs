//! An upper bound for full shuffling, far below the fixed order's.
//!
//! In every epoch each record is in one of T batches, and all orders are equally likely. The divergence of an epoch at
//! g is at most
//!
//! ```text
//! (1/T) E[p U(m / p)],   p = k + sum (X_t)+,   m = k g + sum (X_t)-,
//! ```
//!
//! over T - k steps outside a home of k steps. The terms X_t are independent, and U is the profile of a home in which
//! one record is replaced. That profile is bounded in the same way, down to a home of two steps. The bound holds for
//! adaptive gradients in any dimension. The least convex curve above its minimum with the fixed order's profile belongs
//! to one pair of laws, which composes over epochs. Proof and known gaps: `docs/proofs/full-shuffle.md`.

mod epoch;
mod excess;
mod home;
mod term;

use crate::gaussian::Gaussian;
use crate::pairs::BothDirections;
use crate::pld::{Aim, Divergence, LossGrid, connect_dots};
use crate::root::{Bracket, narrow};
use crate::work::{OutOfReach, Work};
use epoch::Curve;
use home::{Block, Fineness, Home, home_sizes};
use libm::log;
use term::Worlds;

/// Below this noise the bound is hardly better than the fixed order's.
pub const LEAST_NOISE_MULTIPLIER: f64 = 0.25;

/// Full shuffling with a fresh order in every epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FullShuffle {
    /// The noise multiplier, at least [`LEAST_NOISE_MULTIPLIER`].
    pub noise_multiplier: f64,
    /// The batches of an epoch that may hold the target, all equally likely (T).
    pub steps_per_epoch: u64,
    /// Passes over the data (E).
    pub epochs: u64,
}

/// The choices of fineness, finest first.
const FINENESS: [Fineness; 3] = [
    Fineness { width: 0.06, points: 1 << 15, growth: 1.08, first_gap: 0.1, gaps: 32 },
    Fineness { width: 0.1, points: 1 << 14, growth: 1.15, first_gap: 0.15, gaps: 20 },
    Fineness { width: 0.15, points: 1 << 12, growth: 1.3, first_gap: 0.25, gaps: 12 },
];
/// The share of delta that may lie beyond the highest level of an epoch.
const BEYOND: f64 = 1e-3;
/// About the levels that the search for one epoch's epsilon evaluates.
const LEVELS_OF_SEARCH: f64 = 24.0;
/// The relative width of one epoch's epsilon.
const ROOT_WIDTH: f64 = 1e-5;
/// The points of the grid of an epoch's losses.
const GRID: f64 = 8192.0;

impl FullShuffle {
    /// An upper bound on epsilon at `delta`, within the rest of `work`; never too small.
    ///
    /// # Errors
    /// The noise is below [`LEAST_NOISE_MULTIPLIER`], or not even the coarsest grids are affordable.
    pub fn epsilon_upper_bound_within(&self, delta: f64, work: &Work) -> Result<f64, OutOfReach> {
        let known = Gaussian::fixed_order(self.noise_multiplier, self.epochs).epsilon_upper_bound(delta);
        if self.epochs == 1 {
            let curves = Curves::new(self, delta, work)?;
            let curves = curves.both();
            return Ok(curves
                .iter()
                .fold(0.0, |least: f64, curve| least.max(root(curve, delta, least)))
                .min(known));
        }
        let laws = self.laws_within(delta, work)?;
        let epsilon = |law: &LossGrid| -> Result<f64, OutOfReach> {
            Ok(law.compose_within(self.epochs, Aim::Delta(delta), work)?.epsilon(delta))
        };
        Ok(epsilon(&laws.forward)?.max(epsilon(&laws.reverse)?).min(known))
    }

    /// An upper bound on delta at `epsilon`, within the rest of `work`; never too small. It is rough below `least`.
    ///
    /// # Errors
    /// As for [`epsilon_upper_bound_within`](Self::epsilon_upper_bound_within).
    pub fn delta_upper_bound_within(&self, epsilon: f64, least: f64, work: &Work) -> Result<f64, OutOfReach> {
        if self.epochs == 1 {
            let curves = Curves::new(self, least, work)?;
            return Ok(curves.both().iter().map(|curve| curve.at(epsilon, least)).fold(0.0, f64::max));
        }
        let laws = self.laws_within(least, work)?;
        let delta = |law: &LossGrid| -> Result<f64, OutOfReach> {
            Ok(law.compose_within(self.epochs, Aim::Epsilon(epsilon), work)?.delta(epsilon))
        };
        Ok(delta(&laws.forward)?.max(delta(&laws.reverse)?))
    }

    /// The loss laws of an epoch, accurate enough for `delta` after all epochs; their divergences are never too small.
    ///
    /// # Errors
    /// As for [`epsilon_upper_bound_within`](Self::epsilon_upper_bound_within).
    pub fn laws_within(&self, delta: f64, work: &Work) -> Result<BothDirections, OutOfReach> {
        let curves = Curves::new(self, BEYOND * delta / self.epochs as f64, work)?;
        let [present, zeroed_out] = curves.both();
        let step = (present.top() + zeroed_out.top()) / GRID;
        let [present, zeroed_out] = [present, zeroed_out].map(|curve| curve.dots(step));
        let law = |positive: &[Divergence], negative: &[Divergence]| {
            let mirrored = negative.iter().skip(1).rev();
            let mirrored = mirrored.map(|dot| Divergence { index: -dot.index, level: -dot.level, ..*dot });
            connect_dots(step, mirrored.chain(positive.iter().copied()))
        };
        Ok(BothDirections { forward: law(&present, &zeroed_out), reverse: law(&zeroed_out, &present) })
    }
}

/// The divergences of an epoch in both orders, with their home.
struct Curves {
    shuffle: FullShuffle,
    home: Option<Home>,
    least: f64,
    fineness: Fineness,
}

impl Curves {
    fn new(shuffle: &FullShuffle, least: f64, work: &Work) -> Result<Self, OutOfReach> {
        let noise = shuffle.noise_multiplier;
        if noise < LEAST_NOISE_MULTIPLIER || least < 1e-280 {
            return Err(OutOfReach);
        }
        let sizes =
            if shuffle.steps_per_epoch > 2 { home_sizes(shuffle.steps_per_epoch) } else { Vec::new() };
        let of_home = HOME_TAIL * least;
        for fineness in FINENESS {
            let [homes, level] = fineness.work(noise, &sizes, of_home);
            let levels = if shuffle.epochs == 1 { LEVELS_OF_SEARCH } else { 4.0 * fineness.gaps as f64 };
            if work.charge(homes + levels * level).is_ok() {
                let home = (!sizes.is_empty()).then(|| Home::nested(noise, &sizes, of_home, &fineness));
                return Ok(Curves { shuffle: *shuffle, home, least, fineness });
            }
        }
        Err(OutOfReach)
    }

    fn both(&self) -> [Curve<'_>; 2] {
        [Worlds::Present, Worlds::ZeroedOut].map(|worlds| {
            let inside = self.home.as_ref().map_or(0, Home::size);
            let outside = self.shuffle.steps_per_epoch - inside;
            let block =
                Block { worlds, noise: self.shuffle.noise_multiplier, outside, home: self.home.as_ref() };
            Curve { block, least: self.least, fineness: &self.fineness }
        })
    }
}

/// The share of an epoch's least divergence that the home may leave out.
const HOME_TAIL: f64 = 1e-2;

/// The least level from `start` on at which the divergence is certified to be at most `delta`.
fn root(curve: &Curve<'_>, delta: f64, start: f64) -> f64 {
    let excess = |level: f64| log(curve.at(level, delta) / delta);
    let low = (start, excess(start));
    if low.1 <= 0.0 {
        return start;
    }
    let most = curve.fixed_order().epsilon_upper_bound(delta);
    let high = (most, excess(most).min(-1e-9));
    narrow(excess, Bracket { low, high }, ROOT_WIDTH * most).high.0
}

#[cfg(test)]
mod tests;
