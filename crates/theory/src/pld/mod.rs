//! Privacy-loss distributions on a grid: discretise, compose, read off.
//!
//! For a pair of laws (P, Q) the loss is L = ln dP/dQ, and under P
//!
//! ```text
//! delta(epsilon) = E_P (1 - e^(epsilon - L))+,   L = +infinity where Q vanishes.
//! ```
//!
//! The expression increases in L and is convex in e^-L, which gives the two ways to discretise with a known sign:
//!
//! | way | needs | cost of n steps on a grid of width h | made by |
//! |---|---|---|---|
//! | move every loss to the next grid point above (below) | P(L > l) | about n h / 2 | [`LossGrid::rounded`] |
//! | spread (gather) losses so that P and Q of a cell are kept | P and Q of every cell | about n h^2 / 12 (n h^2 / 6) | [`Cells`] |
//!
//! Proofs: `docs/proofs/grid-laws.md` and `docs/proofs/composition.md`. Round-off is bounded on top of that:
//! [what certified means](crate#what-certified-means) says under which assumptions.
//!
//! Data meets the types in this order: [`Cells`] or survival values, [`LossGrid`] (one step, one [`Side`]),
//! [`Composition`] (many steps), epsilon.
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

/// In which direction a value may err.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Never too large: masses that are lost on the way are dropped.
    Lower,
    /// Never too small: masses that are lost on the way go to +infinity.
    Upper,
}

/// The law of the privacy loss under P on the points `origin + first * step, origin + (first + 1) * step, ...`, for
/// one [`Side`].
///
/// `Upper`: every delta read off it, also after any composition, is at least the pair's. `Lower`: at most. What the
/// masses lack to one sits at -infinity, where it contributes nothing.
///
/// Masses are taken to be exact to 1e-13 relative; compositions of two or more steps keep that margin on the safe side.
#[derive(Debug, Clone, PartialEq)]
pub struct LossGrid {
    /// The direction in which values read off this law may err.
    pub side: Side,
    /// Width h of the grid.
    pub step: f64,
    /// Loss of the point with index 0: lets the grid meet a point where the law has most of its mass.
    pub origin: f64,
    /// The first mass sits at the loss `origin + first * step`.
    pub first: i64,
    /// P(L = origin + (first + i) * step).
    pub masses: Vec<f64>,
    /// P(L = +infinity): it counts in full towards every delta.
    pub infinity_mass: f64,
}

impl LossGrid {
    /// The loss at index `i` of `masses`.
    pub fn loss(&self, i: usize) -> f64 {
        self.origin + (self.first + i as i64) as f64 * self.step
    }

    /// Delta at `epsilon`, erring only to this law's side.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.once().delta(epsilon)
    }

    /// The smallest epsilon >= 0 with `delta(epsilon) <= delta`, erring only to this law's side.
    pub fn epsilon(&self, delta: f64) -> f64 {
        self.once().epsilon(delta)
    }

    fn once(&self) -> Composition {
        self.compose(1, Aim::Whole)
    }
}

#[cfg(test)]
mod tests;
