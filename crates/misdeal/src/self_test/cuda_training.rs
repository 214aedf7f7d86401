//! A tiny training on a graphics processor against its reference in f64, on the same stream.

use super::Found;
use super::training::{difference, plans};
use misdeal_core::Precision;
use misdeal_core::{Stream, World};
use misdeal_cuda::training::{Trainer, Tuning};
use misdeal_train::reference;

/// The largest difference of an output or a parameter: what ten steps in f32 may lose.
const TOLERANCE: f64 = 2e-5;

pub(super) fn check(seed: u64) -> Found {
    let mut largest: f64 = 0.0;
    let models: Vec<_> = (0..4).flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
    for plan in plans(seed, Stream::philox)? {
        let trainer = Trainer::new(&plan, Precision::F32, Tuning::default()).map_err(super::told)?;
        let trained = trainer.train(&models).map_err(super::told)?;
        for (&(trial, world), ours) in models.iter().zip(trained) {
            largest = largest.max(difference(&reference::train(&plan, world, trial), &ours.outputs)?);
        }
    }
    if largest >= TOLERANCE {
        return Err(format!("outputs or parameters differ from the reference by {largest:.1e}"));
    }
    Ok(format!("{} models agree with the reference to {largest:.0e}", 2 * models.len()))
}
