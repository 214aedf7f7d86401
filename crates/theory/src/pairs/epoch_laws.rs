//! The one-epoch loss of a pair as laws on a grid, to be composed over epochs.

use super::knots::Knots;
use super::lower_law::lower_law;
use super::shift_pair::ShiftPair;
use super::upper_law::upper_law;
use super::{PairInterval, Target};
use crate::pld::{Aim, LossGrid};

/// A loss law in both readings of the pair: P against Q and Q against P.
#[derive(Debug, Clone, PartialEq)]
pub struct BothDirections {
    /// ln(dP/dQ) under P: the record was present.
    pub forward: LossGrid,
    /// ln(dQ/dP) under Q: it was absent.
    pub reverse: LossGrid,
}

/// The one-epoch loss of a pair between two laws on a grid, one never too large and one never too small.
///
/// The order holds for every divergence before and after composition, so a composed law's trade-off curve errs to
/// the same side:
///
/// ```
/// use misdeal_theory::pairs::{EpochLaws, ShiftPair, Target};
/// use misdeal_theory::pld::Aim;
/// let pair = ShiftPair::shuffle(1.5, 20)?;
/// let laws = EpochLaws::new(&pair, Target { epochs: 4, delta: 1e-5 });
/// let most_private = laws.lower.forward.compose(4, Aim::Whole).untilted().false_negative_rate(0.01);
/// let least_private = laws.upper.forward.compose(4, Aim::Whole).untilted().false_negative_rate(0.01);
/// assert!(least_private < most_private && most_private < 1.01 * least_private);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EpochLaws {
    /// Never too large: a lower bound on epsilon.
    pub lower: BothDirections,
    /// Never too small: an upper bound on the pair's epsilon.
    pub upper: BothDirections,
}

impl EpochLaws {
    /// The laws of `pair`, sharp enough for `target`; valid for any other.
    pub fn new(pair: &ShiftPair, target: Target) -> Self {
        let knots = Knots::new(pair, target);
        let reversed = knots.reversed();
        Self {
            lower: BothDirections { forward: lower_law(&knots), reverse: lower_law(&reversed) },
            upper: BothDirections { forward: upper_law(&knots), reverse: upper_law(&reversed) },
        }
    }

    /// The interval that holds the pair's epsilon after `target.epochs` epochs, the larger of both directions.
    pub fn interval(&self, target: Target) -> PairInterval {
        let epsilon = |law: &LossGrid| {
            law.compose(target.epochs, Aim::Delta(target.delta)).epsilon(target.delta)
        };
        let larger = |both: &BothDirections| epsilon(&both.forward).max(epsilon(&both.reverse));
        PairInterval { epsilon_lower_bound: larger(&self.lower), epsilon_upper_bound: larger(&self.upper) }
    }
}
