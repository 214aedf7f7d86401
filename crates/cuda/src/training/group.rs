//! A group of models trained side by side, kernel by kernel.
#![allow(unsafe_code, reason = "kernels are launched")]

use super::arguments::{Batch, Clipping, Models};
use super::machine::{Grid, Machine};
use super::memory::Memory;
use super::records::Records;
use super::session::{Dealt, Session};
use misdeal_train::reference::Outputs;
use misdeal_train::{BiasModel, Trained, TrainingPlan};
use std::ffi::c_void;

// Places of the common kernels in `COMMON_KERNELS`.
const LOSS: usize = 0;
const CLIP: usize = 1;
const COUNT_HITS: usize = 2;
const MAKE_STEP: usize = 3;
const COLLECT: usize = 4;
const INITIALISE: usize = 5;
const PROJECT_RECORDS: usize = 6;

/// Records that a block of the kernels with one warp for each looks at.
const WARPS: usize = 8;
/// Steps between two looks at whether the run was cancelled.
const STEPS_AT_A_TIME: usize = 8;

/// A group that is being trained.
pub struct Group<'a, M: Machine> {
    plan: &'a TrainingPlan,
    session: &'a Session<M>,
    dealt: &'a Dealt<M>,
    /// Models side by side.
    count: usize,
}

impl<'a, M: Machine> Group<'a, M> {
    pub fn new(plan: &'a TrainingPlan, session: &'a Session<M>, dealt: &'a Dealt<M>) -> Self {
        Group { plan, session, dealt, count: dealt.deal.models.len() }
    }

    /// Trains all models. None if `is_cancelled` said so between two steps.
    pub fn train(
        &self,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        keep_parameters: bool,
    ) -> Result<Option<Vec<Trained>>, String> {
        let steps = self.plan.setting().steps() as usize;
        self.initialise()?;
        for step in 0..steps {
            if step % STEPS_AT_A_TIME == 0 {
                self.session.machine.wait()?;
                if is_cancelled() {
                    return Ok(None);
                }
            }
            self.step(step)?;
        }
        let hits = self.hits()?;
        let mut trained = self.outputs()?;
        for (trained, hits) in trained.iter_mut().zip(hits) {
            trained.hits = hits;
        }
        if keep_parameters {
            self.parameters(&mut trained)?;
        }
        Ok(Some(trained))
    }

    fn initialise(&self) -> Result<(), String> {
        let session = self.session;
        let mut models = session.models(None);
        let mut step = session.step(self.dealt, 0, 0);
        let (mut ends, mut bounds) = (session.ends.address(), session.bounds.address());
        let mut arguments =
            [pointer(&mut models), pointer(&mut step), pointer(&mut ends), pointer(&mut bounds)];
        let grid = (session.parameters.div_ceil(1024), 1, self.count);
        // SAFETY: these are what `initialise` takes; the session's memory has room for all models.
        unsafe { session.machine.launch(INITIALISE, grid, &mut arguments) }
    }

    fn step(&self, number: usize) -> Result<(), String> {
        let (session, deal) = (self.session, &self.dealt.deal);
        let steps = self.plan.setting().steps() as usize;
        let mut models = session.models(None);
        let mut step = session.step(self.dealt, number, self.plan.noise_stride());
        let (room, most) = (deal.room, deal.most[number] as usize);
        let mut batch = Batch {
            records: self.dealt.records.address() + (4 * number * room) as u64,
            counts: self.dealt.counts.address() + (4 * number) as u64,
            record_stride: (steps * room) as u64,
            count_stride: steps as u64,
            ..batch_of(&session.train)
        };
        if self.plan.debiases() {
            self.look_at_samples(number)?;
        }
        if most > 0 {
            self.deltas(models, batch, most)?;
            self.sum_gradients(models, batch)?;
        }
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut step)];
        let grid = (step.blocks as usize, 1, self.count);
        // SAFETY: these are what `make_step` takes.
        unsafe { session.machine.launch(MAKE_STEP, grid, &mut arguments) }?;
        let mut arguments = [pointer(&mut models), pointer(&mut step)];
        let grid = ((2 * step.canary_count as usize).div_ceil(WARPS), 1, self.count);
        // SAFETY: these are what `collect` takes.
        unsafe { session.machine.launch(COLLECT, grid, &mut arguments) }
    }

    /// What an adversary that debiases sees: as many records at a time as there is room for.
    fn look_at_samples(&self, number: usize) -> Result<(), String> {
        let (session, sampled) = (self.session, self.dealt.deal.sampled);
        let steps = self.plan.setting().steps() as usize;
        let most = session.layout.records;
        let mut models = session.models(None);
        let mut step = session.step(self.dealt, number, 0);
        for first in (0..sampled).step_by(most) {
            let count = most.min(sampled - first);
            let mut batch = Batch {
                records: self.dealt.samples.address() + (4 * (number * sampled + first)) as u64,
                record_stride: (steps * sampled) as u64,
                // The number of records, at the place of that number.
                counts: session.numbers.address() + 4 * count as u64,
                count_stride: 0,
                ..batch_of(&session.train)
            };
            self.deltas(models, batch, count)?;
            let mut debiasing = session.debiasing(self.dealt, number, steps, first);
            let mut arguments =
                [pointer(&mut models), pointer(&mut batch), pointer(&mut step), pointer(&mut debiasing)];
            // SAFETY: these are what `project_records` takes.
            unsafe { session.machine.launch(PROJECT_RECORDS, (count, 1, self.count), &mut arguments) }?;
        }
        Ok(())
    }

    /// From records to clipped deltas of linear layers, gradients of convolutions and factors, of `most` records at most.
    fn deltas(&self, models: Models, batch: Batch, most: usize) -> Result<(), String> {
        let session = self.session;
        let clipping = session.clipping();
        self.forward(models, batch, most, self.count)?;
        self.for_each_record(LOSS, models, batch, clipping, most)?;
        for (number, kernels) in session.program.stages.iter().enumerate().rev() {
            let (stage, places) = (&session.stages[number], session.layout.stages[number]);
            if let (Some((kernel, tiling)), Some(_)) = (&kernels.gradient, stage.convolution()) {
                self.of_stage(*kernel, (tiling.all_tiles(), most, self.count), models, batch, places)?;
            }
            match (&kernels.backward, stage.weighted()) {
                (Some((kernel, Some(tiling))), Some(layer)) => {
                    let tiles = (most * layer.pixels()).div_ceil(tiling.rows);
                    let grid = (tiles, tiling.column_tiles(), self.count);
                    self.of_stage(*kernel, grid, models, batch, places)?;
                }
                (Some((kernel, _)), _) => {
                    let grid = ((most * stage.inputs).div_ceil(256), 1, self.count);
                    self.of_stage(*kernel, grid, models, batch, places)?;
                }
                (None, _) => {}
            }
        }
        self.for_each_record(CLIP, models, batch, clipping, most)
    }

    fn forward(&self, models: Models, batch: Batch, most: usize, count: usize) -> Result<(), String> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            let (stage, places) = (&session.stages[number], session.layout.stages[number]);
            let Some((kernel, tiling)) = &kernels.forward else { continue };
            let grid = match (tiling, stage.weighted()) {
                (Some(tiling), Some(layer)) => {
                    ((most * layer.places()).div_ceil(tiling.rows), tiling.column_tiles(), count)
                }
                _ => ((most * stage.outputs).div_ceil(256), 1, count),
            };
            self.of_stage(*kernel, grid, models, batch, places)?;
        }
        Ok(())
    }

    /// The sums of linear layers' clipped gradients.
    fn sum_gradients(&self, models: Models, batch: Batch) -> Result<(), String> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            if let (Some((kernel, tiling)), Some(_)) = (&kernels.gradient, session.stages[number].linear()) {
                let grid = (tiling.all_tiles(), 1, self.count);
                self.of_stage(*kernel, grid, models, batch, session.layout.stages[number])?;
            }
        }
        Ok(())
    }

    fn of_stage(
        &self,
        kernel: usize,
        grid: Grid,
        mut models: Models,
        mut batch: Batch,
        mut stage: super::arguments::Stage,
    ) -> Result<(), String> {
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut stage)];
        // SAFETY: every kernel of a stage takes these three, whose addresses are the session's and the deal's.
        unsafe { self.session.machine.launch(kernel, grid, &mut arguments) }
    }

    fn for_each_record(
        &self,
        kernel: usize,
        mut models: Models,
        mut batch: Batch,
        mut clipping: Clipping,
        most: usize,
    ) -> Result<(), String> {
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut clipping)];
        // SAFETY: `loss` and `clip` take these three.
        unsafe { self.session.machine.launch(kernel, (most.div_ceil(WARPS), 1, self.count), &mut arguments) }
    }

    /// Records that the models classify correctly, of those models that are asked.
    fn hits(&self) -> Result<Vec<Option<(u64, Option<u64>)>>, String> {
        let models = &self.dealt.deal.models;
        let asked = |trial: u64| self.plan.measures_accuracy(trial);
        let slots: Vec<u32> =
            (0..).zip(models).filter(|&(_, &(trial, _))| asked(trial)).map(|(slot, _)| slot).collect();
        if slots.is_empty() {
            return Ok(vec![None; models.len()]);
        }
        let of_train = self.hits_among(&slots, &self.session.train)?;
        let of_test =
            self.session.test.as_ref().map(|records| self.hits_among(&slots, records)).transpose()?;
        let hits = |(slot, &(trial, _)): (usize, &(u64, _))| {
            asked(trial)
                .then(|| (u64::from(of_train[slot]), of_test.as_ref().map(|hits| u64::from(hits[slot]))))
        };
        Ok(models.iter().enumerate().map(hits).collect())
    }

    fn hits_among(&self, slots: &[u32], records: &Records<M>) -> Result<Vec<u32>, String> {
        let session = self.session;
        let mut hits = vec![0_u32; self.count];
        let (slot_memory, hit_memory) =
            (Memory::of(&session.machine, slots)?, Memory::of(&session.machine, &hits)?);
        let mut models = session.models(Some(&slot_memory));
        let most = session.layout.records;
        let (mut clipping, mut address) = (session.clipping(), hit_memory.address());
        for first in (0..records.count).step_by(most) {
            let count = most.min(records.count - first);
            let mut batch = Batch {
                records: session.numbers.address() + 4 * first as u64,
                record_stride: 0,
                counts: session.numbers.address() + 4 * count as u64,
                count_stride: 0,
                ..batch_of(records)
            };
            self.forward(models, batch, count, slots.len())?;
            let mut arguments =
                [pointer(&mut models), pointer(&mut batch), pointer(&mut clipping), pointer(&mut address)];
            let grid = (count.div_ceil(WARPS), 1, slots.len());
            // SAFETY: these are what `count_hits` takes; there is a counter for every model.
            unsafe { session.machine.launch(COUNT_HITS, grid, &mut arguments) }?;
        }
        hit_memory.read(&mut hits)?;
        Ok(hits)
    }

    fn outputs(&self) -> Result<Vec<Trained>, String> {
        let (steps, canaries) = (self.plan.setting().steps() as usize, self.plan.canaries().len());
        let sampled = self.dealt.deal.sampled;
        let mut values = vec![0.0_f64; self.count * steps * canaries * 2];
        self.dealt.outputs.read(&mut values)?;
        let mut seen = vec![0.0_f32; self.count * steps * sampled * canaries];
        self.dealt.projections.read(&mut seen)?;
        let output = |model: usize, kind: usize| -> Vec<Vec<f64>> {
            let of_model = &values[model * steps * canaries * 2..][..steps * canaries * 2];
            (0..canaries)
                .map(|k| of_model.chunks_exact(canaries * 2).map(|step| step[2 * k + kind]).collect())
                .collect()
        };
        let expected = |model: usize, k: usize| -> Vec<BiasModel> {
            let of_model = &seen[model * steps * sampled * canaries..][..steps * sampled * canaries];
            let of_step = |step: &[f32]| {
                let projections: Vec<f64> =
                    step.chunks_exact(canaries).map(|record| f64::from(record[k])).collect();
                BiasModel::new(self.plan, &projections)
            };
            of_model.chunks_exact((sampled * canaries).max(1)).map(of_step).collect()
        };
        let debiased = if self.plan.debiases() { canaries } else { 0 };
        Ok((0..self.count)
            .map(|model| Trained {
                outputs: Outputs {
                    biases: output(model, 0),
                    projections: output(model, 1),
                    expected: (0..debiased).map(|k| expected(model, k)).collect(),
                    parameters: vec![],
                },
                hits: None,
            })
            .collect())
    }

    fn parameters(&self, trained: &mut [Trained]) -> Result<(), String> {
        let stride = self.session.layout.stride;
        let mut all = vec![0.0_f32; self.count * stride];
        self.session.workspace.read(&mut all)?;
        for (model, trained) in all.chunks_exact(stride).zip(trained) {
            let parameters = &model[self.session.layout.parameters..][..self.session.parameters];
            trained.outputs.parameters = parameters.iter().map(|&parameter| f64::from(parameter)).collect();
        }
        Ok(())
    }
}

fn batch_of<M: Machine>(records: &Records<M>) -> Batch {
    Batch {
        data: records.features.address(),
        labels: records.labels.address(),
        data_squares: records.squares.address(),
        ..Batch::default()
    }
}

fn pointer<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}
