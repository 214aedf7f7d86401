//! Trains and scores ranges of trials on all devices.

use super::deal::Deal;
use super::group::Group;
use super::harvest::Harvest;
use super::machine::{Gpu, Machine, Profile};
use super::session::{Dealt, Session};
use super::tiling::Tuning;
use crate::libraries;
use cudarc::driver::CudaContext;
use misdeal_core::Precision;
use misdeal_core::{Error, Result, World};
use misdeal_train::{Trained, TrainingPlan, TrialBatch, Utility, scores};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Groups of each device that are dealt, trained or scored at a time: one of each.
const GROUPS_AT_A_TIME: usize = 3;
/// Floating-point operations between two savings: some seconds of a device.
const OPERATIONS_AT_A_TIME: f64 = 8e13;

/// The engine's name in reports and stores: precisions do not give the same scores.
pub fn engine_name(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "train-cuda",
        Precision::Tf32 => "train-cuda-tf32",
    }
}

/// Scores of one group, by world, and what its models are worth.
type Scored = ([Vec<f64>; 2], Utility);

/// Trains the models of a plan on graphics processors.
///
/// # Formal guarantees
/// - A trial is the reference's on the same stream, but for rounding: of f32, or of factors with eleven significant bits in `Tf32`. Batches,
///   planted gradients and initial parameters are the same to the bit.
/// - A score is the same on every device of one architecture, alone or in company, and however trials are split.
#[derive(Debug)]
pub struct Trainer<M: Machine = Gpu> {
    plan: TrainingPlan,
    devices: Vec<Device<M>>,
    models: usize,
    starts_small: bool,
}

#[derive(Debug)]
struct Device<M: Machine> {
    machine: Arc<M>,
    session: Mutex<Session<M>>,
    idle: Mutex<Vec<Dealt<M>>>,
}

impl Trainer<Gpu> {
    /// All devices of this machine, ready for a plan with a graphics processor's stream.
    ///
    /// # Errors
    /// [`Error::Device`] says what is missing or failed.
    pub fn new(plan: &TrainingPlan, precision: Precision, tuning: Tuning) -> Result<Self> {
        libraries::open().map_err(Error::Device)?;
        let count =
            CudaContext::device_count().map_err(|error| Error::Device(format!("no CUDA device: {error}")))?;
        if count < 1 {
            return Err(Error::Device("no CUDA device: the driver sees none; use the device cpu".into()));
        }
        let machines = (0..count as usize).map(Gpu::new).collect::<std::result::Result<Vec<_>, _>>();
        Self::on(plan, machines.map_err(Error::Device)?, precision, tuning)
    }

    /// The first device alone, with every launch timed.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn profiled(plan: &TrainingPlan, precision: Precision, tuning: Tuning) -> Result<Self> {
        libraries::open().map_err(Error::Device)?;
        let mut machine = Gpu::new(0).map_err(Error::Device)?;
        machine.start_profile();
        Self::on(plan, vec![machine], precision, tuning)
    }

    /// Seconds and launches of each kernel on the first device.
    pub fn profile(&self) -> Profile {
        self.devices[0].machine.profile()
    }
}

impl<M: Machine> Trainer<M> {
    /// The given machines, ready for a plan with a graphics processor's stream.
    ///
    /// # Errors
    /// [`Error::Device`] says what failed.
    pub fn on(plan: &TrainingPlan, machines: Vec<M>, precision: Precision, tuning: Tuning) -> Result<Self> {
        let session = |machine| Session::new(machine, plan, precision, tuning).map_err(Error::Device);
        let sessions = machines.into_iter().map(session).collect::<Result<Vec<_>>>()?;
        let models = sessions.iter().map(|session| session.models).min().unwrap_or(2);
        let starts_small = sessions.iter().any(|session| session.program.fused.is_some());
        let devices = sessions
            .into_iter()
            .map(|session| Device {
                machine: Arc::clone(&session.machine),
                session: Mutex::new(session),
                idle: Mutex::default(),
            })
            .collect();
        Ok(Trainer { plan: plan.clone(), devices, models, starts_small })
    }

    /// Models that a device trains side by side.
    pub fn models_at_a_time(&self) -> usize {
        self.models
    }

    /// Trials that keep all devices busy between two savings.
    pub fn trials_at_a_time(&self) -> u64 {
        let of_group = self.plan.operations_per_model() * self.models as f64;
        let groups = (OPERATIONS_AT_A_TIME / of_group).clamp(2.0, 64.0) as usize;
        (self.models / 2 * groups * self.devices.len()) as u64
    }

    /// Plays `trials` in both worlds, as [`TrainingPlan::score`] does on processors: `trained` is called after every model, None is
    /// given if `is_cancelled` said so.
    ///
    /// # Errors
    /// [`Error::Device`] says what failed.
    pub fn score(
        &self,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        trained: &(dyn Fn() + Sync),
    ) -> Result<Option<TrialBatch>> {
        let groups = self.groups(trials);
        let next = AtomicUsize::new(0);
        let scored: Vec<Mutex<Option<Result<Option<Scored>>>>> =
            groups.iter().map(|_| Mutex::new(None)).collect();
        rayon::scope(|scope| {
            for device in self.devices.iter().flat_map(|device| [device; GROUPS_AT_A_TIME]) {
                let (groups, scored, next) = (&groups, &scored, &next);
                scope.spawn(move |_| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(group) = groups.get(number) else { break };
                        let result = self.score_group(device, group.clone(), is_cancelled, trained);
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
        let mut batch = TrialBatch::default();
        let mut cancelled = false;
        for slot in scored {
            match slot.into_inner().ok().flatten() {
                Some(Err(error)) => return Err(error),
                Some(Ok(Some(([scores_in, scores_out], utility)))) if !cancelled => {
                    batch.scores_in.extend(scores_in);
                    batch.scores_out.extend(scores_out);
                    batch.utility.merge(&utility);
                }
                _ => cancelled = true,
            }
        }
        Ok((!cancelled).then_some(batch))
    }

    /// Trials of a group each. Where dealing takes about as long as training, the first groups are small, so that devices do not wait long for
    /// something to do.
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
        device: &Device<M>,
        trials: Range<u64>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        trained: &(dyn Fn() + Sync),
    ) -> Result<Option<Scored>> {
        let models: Vec<(u64, World)> =
            trials.flat_map(|trial| World::BOTH.map(|world| (trial, world))).collect();
        let Some(harvest) = self.train_group(device, models.clone(), is_cancelled, false)? else {
            return Ok(None);
        };
        let score = |model| {
            let model = harvest.model(&self.plan, model);
            (scores(&self.plan, &model.outputs), self.plan.utility(&model))
        };
        let results: Vec<(Vec<f64>, Utility)> = (0..models.len()).into_par_iter().map(score).collect();
        let mut scored: Scored = Default::default();
        for ((_, world), (scores, utility)) in models.into_iter().zip(results) {
            scored.0[world as usize].extend(scores);
            scored.1.merge(&utility);
            trained();
        }
        Ok(Some(scored))
    }

    /// Trains single models, and keeps their parameters: for comparisons.
    ///
    /// # Errors
    /// [`Error::Device`] says what failed.
    pub fn train(&self, models: &[(u64, World)]) -> Result<Vec<Trained>> {
        let mut all = vec![];
        for group in models.chunks(self.models) {
            if let Some(harvest) = self.train_group(&self.devices[0], group.to_vec(), &|| false, true)? {
                all.extend((0..group.len()).map(|model| harvest.model(&self.plan, model)));
            }
        }
        Ok(all)
    }

    /// Deals while another group may be trained, trains, and reads what came of it while the next one may be.
    fn train_group(
        &self,
        device: &Device<M>,
        models: Vec<(u64, World)>,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        keep_parameters: bool,
    ) -> Result<Option<Harvest>> {
        let failed = || Error::Device("another thread failed on the device".into());
        if is_cancelled() {
            return Ok(None);
        }
        let deal = Deal::new(&self.plan, models);
        let waiting = device.idle.lock().map_err(|_| failed())?.pop();
        let mut dealt = match waiting {
            Some(dealt) => dealt,
            None => Dealt::new(&device.machine).map_err(Error::Device)?,
        };
        dealt.fill(&self.plan, deal).map_err(Error::Device)?;
        let trained = {
            let mut session = device.session.lock().map_err(|_| failed())?;
            session.make_room(dealt.deal.room).map_err(Error::Device)?;
            Group::new(&self.plan, &session, &dealt).train(is_cancelled, keep_parameters)
        };
        let harvest = match trained.map_err(Error::Device)? {
            Some(gathered) => Some(dealt.harvest(&self.plan, gathered).map_err(Error::Device)?),
            None => None,
        };
        device.idle.lock().map_err(|_| failed())?.push(dealt);
        Ok(harvest)
    }
}
