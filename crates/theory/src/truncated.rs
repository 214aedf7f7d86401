//! Poisson sampling whose batches are cut to a largest size: a certified interval for epsilon.
//!
//! Each record is in a batch with probability q = `batch_size / dataset_size`. If a batch would have more than
//! `physical_batch_size` records, a uniform subset of that size is used. A cut batch uses the target in the place of
//! another record, so with the probability of a cut a step leaks as much as a subset of fixed size. Proof:
//! `docs/proofs/truncated-poisson.md`.
//!
//! ```
//! use misdeal_theory::truncated::TruncatedPoisson;
//! use misdeal_theory::work::Work;
//! let batches = TruncatedPoisson { dataset_size: 60_000, batch_size: 512, physical_batch_size: 600 };
//! let found = batches.bounds_within(0.8, 15 * 117, 1e-5, &Work::default())?;
//! assert!(found.epsilon_lower_bound.unwrap() > 3.4 && found.epsilon_upper_bound.unwrap() < 3.7);
//! # Ok::<(), misdeal_core::Error>(())
//! ```

use crate::account::poisson_bounds_within;
use crate::gaussian::Gaussian;
use crate::pld::{Aim, Cells, LossGrid};
use crate::poisson::SubsampledGaussian;
use crate::revealed_uses::RevealedUses;
use crate::subsets::{self, Subset};
use crate::work::{OutOfReach, Work};
use libm::{ceil, log1p};
use misdeal_core::{BoundMethod, Bounds, Error, Result, SideMethod};

/// Poisson sampling with a largest batch size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedPoisson {
    /// Records of the data set (n).
    pub dataset_size: u64,
    /// The mean number of records of a batch before it is cut (B).
    pub batch_size: u64,
    /// The most records of a batch (C).
    pub physical_batch_size: u64,
}

/// About the cells of the first grid; each refinement multiplies them by [`REFINEMENT`].
const FIRST_CELLS: f64 = 1500.0;
const REFINEMENT: f64 = 3.0;
/// The most cells of a grid.
const MOST_CELLS: f64 = 2e5;
/// Refinement stops once it lowers the bound by less than this share.
const SETTLED: f64 = 2e-4;
/// The units of work for each cell of both laws.
const PER_CELL: f64 = 1300.0;
/// The share of delta that losses outside the grid may add, all steps together.
const OUTSIDE: f64 = 1e-6;
/// The share of the work for the upper bound.
const FOR_UPPER: f64 = 0.7;

impl TruncatedPoisson {
    /// Bounds on epsilon after `steps` steps at `delta`, for zero-out neighbours, within the rest of `work`.
    ///
    /// # Errors
    /// A value is out of range.
    pub fn bounds_within(&self, noise: f64, steps: u64, delta: f64, work: &Work) -> Result<Bounds> {
        let rate = self.sampling_probability()?;
        let cut = self.cut_probability(rate);
        let poisson = SubsampledGaussian::new(noise, rate)?;
        let upper = work
            .part(FOR_UPPER * work.left(), |work| self.upper(&poisson, noise, rate, cut, steps, delta, work));
        // Others whose gradients are zero: the target is used with at least this probability.
        let used = rate * (1.0 - cut) * (1.0 - 1e-12);
        let lower = match used {
            used if used >= 1e-12 => {
                poisson_bounds_within(noise, used, steps, delta, work)?.epsilon_lower_bound
            }
            _ => Some(0.0),
        };
        let known = Gaussian::fixed_order(0.5 * noise, steps).epsilon_upper_bound(delta);
        let (upper, how) = match upper {
            Ok(upper) if upper < known => (upper, SideMethod::DominatingProfile),
            _ => (known, SideMethod::EveryStep),
        };
        let lower_method = if lower.is_some() { SideMethod::Poissons } else { SideMethod::OutOfReach };
        Ok(Bounds {
            epsilon_lower_bound: lower.map(|lower| lower.min(upper)),
            epsilon_upper_bound: Some(upper),
            method: BoundMethod::sides(lower_method, how),
        })
    }

    fn sampling_probability(&self) -> Result<f64> {
        let &TruncatedPoisson { dataset_size, batch_size, physical_batch_size } = self;
        if batch_size == 0 || batch_size >= dataset_size {
            let hint = "batches are drawn from the data set";
            let allowed = format!("a whole number from 1 to below {dataset_size}");
            return Err(Error::bad_value("batch_size", batch_size, allowed, hint));
        }
        if physical_batch_size == 0 {
            return Err(Error::bad_value(
                "physical_batch_size",
                0,
                "a whole number from 1 on",
                "counts start at 1",
            ));
        }
        Ok(batch_size as f64 / dataset_size as f64)
    }

    /// An upper bound on the probability that the other records alone fill a batch.
    fn cut_probability(&self, rate: f64) -> f64 {
        let others = self.dataset_size - 1;
        if self.physical_batch_size > others {
            return 0.0;
        }
        let uses = RevealedUses { noise_multiplier: 1.0, sampling_probability: rate, steps: others };
        uses.beyond(self.physical_batch_size - 1).min(1.0)
    }

    #[expect(clippy::too_many_arguments, reason = "one step of the public function")]
    fn upper(
        &self,
        poisson: &SubsampledGaussian,
        noise: f64,
        rate: f64,
        cut: f64,
        steps: u64,
        delta: f64,
        work: &Work,
    ) -> std::result::Result<f64, OutOfReach> {
        if noise < subsets::LEAST_NOISE {
            return Err(OutOfReach);
        }
        let tail = (OUTSIDE * delta / steps as f64).max(1e-300);
        let subset = Subset { noise, share: rate };
        let lowest = log1p(-rate);
        let range = subset.range_of_losses(tail);
        let mut cells = FIRST_CELLS;
        let mut best: Option<f64> = None;
        loop {
            // The smallest loss of Poisson sampling, which has nearly all of the mass, is a point of the grid.
            let below = ceil(-lowest * cells / range);
            let step = -lowest / below;
            let found = if range / step > MOST_CELLS {
                Err(OutOfReach)
            } else {
                work.part(0.8 * work.left(), |work| {
                    work.charge(PER_CELL * range / step)?;
                    let without = poisson.cells_from(step, below as i64, tail);
                    let with = subset.dominating_cells_on(step, tail);
                    let law = |without: &Cells, with: &Cells| {
                        mixed(cut, &without.pessimistic(), &with.pessimistic())
                    };
                    let read = |law: LossGrid| -> std::result::Result<f64, OutOfReach> {
                        Ok(law.compose_within(steps, Aim::Delta(delta), work)?.epsilon(delta))
                    };
                    let present = read(law(&without, &with))?;
                    Ok(present.max(read(law(&without.reversed(), &with.reversed()))?))
                })
            };
            let Ok(found) = found else { return best.ok_or(OutOfReach) };
            let before = best.replace(best.map_or(found, |best| best.min(found)));
            if before.is_some_and(|before| before - found < SETTLED * found) || cells >= MOST_CELLS {
                return best.ok_or(OutOfReach);
            }
            cells *= REFINEMENT;
        }
    }
}

/// A step that follows the second law with probability `cut`, and says so, and else the first.
///
/// Both lie on the multiples of one step.
fn mixed(cut: f64, without: &LossGrid, with: &LossGrid) -> LossGrid {
    let laws = [(without, 1.0 - cut), (with, cut)];
    let first_of = |law: &LossGrid| (law.loss(0) / law.step).round() as i64;
    let first = laws.map(|(law, _)| first_of(law)).into_iter().min().unwrap_or(0);
    let last = laws.map(|(law, _)| first_of(law) + law.masses.len() as i64).into_iter().max().unwrap_or(1);
    let mut masses = vec![0.0; (last - first) as usize];
    for (law, share) in laws {
        let from = (first_of(law) - first) as usize;
        for (sum, mass) in masses[from..].iter_mut().zip(&law.masses) {
            *sum += share * mass;
        }
    }
    let infinity_mass = laws.iter().map(|(law, share)| share * law.infinity_mass).sum();
    LossGrid { side: without.side, step: without.step, origin: 0.0, first, masses, infinity_mass }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(physical_batch_size: u64) -> [f64; 2] {
        let batches = TruncatedPoisson { dataset_size: 60_000, batch_size: 512, physical_batch_size };
        let found = batches.bounds_within(0.8, 15 * 117, 1e-5, &Work::default()).unwrap();
        found.sides().map(Option::unwrap)
    }

    /// dp-accounting's event gives 4.138 with a cap of 600, by a looser bound, and 3.418 without one.
    #[test]
    fn agrees_with_known_values() {
        let [lower, upper] = bounds(600);
        assert!(3.41 < lower && lower < upper && 3.5 < upper && upper < 4.138, "{lower} {upper}");
        let [lower, upper] = bounds(900);
        assert!(lower > 3.417 && lower <= upper && upper < 3.419, "{lower} {upper}");
    }

    /// Caps below the batch size are fixed-size subsets, nearly; higher ones leak less.
    #[test]
    fn falls_with_the_cap() {
        let uppers = [512, 560, 600, 700].map(|cap| bounds(cap)[1]);
        assert!(uppers.windows(2).all(|pair| pair[1] < pair[0]), "{uppers:?}");
        let subset = Subset { noise: 0.8, share: 512.0 / 60_000.0 };
        let all = subset.epsilon_within(15 * 117, 1e-5, &Work::default()).unwrap().epsilon_upper_bound;
        assert!(uppers[0] < 1.001 * all, "{uppers:?} {all}");
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for (batch_size, physical_batch_size) in [(0, 5), (100, 5), (10, 0)] {
            let batches = TruncatedPoisson { dataset_size: 100, batch_size, physical_batch_size };
            assert!(batches.bounds_within(1.0, 10, 1e-5, &Work::default()).is_err());
        }
    }
}
