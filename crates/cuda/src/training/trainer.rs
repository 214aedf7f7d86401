//! Trains and scores ranges of trials on all devices.

use super::accelerator::{Accelerator, Gpu, Profile};
use super::group_batches::GroupBatches;
use super::group_memory::GroupMemory;
use super::group_results::GroupResults;
use super::group_training::GroupTraining;
use super::session::Session;
use super::tiling::Tuning;
use crate::gpus::gpu_count;
use crate::{CudaError, Result, libraries};
use misdeal_core::{Precision, World};
use misdeal_train::{TrainedModel, TrainingPlan, TrialBatch};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Number of groups in progress on a device: one draws its batches, one trains, one is scored.
const GROUPS_IN_PROGRESS: usize = 3;
/// Number of floating-point operations between two checkpoints: some seconds on a device.
const OPERATIONS_PER_CHECKPOINT: f64 = 8e13;

/// The engine's name in reports and stores. It contains the precision, because precisions give different scores.
pub fn engine_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "train-cuda",
        Precision::Tf32 => "train-cuda-tf32",
    }
}

/// Trains the models of a plan on GPUs.
///
/// # Formal guarantees
/// - On the same stream, a trial equals the reference's up to rounding: of f32, or in `Tf32` of factors with eleven significant
///   bits. Batches, planted gradients and initial parameters are equal bit for bit.
/// - A score is the same on every device of one architecture. It does not depend on the other models in training, nor on how
///   trials are split.
#[derive(Debug)]
pub struct Trainer<A: Accelerator = Gpu> {
    plan: TrainingPlan,
    devices: Vec<TrainerDevice<A>>,
    models: usize,
    starts_small: bool,
}

#[derive(Debug)]
struct TrainerDevice<A: Accelerator> {
    accelerator: Arc<A>,
    session: Mutex<Session<A>>,
    idle: Mutex<Vec<GroupMemory<A>>>,
}

impl Trainer<Gpu> {
    /// Creates a trainer on all GPUs, for a plan with [`Stream::philox`](misdeal_core::Stream::philox).
    ///
    /// # Errors
    /// A device or library is missing, fails, or is too small for the plan.
    pub fn new(plan: &TrainingPlan, precision: Precision, tuning: Tuning) -> Result<Self> {
        let gpus = (0..gpu_count()?).map(Gpu::new).collect::<Result<Vec<_>>>()?;
        Self::on(plan, gpus, precision, tuning)
    }

    /// Creates a trainer on the first device that measures the time of every launch.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn profiled(plan: &TrainingPlan, precision: Precision, tuning: Tuning) -> Result<Self> {
        libraries::open()?;
        let mut gpu = Gpu::new(0)?;
        gpu.start_profile();
        Self::on(plan, vec![gpu], precision, tuning)
    }

    /// Seconds and launches of each kernel on the first device.
    pub fn profile(&self) -> Profile {
        self.devices[0].accelerator.profile()
    }
}

impl<A: Accelerator> Trainer<A> {
    /// Creates a trainer on the given devices, for a plan with [`Stream::philox`](misdeal_core::Stream::philox).
    ///
    /// # Errors
    /// A device fails, or is too small for the plan.
    pub fn on(
        plan: &TrainingPlan,
        accelerators: Vec<A>,
        precision: Precision,
        tuning: Tuning,
    ) -> Result<Self> {
        let session = |accelerator| Session::new(accelerator, plan, precision, tuning);
        let sessions = accelerators.into_iter().map(session).collect::<Result<Vec<_>>>()?;
        let models = sessions.iter().map(|session| session.models).min().unwrap_or(2);
        let starts_small = sessions.iter().any(|session| session.program.fused.is_some());
        let devices = sessions
            .into_iter()
            .map(|session| TrainerDevice {
                accelerator: Arc::clone(&session.accelerator),
                session: Mutex::new(session),
                idle: Mutex::default(),
            })
            .collect();
        Ok(Trainer { plan: plan.clone(), devices, models, starts_small })
    }

    /// Number of models that a device trains in parallel.
    pub fn models_side_by_side(&self) -> usize {
        self.models
    }

    /// Number of trials between two checkpoints, enough to keep all devices busy.
    pub fn trials_per_checkpoint(&self) -> u64 {
        let of_group = self.plan.operations_per_model() * self.models as f64;
        let groups = (OPERATIONS_PER_CHECKPOINT / of_group).clamp(2.0, 64.0) as usize;
        (self.models / 2 * groups * self.devices.len()) as u64
    }

    /// Trains and scores `trials` in both worlds; `None` if cancelled.
    ///
    /// As in [`TrainingPlan::score`], `on_trained` is called after every model.
    ///
    /// # Errors
    /// A device fails.
    pub fn score(
        &self,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        on_trained: &(dyn Fn() + Sync),
    ) -> Result<Option<TrialBatch>> {
        let groups = self.groups(trials);
        let next = AtomicUsize::new(0);
        let scored: Vec<Mutex<Option<Result<Option<TrialBatch>>>>> =
            groups.iter().map(|_| Mutex::new(None)).collect();
        rayon::scope(|scope| {
            for device in self.devices.iter().flat_map(|device| [device; GROUPS_IN_PROGRESS]) {
                let (groups, scored, next) = (&groups, &scored, &next);
                scope.spawn(move |_| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(group) = groups.get(number) else { break };
                        let result = self.score_group(device, group.clone(), is_cancelled, on_trained);
                        let goes_on = matches!(result, Ok(Some(_)));
                        if let Ok(mut slot) = scored[number].lock() {
                            *slot = Some(result);
                        }
                        if !goes_on {
                            next.store(groups.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        let mut all = TrialBatch::default();
        let mut cancelled = false;
        for slot in scored {
            match slot.into_inner().ok().flatten().transpose()?.flatten() {
                Some(batch) if !cancelled => all.append(batch),
                _ => cancelled = true,
            }
        }
        Ok((!cancelled).then_some(all))
    }

    /// Splits trials into groups.
    ///
    /// If drawing batches takes about as long as training, the first groups are small, so that devices start early.
    fn groups(&self, trials: Range<u64>) -> Vec<Range<u64>> {
        let most = (self.models / 2).max(1) as u64;
        let mut each = if self.starts_small { most.div_ceil(8) } else { most };
        let mut groups = vec![];
        let mut start = trials.start;
        while start < trials.end {
            let end = trials.end.min(start + each);
            groups.push(start..end);
            start = end;
            each = most.min(2 * each);
        }
        groups
    }

    fn score_group(
        &self,
        device: &TrainerDevice<A>,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        on_trained: &(dyn Fn() + Sync),
    ) -> Result<Option<TrialBatch>> {
        let models: Vec<(u64, World)> =
            trials.clone().flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
        let Some(results) = self.train_group(device, models.clone(), is_cancelled, false)? else {
            return Ok(None);
        };
        let scored: Vec<_> =
            (0..models.len()).into_par_iter().map(|model| results.scored(&self.plan, model)).collect();
        scored.iter().for_each(|_| on_trained());
        Ok(Some(self.plan.batch_of(trials, &scored)))
    }

    /// Trains single models and also returns their parameters, for comparisons.
    ///
    /// # Errors
    /// A device fails.
    pub fn train(&self, models: &[(u64, World)]) -> Result<Vec<TrainedModel>> {
        let mut all = vec![];
        for group in models.chunks(self.models) {
            if let Some(results) = self.train_group(&self.devices[0], group.to_vec(), &|| false, true)? {
                all.extend((0..group.len()).map(|model| results.model(&self.plan, model)));
            }
        }
        Ok(all)
    }

    /// Draws batches, trains, and reads results. Meanwhile, other threads may draw or read for other groups.
    fn train_group(
        &self,
        device: &TrainerDevice<A>,
        models: Vec<(u64, World)>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        keep_parameters: bool,
    ) -> Result<Option<GroupResults>> {
        if is_cancelled() {
            return Ok(None);
        }
        let batches = GroupBatches::new(&self.plan, models);
        let idle = device.idle.lock().map_err(|_| CudaError::Poisoned)?.pop();
        let mut memory = match idle {
            Some(memory) => memory,
            None => GroupMemory::new(&device.accelerator)?,
        };
        memory.fill(&self.plan, batches)?;
        let final_state = {
            let mut session = device.session.lock().map_err(|_| CudaError::Poisoned)?;
            session.make_room(memory.batches.room)?;
            GroupTraining::new(&self.plan, &session, &memory).train(is_cancelled, keep_parameters)?
        };
        let results = final_state.map(|state| memory.results(&self.plan, state)).transpose()?;
        device.idle.lock().map_err(|_| CudaError::Poisoned)?.push(memory);
        Ok(results)
    }
}
