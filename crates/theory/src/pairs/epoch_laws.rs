//! Laws of a pair's one-epoch loss on a grid, for composition over epochs.

use super::knots::Knots;
use super::lower_law::lower_law;
use super::shift_pair::ShiftPair;
use super::upper_law::upper_law;
use super::{PairInterval, Target};
use crate::pld::{Aim, LossGrid};
use crate::work::{OutOfReach, Work};

/// A loss law in both directions of the pair: P against Q, and Q against P.
#[derive(Debug, Clone, PartialEq)]
pub struct BothDirections {
    /// The law of ln(dP/dQ) under P: the record was present.
    pub forward: LossGrid,
    /// The law of ln(dQ/dP) under Q: the record was absent.
    pub reverse: LossGrid,
}

/// Two laws of a pair's one-epoch loss on a grid: one never too large, one never too small.
///
/// This holds for every divergence, before and after composition. So the trade-off curve of a composed law errs to the
/// same side:
///
/// ```
/// use misdeal_theory::pairs::{EpochLaws, ShiftPair, Target};
/// use misdeal_theory::pld::Aim;
/// use misdeal_theory::trade_off::Curve;
/// let pair = ShiftPair::shuffle(1.5, 20)?;
/// let laws = EpochLaws::new(&pair, Target { epochs: 4, delta: 1e-5 });
/// let [most_private, least_private] = [&laws.lower, &laws.upper].map(|laws| {
///     let composed = laws.forward.compose(4, Aim::Whole).untilted();
///     Curve::Corners(composed.trade_off_curve()).false_negative_rate(0.01)
/// });
/// assert!(least_private < most_private && most_private < 1.01 * least_private);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EpochLaws {
    /// The law that gives a lower bound on epsilon; never too large.
    pub lower: BothDirections,
    /// The law that gives an upper bound on the pair's epsilon; never too small.
    pub upper: BothDirections,
}

impl EpochLaws {
    /// The laws of `pair`, accurate enough for `target`, at any cost.
    ///
    /// They are valid for any other target too.
    ///
    /// # Panics
    /// Never, because the work has no limit.
    pub fn new(pair: &ShiftPair, target: Target) -> Self {
        Self::within(pair, target, &Work::unlimited()).expect("there is no limit")
    }

    /// The laws as in [`new`](Self::new), within the rest of `work`. If that is too little, they are less accurate but
    /// still valid.
    ///
    /// # Errors
    /// Not even the coarsest laws are affordable.
    pub fn within(pair: &ShiftPair, target: Target, work: &Work) -> Result<Self, OutOfReach> {
        let knots = Knots::new(pair, target, work)?;
        let reversed = knots.reversed();
        Ok(Self {
            lower: BothDirections { forward: lower_law(&knots), reverse: lower_law(&reversed) },
            upper: BothDirections { forward: upper_law(&knots), reverse: upper_law(&reversed) },
        })
    }

    /// The interval that contains the pair's epsilon after `target.epochs` epochs, for the larger of both directions.
    ///
    /// # Panics
    /// Never, because the work has no limit.
    pub fn interval(&self, target: Target) -> PairInterval {
        self.interval_within(target, &Work::unlimited()).expect("there is no limit")
    }

    /// The interval as in [`interval`](Self::interval), within the rest of `work`.
    ///
    /// # Errors
    /// The compositions are not affordable.
    pub fn interval_within(&self, target: Target, work: &Work) -> Result<PairInterval, OutOfReach> {
        let epsilon = |law: &LossGrid| {
            if law.infinity_mass * target.epochs as f64 > 0.5 * target.delta {
                return Ok(f64::INFINITY); // the grid is too coarse for a bound
            }
            Ok(law.compose_within(target.epochs, Aim::Delta(target.delta), work)?.epsilon(target.delta))
        };
        let larger = |both: &BothDirections| -> Result<f64, OutOfReach> {
            Ok(f64::max(epsilon(&both.forward)?, epsilon(&both.reverse)?))
        };
        Ok(PairInterval {
            epsilon_lower_bound: larger(&self.lower)?,
            // The upper end may be out of reach, and the caller may need only the lower end.
            epsilon_upper_bound: larger(&self.upper).unwrap_or(f64::INFINITY),
        })
    }

    /// Bounds on the pair's delta at `epsilon` after `epochs` epochs, for the larger of both directions.
    ///
    /// # Errors
    /// The compositions are not affordable.
    pub(crate) fn deltas(&self, epochs: u64, epsilon: f64, work: &Work) -> Result<[f64; 2], OutOfReach> {
        let delta =
            |law: &LossGrid| Ok(law.compose_within(epochs, Aim::Epsilon(epsilon), work)?.delta(epsilon));
        let larger = |both: &BothDirections| Ok(f64::max(delta(&both.forward)?, delta(&both.reverse)?));
        Ok([larger(&self.lower)?, larger(&self.upper)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaussian::Gaussian;
    use crate::pairs::one_epoch::one_epoch;

    /// One batch is the Gaussian pair, whose composition is known. Checks every divergence in both directions.
    #[test]
    fn one_batch_composes_as_the_gaussian() {
        let target = Target { epochs: 4, delta: 1e-5 };
        let laws = EpochLaws::new(&ShiftPair::shuffle(1.0, 1).unwrap(), target);
        for epochs in [1, 4] {
            let exact = Gaussian::fixed_order(1.0, epochs);
            for i in 0..40 {
                let epsilon = 0.2 * f64::from(i);
                let delta = |law: &LossGrid| law.compose(epochs, Aim::Epsilon(epsilon)).delta(epsilon);
                let delta_exact = exact.delta(epsilon);
                for (lower, upper) in
                    [(&laws.lower.forward, &laws.upper.forward), (&laws.lower.reverse, &laws.upper.reverse)]
                {
                    let (low, high) = (delta(lower), delta(upper));
                    let margin = 1e-9 * delta_exact;
                    assert!(low <= delta_exact + margin && delta_exact <= high + margin, "{low} {high}");
                    assert!(high - low <= 3e-3 * high + 1e-9, "{epsilon}: {low} {delta_exact} {high}");
                }
            }
        }
    }

    /// Compares two methods for one epoch: the root of the divergence, and the law on the grid.
    #[test]
    fn one_epoch_agrees_with_the_direct_root() {
        let target = Target { epochs: 1, delta: 1e-5 };
        for pair in [ShiftPair::shuffle(1.5, 50).unwrap(), ShiftPair::balls_in_bins(0.7, 30).unwrap()] {
            let (law, root) = (
                EpochLaws::new(&pair, target).interval(target),
                one_epoch(&pair, target.delta, &Work::unlimited()).unwrap(),
            );
            assert!(law.epsilon_lower_bound <= root.epsilon_upper_bound, "{law:?} {root:?}");
            assert!(root.epsilon_lower_bound <= law.epsilon_upper_bound, "{law:?} {root:?}");
            assert!(law.epsilon_upper_bound < 1.002 * law.epsilon_lower_bound, "{law:?}");
        }
    }

    #[test]
    fn the_same_pair_gives_the_same_bits() {
        let pair = ShiftPair::shuffle(2.0, 7).unwrap();
        let target = Target { epochs: 3, delta: 1e-6 };
        assert_eq!(EpochLaws::new(&pair, target), EpochLaws::new(&pair, target));
    }
}
