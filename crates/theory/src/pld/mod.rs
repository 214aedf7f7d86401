//! Privacy-loss distributions on a grid: discretise, compose and read the result.
//!
//! For a pair of laws (P, Q), the loss is L = ln dP/dQ, and under P
//!
//! ```text
//! delta(epsilon) = E_P (1 - e^(epsilon - L))+,   L = +infinity where Q vanishes.
//! ```
//!
//! The expression increases in L and is convex in e^-L. This gives two ways to discretise with a known sign:
//!
//! | method | input | cost of n steps on a grid of width h | made by |
//! |---|---|---|---|
//! | move every loss to the next grid point: above it (upper) or below it (lower) | P(L > l) | about n h / 2 | [`LossGrid::rounded`] |
//! | spread the losses of a cell to its ends (upper) or gather them in a point (lower), keeping P and Q of the cell | P and Q of every cell | about n h^2 / 12 (upper), n h^2 / 6 (lower) | [`Cells`] |
//!
//! Proofs: `docs/proofs/grid-laws.md` and `docs/proofs/composition.md`. Round-off is also bounded, under the
//! assumptions in [what certified means](crate#what-certified-means).
//!
//! The types in order of use: [`Cells`] or survival values, [`LossGrid`] (one step, one [`Side`]), [`Composition`]
//! (many steps), epsilon.
//!
//! ```
//! use misdeal_theory::pld::{Aim, LossGrid, Side};
//! // Randomised response: the loss is ln 3 with probability 3/4 and -ln 3 otherwise.
//! let step = 3_f64.ln();
//! let pair = LossGrid { side: Side::Upper, step, origin: 0.0, first: -1, masses: vec![0.25, 0.0, 0.75], infinity_mass: 0.0 };
//! assert!((pair.delta(0.0) - 0.5).abs() < 1e-12);
//! assert!(pair.compose(10, Aim::Delta(1e-3)).epsilon(1e-3) < 10.0 * step);
//! ```

mod atoms;
mod cells;
mod compose;
mod dots;
mod moments;
mod optimistic;
mod powers;
mod readout;
mod rounding;
mod trade_off;
mod transform;

pub use atoms::Atoms;
pub use cells::{Cells, Masses};
pub(crate) use compose::MOST_BLUR;
pub use compose::{Aim, Composition};
pub(crate) use dots::{Divergence, connect_dots};
pub(crate) use transform::{fast_length, power};

/// The direction in which a value may err.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Values are never too large. Masses lost in the computation are dropped.
    Lower,
    /// Values are never too small. Masses lost in the computation go to +infinity.
    Upper,
}

/// The law of the privacy loss under P on a grid, for one [`Side`].
///
/// The points are `origin + first * step, origin + (first + 1) * step, ...`.
///
/// `Upper`: every delta of this law, also after any composition, is at least the pair's. `Lower`: every delta is at
/// most the pair's. If the masses sum to less than one, the rest lies at -infinity, where it contributes nothing.
///
/// Masses are assumed to be exact to 1e-13 relative. Compositions put that margin on the safe side.
#[derive(Debug, Clone, PartialEq)]
pub struct LossGrid {
    /// The direction in which values of this law may err.
    pub side: Side,
    /// The width h of the grid.
    pub step: f64,
    /// The loss of the point with index 0. It can align the grid with the point that has most of the mass.
    pub origin: f64,
    /// The first mass lies at the loss `origin + first * step`.
    pub first: i64,
    /// The masses P(L = origin + (first + i) * step).
    pub masses: Vec<f64>,
    /// The mass P(L = +infinity). It counts in full in every delta.
    pub infinity_mass: f64,
}

impl LossGrid {
    /// The loss at index `i` of `masses`.
    pub fn loss(&self, i: usize) -> f64 {
        self.origin + (self.first + i as i64) as f64 * self.step
    }

    /// The delta at `epsilon`; it errs only to this law's side.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.once().delta(epsilon)
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`; it errs only to this law's side.
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.once().epsilon(delta)
    }

    fn once(&self) -> Composition {
        self.compose(1, Aim::Whole)
    }
}

#[cfg(test)]
mod tests;
