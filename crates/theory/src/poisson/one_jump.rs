//! The law of many steps of which one may have a large loss.
//!
//! If the sampling probability is tiny, the loss is nearly lognormal, and a large sum comes from a single large loss.
//! No exponential tilt makes this frequent, so a transform's round-off would hide a small delta. Therefore the law of
//! one step is split at a loss c, `mu = bulk + jump`. With p the mass of the jumps,
//!
//! ```text
//! mu^n = bulk^n + n bulk^(n-1) jump + (at least two jumps, of mass at most C(n, 2) p^2)
//! delta(epsilon) = delta of bulk^n + n E_s g(epsilon - s) + ...,   s ~ bulk^(n-1)
//! ```
//!
//! The bulk has light tails, so its own term is composed like any law. In the second term, g(e) = E(1 - e^(e - L))+
//! over the jumps has a closed form. All errors of the mean over s are relative to n p. c is so large that several
//! jumps may be counted as infinite (upper) or left out (lower).
//!
//! The two discretisations of the bulk keep their sides (`docs/proofs/poisson.md`, steps 7 to 10).

use super::pair::SubsampledGaussian;
use crate::pld::{Aim, Atoms, Cells, Composition, LossGrid, Side};
use crate::root::{Bracket, narrow};
use crate::work::{OutOfReach, Work};
use libm::{exp, expm1, log};

/// The number of atoms of the bulk's sum over which the single jump is averaged.
const ATOMS: usize = 2000;
/// The relative accuracy of the jump's closed form and of the sum over the atoms.
const RELATIVE_ERROR: f64 = 1e-11;
/// The units of work for reading epsilon: the jump's closed form at all atoms, about forty times.
const READINGS: f64 = 2e7;
/// The relative accuracy of epsilon.
const READING: f64 = 1e-6;

/// The largest epsilon of the search if no upper bound is known.
const LARGEST: f64 = 1e6;

/// The law of a sum of many losses, split by whether one of them is large.
pub(super) struct OneJump {
    side: Side,
    steps: f64,
    bulk: Composition,
    bulk_of_the_others: Atoms,
    jump: Jump,
}

/// The losses above the cells.
struct Jump {
    pair: SubsampledGaussian,
    /// The smallest loss above the cells.
    from: f64,
    /// The value of g at the loss `from`.
    delta: f64,
    p: f64,
    q: f64,
}

impl OneJump {
    /// The law of `steps >= 2` steps, in which losses above the top of `cells` are jumps.
    ///
    /// `discretised` makes the bulk's law for one side.
    ///
    /// # Errors
    /// The remaining work is too little.
    pub fn new(
        pair: SubsampledGaussian,
        cells: &Cells,
        discretised: impl Fn(&Cells) -> LossGrid,
        steps: u64,
        delta: f64,
        work: &Work,
    ) -> Result<Self, OutOfReach> {
        work.charge(READINGS)?;
        let law = discretised(&cells.clone().without_above());
        let (from, q) = (cells.top(), cells.above().q);
        let at_top = pair.probability() * pair.if_sampled().delta(pair.loss_if_sampled(from));
        Ok(OneJump {
            side: law.side,
            steps: steps as f64,
            bulk: law.compose_within(steps, Aim::Delta(delta), work)?,
            bulk_of_the_others: law.compose_within(steps - 1, Aim::Whole, work)?.atoms(ATOMS),
            jump: Jump { pair, from, delta: at_top, p: at_top + exp(from) * q, q },
        })
    }

    /// The delta at `epsilon`; it errs only to this law's side.
    pub fn delta(&self, epsilon: f64) -> f64 {
        let n = self.steps;
        let one = n * self.bulk_of_the_others.mean(|s| self.jump.delta(epsilon - s), self.jump.p);
        let none = self.bulk.delta(epsilon);
        match self.side {
            Side::Lower => none + one * (1.0 - RELATIVE_ERROR),
            Side::Upper => {
                let several = 0.5 * n * (n - 1.0) * self.jump.p * self.jump.p;
                (none + (one + several) * (1.0 + RELATIVE_ERROR)).min(1.0)
            }
        }
    }

    /// An epsilon between `low` and `high` that errs only to this law's side.
    ///
    /// For the upper side, delta at the result is certainly small enough. For the lower side, it is certainly too
    /// large. If there is no such point, the result is an end of the interval, and the upper end may be infinite.
    pub fn epsilon(&self, delta: f64, low: f64, high: f64) -> f64 {
        let excess = |epsilon: f64| log(self.delta(epsilon).max(1e-305)) - log(delta);
        let low = (low, excess(low));
        if low.1 <= 0.0 {
            return low.0;
        }
        let mut end = if high.is_finite() { high } else { 2.0 * low.0.max(self.jump.from) };
        let mut excess_at_end = excess(end);
        while high.is_infinite() && excess_at_end > 0.0 && end < LARGEST {
            end *= 2.0;
            excess_at_end = excess(end);
        }
        if excess_at_end > 0.0 {
            return if self.side == Side::Lower { end } else { high };
        }
        let root = narrow(excess, Bracket { low, high: (end, excess_at_end) }, READING * end);
        match self.side {
            Side::Lower => root.low.0,
            Side::Upper => root.high.0,
        }
    }
}

impl Jump {
    /// g(epsilon) = E(1 - e^(epsilon - L))+ over the jumps.
    ///
    /// Above the smallest jump, this is the pair's own delta: q times the Gaussian's delta at the loss that the same
    /// output has if the record is always sampled. Below it, the function is linear in e^epsilon.
    fn delta(&self, epsilon: f64) -> f64 {
        if epsilon <= self.from {
            self.delta - exp(self.from) * expm1(epsilon - self.from) * self.q
        } else {
            self.pair.probability() * self.pair.if_sampled().delta(self.pair.loss_if_sampled(epsilon))
        }
    }
}
