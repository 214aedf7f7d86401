//! Chooses the device that trains models: processors or graphics processors.

use crate::Result;
use crate::training::TrainingAudit;
use misdeal_core::{Device, Error, Precision, Setting, SettingHash, Stream};
use misdeal_cuda::training::{Trainer, Tuning, engine_name};
use misdeal_train::data::Dataset;
use misdeal_train::{MeasuredTrials, TrainingPlan, TrialBatch};
use std::ops::Range;
use std::sync::Arc;

/// Trials per core between two checkpoints. They are few, so an interruption loses little.
const TRIALS_PER_CORE: u64 = 2;
/// Fewest floating-point operations for which `auto` asks for a graphics processor. With fewer, processors finish before its
/// kernels are compiled.
const LEAST_OPERATIONS_FOR_A_DEVICE: f64 = 3e13;
/// Operations for a parameter's noise in each step.
const OPERATIONS_PER_DRAW: f64 = 50.0;

/// A training plan, and the device that trains its models.
#[derive(Debug)]
pub(crate) struct TrainingBackend {
    pub plan: TrainingPlan,
    device: Option<(Trainer, Precision)>,
}

impl TrainingBackend {
    /// Returns the engine's name.
    pub fn engine(&self) -> &'static str {
        self.device.as_ref().map_or(misdeal_train::ENGINE, |(_, precision)| engine_name(*precision))
    }

    /// Returns the number of trials between two checkpoints.
    pub fn trials_per_checkpoint(&self) -> u64 {
        let cores = self.plan.parallelism().map_or(1, |parallelism| parallelism.cores as u64);
        self.device.as_ref().map_or(TRIALS_PER_CORE * cores, |(trainer, _)| trainer.trials_per_checkpoint())
    }

    /// Trains and scores trials; returns `None` if cancelled.
    pub fn score(
        &self,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        trained: &(dyn Fn() + Sync),
    ) -> Result<Option<TrialBatch>> {
        match &self.device {
            None => Ok(self.plan.score(trials, is_cancelled, trained)),
            Some((trainer, _)) => Ok(trainer.score(trials, is_cancelled, trained).map_err(Error::from)?),
        }
    }
}

/// Prepares a request's plan and the device that trains it.
///
/// A resumed run continues on the kind of device that began it: a graphics processor if `begun_on_device` is true.
///
/// # Errors
/// The parts of the request do not fit together. [`Device`](Error::Device) if a graphics processor is required, by name or by
/// precision, and there is none.
pub(crate) fn ready(
    request: &TrainingAudit,
    setting: &Setting,
    dataset: &Arc<Dataset>,
    begun_on_device: Option<bool>,
) -> Result<TrainingBackend> {
    let TrainingAudit { precision, device, .. } = *request;
    if precision == Precision::Tf32 && device == Device::Cpu {
        let hint = "processors have no such arithmetic; use `device` cuda";
        return Err(Error::bad_value("precision", "tf32", "f32 with `device` cpu", hint).into());
    }
    let must = device == Device::Cuda || precision == Precision::Tf32;
    let stream: fn(&SettingHash) -> Stream = if must { Stream::philox } else { Stream::new };
    let plan = TrainingPlan::with_stream(setting, &request.recipe, Arc::clone(dataset), stream)?
        .with_measured_trials(MeasuredTrials::EverFewer);
    let is_blind = request.run.search_buffer.is_some();
    if must && is_blind {
        let hint = "there models are scored for all buffers at once, which processors do";
        return Err(
            Error::bad_value("device", "cuda", "cpu or auto with a search for the buffer", hint).into()
        );
    }
    let is_for_a_device = || begun_on_device.unwrap_or_else(|| is_long(&plan, request.run.observations));
    if must || device == Device::Auto && !is_blind && is_for_a_device() {
        let plan = if must { plan.clone() } else { plan.on_stream(Stream::philox)? };
        match Trainer::new(&plan, precision, Tuning::default()) {
            Ok(trainer) => return Ok(TrainingBackend { plan, device: Some((trainer, precision)) }),
            Err(error) if must => return Err(Error::from(error).into()),
            Err(_) => {}
        }
    }
    plan.parallelism()?;
    Ok(TrainingBackend { plan, device: None })
}

/// Returns whether a run is so long that `auto` should look for a graphics processor.
fn is_long(plan: &TrainingPlan, observations: u64) -> bool {
    let draws = plan.setting().steps() as f64 * plan.model().parameters as f64;
    let layers = if plan.adversary().keeps_naturals() { plan.operations_per_model() } else { 0.0 };
    observations as f64 * (layers + OPERATIONS_PER_DRAW * draws) >= LEAST_OPERATIONS_FOR_A_DEVICE
}
