//! A check-up of one training: an exact test for each fault.
//!
//! A correct training gives outputs with a known law: what was planted plus Gaussian noise of the claimed size. Each test
//! has a p-value that is valid under this law (`docs/proofs/check-up.md`). Where natural gradients reach the outputs,
//! tests use what stays true for any of them.

mod alike;
mod atoms;
mod poisson;
mod record;
mod repeats;
mod response;
mod scale;
mod shuffle;
#[cfg(test)]
mod tests;

pub use record::{Claim, RunRecord};

use record::Table;

misdeal_core::closed_set! {
    "name",
    /// The tests of a check-up, by what holds if they pass.
    #[derive(PartialOrd, Ord)]
    pub enum CheckName {
        /// The noise is as large as claimed.
        NoiseScale,
        /// Every step has noise as large as claimed.
        NoiseInEveryStep,
        /// Every tensor has noise as large as claimed.
        NoiseInEveryTensor,
        /// No output is without noise.
        NoiseInEveryOutput,
        /// No two steps have the same noise.
        FreshNoiseInSteps,
        /// No two tensors have the same noise.
        FreshNoiseInTensors,
        /// No two runs have the same noise.
        FreshNoiseInRuns,
        /// A record changes a sum of gradients by at most the clipping norm.
        Clipping,
        /// The canaries reach the outputs.
        CanariesPlanted,
        /// Sizes of batches vary as under Poisson sampling.
        BatchSizes,
        /// Records appear in an epoch as often as under Poisson sampling.
        Appearances,
        /// Sums are not divided by the size of their own batch.
        FixedNormalisation,
        /// The noise is the same in all steps and directions.
        EqualNoise,
        /// The shuffle is uniform.
        UniformShuffle,
        /// Every epoch is shuffled anew.
        FreshShuffle,
    }
}

/// What a test found.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcome {
    /// The p-value, valid if the training is correct. `None` if there was nothing to test.
    pub p_value: Option<f64>,
    /// What was measured; each test says what this is.
    pub measured: f64,
    /// Where: the step, the tensor or the distance with the smallest p-value.
    pub at: Option<usize>,
}

impl Outcome {
    /// The p-value is cut off at 1, as those times a number of tests must be.
    fn of(p_value: f64, measured: f64) -> Self {
        Outcome { p_value: Some(p_value.min(1.0)), measured, at: None }
    }

    fn at(self, at: usize) -> Self {
        Outcome { at: Some(at), ..self }
    }

    fn only_if(self, is_tested: bool) -> Self {
        if is_tested { self } else { Outcome::default() }
    }
}

/// Runs all tests. Runs must be in order, and each as [`RunRecord::check`] demands.
///
/// The p-values depend on each other. The smallest times the number of tests with one is a valid p-value for all.
pub fn check_up(runs: &[RunRecord], claim: &Claim) -> Vec<(CheckName, Outcome)> {
    let outputs: Vec<Table> = runs.iter().map(RunRecord::residuals).collect();
    let coordinates: Vec<Table> = runs.iter().map(RunRecord::coordinate_residuals).collect();
    let tensors = runs.first().map_or(&[][..], |run| &run.coordinate_tensors);
    let known = !claim.natural_outputs;
    let known_coordinates = runs.iter().all(|run| run.coordinate_means.is_some());
    let steps = claim.steps_per_epoch.max(1);
    let both = |test: &dyn Fn(&[Table], bool) -> Outcome| {
        smaller(test(&outputs, known), test(&coordinates, known_coordinates))
    };
    let [too_large, too_small] = response::of_all(runs, claim);
    let only =
        |is_tested: bool, test: &dyn Fn() -> Outcome| if is_tested { test() } else { Outcome::default() };
    vec![
        (CheckName::NoiseScale, both(&|tables, _| scale::of_all(tables))),
        (CheckName::NoiseInEveryStep, both(&|tables, _| scale::in_every_step(tables))),
        (CheckName::NoiseInEveryTensor, scale::in_every_tensor(&coordinates, tensors)),
        (CheckName::NoiseInEveryOutput, both(&|tables, _| atoms::of_all(tables, claim.resolution))),
        (CheckName::FreshNoiseInSteps, both(&|tables, known| repeats::over_steps(tables, steps, known))),
        (CheckName::FreshNoiseInTensors, repeats::over_tensors(&coordinates, tensors, known_coordinates)),
        (CheckName::FreshNoiseInRuns, both(&|tables, known| repeats::over_runs(tables, known))),
        (CheckName::Clipping, too_large),
        (CheckName::CanariesPlanted, too_small),
        (CheckName::BatchSizes, only(claim.claims_poisson, &|| poisson::batch_sizes(runs, claim))),
        (CheckName::Appearances, only(claim.claims_poisson, &|| poisson::appearances(runs, claim))),
        (CheckName::FixedNormalisation, only(known, &|| alike::over_batch_sizes(&outputs, runs))),
        (CheckName::EqualNoise, only(known, &|| alike::over_steps_and_directions(&outputs))),
        (CheckName::UniformShuffle, only(claim.is_shuffled, &|| shuffle::uniform(runs, claim))),
        (CheckName::FreshShuffle, only(claim.is_shuffled, &|| shuffle::fresh(runs, claim))),
    ]
}

/// The test with the smaller p-value of two, both counted.
fn smaller(one: Outcome, other: Outcome) -> Outcome {
    let (Some(first), Some(second)) = (one.p_value, other.p_value) else {
        return if one.p_value.is_some() { one } else { other };
    };
    let chosen = if second < first { other } else { one };
    Outcome { p_value: Some((2.0 * first.min(second)).min(1.0)), ..chosen }
}
