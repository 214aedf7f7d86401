//! Trains a group of models in parallel, kernel by kernel.
//!
//! # Why is each record's convolution gradient kept?
//! A step multiplies the gradients by their clipping factors and adds them up. Computing the products a second time would cost
//! more than reading the gradients from memory.
#![allow(unsafe_code, reason = "kernels are launched")]

use super::accelerator::{Accelerator, Grid};
use super::arguments::{Batch, Clipping, Models, Run, Stage};
use super::buffer::Buffer;
use super::device_dataset::DeviceDataset;
use super::group_memory::GroupMemory;
use super::group_results::{Correct, FinalState};
use super::program::WorkSplit;
use super::session::Session;
use super::stages::WeightedLayer;
use crate::Result;
use misdeal_train::TrainingPlan;
use std::ffi::c_void;

// Indices into `COMMON_KERNELS`.
const LOSS: usize = 0;
const CLIP: usize = 1;
const COUNT_HITS: usize = 2;
const MAKE_STEP: usize = 3;
const COLLECT: usize = 4;
const INITIALISE: usize = 5;
const PROJECT_RECORDS: usize = 6;
const SCORE_CANARIES: usize = 7;

/// Number of records in a block where each record has one warp.
const WARPS: usize = 8;
/// Number of steps between two checks for cancellation.
const STEPS_AT_A_TIME: usize = 8;
/// The same number where one kernel makes many steps: about a tenth of a second.
///
/// A smaller number would load and store the parameters more often.
const FUSED_STEPS: usize = 100;

/// The training of a group of models.
pub struct GroupTraining<'a, A: Accelerator> {
    plan: &'a TrainingPlan,
    session: &'a Session<A>,
    memory: &'a GroupMemory<A>,
    /// Number of models trained in parallel.
    count: usize,
}

impl<'a, A: Accelerator> GroupTraining<'a, A> {
    pub fn new(plan: &'a TrainingPlan, session: &'a Session<A>, memory: &'a GroupMemory<A>) -> Self {
        GroupTraining { plan, session, memory, count: memory.batches.models.len() }
    }

    /// Trains all models and reads the results that the next group overwrites; `None` if cancelled.
    ///
    /// Outputs stay in the [`GroupMemory`].
    pub fn train(
        &self,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        keep_parameters: bool,
    ) -> Result<Option<FinalState>> {
        let steps = self.plan.setting().steps() as usize;
        self.initialise()?;
        let at_a_time = if self.session.program.fused.is_some() { FUSED_STEPS } else { STEPS_AT_A_TIME };
        for first in (0..steps).step_by(at_a_time) {
            self.session.accelerator.wait()?;
            if is_cancelled() {
                return Ok(None);
            }
            let count = at_a_time.min(steps - first);
            match self.session.program.fused {
                Some(kernel) => self.fused_steps(kernel, first, count)?,
                None => (first..first + count).try_for_each(|step| self.step(step))?,
            }
        }
        let has_scores = !keep_parameters && self.score()?;
        let correct = self.correct()?;
        self.session.accelerator.wait()?;
        let parameters = if keep_parameters { self.parameters()? } else { vec![] };
        Ok(Some(FinalState { correct, parameters, has_scores }))
    }

    /// Scores all canaries, if the device can; returns whether it does.
    fn score(&self) -> Result<bool> {
        let session = self.session;
        let Some(mut scoring) = session.scoring(self.plan, self.memory) else { return Ok(false) };
        let (mut models, mut step) = (session.models(None), session.step(self.memory, 0, 0));
        let mut arguments = [pointer(&mut models), pointer(&mut step), pointer(&mut scoring)];
        let grid = ((step.canary_count as usize).div_ceil(256), 1, self.count);
        // SAFETY: these are the parameters of `score_canaries`. The group's memory has outputs of all steps, and room for scores.
        unsafe { session.accelerator.launch(SCORE_CANARIES, grid, &mut arguments) }?;
        Ok(true)
    }

    fn initialise(&self) -> Result<()> {
        let session = self.session;
        let mut models = session.models(None);
        let mut step = session.step(self.memory, 0, 0);
        let (mut ends, mut bounds) = (session.ends.address(), session.bounds.address());
        let mut arguments =
            [pointer(&mut models), pointer(&mut step), pointer(&mut ends), pointer(&mut bounds)];
        let grid = (session.parameters.div_ceil(1024), 1, self.count);
        // SAFETY: these are the parameters of `initialise`. The session's memory has space for all models.
        unsafe { session.accelerator.launch(INITIALISE, grid, &mut arguments) }
    }

    /// The natural records of a step, as a kernel argument.
    fn batch(&self, number: usize) -> Batch {
        let (steps, room) = (self.plan.setting().steps() as usize, self.memory.batches.room);
        Batch {
            records: self.memory.records.address() + (4 * number * room) as u64,
            counts: self.memory.counts.address() + (4 * number) as u64,
            record_stride: (steps * room) as u64,
            count_stride: steps as u64,
            ..batch_of(&self.session.train)
        }
    }

    fn fused_steps(&self, kernel: usize, first: usize, count: usize) -> Result<()> {
        let session = self.session;
        let noise_stride = self.plan.noise_stride();
        let mut models = session.models(None);
        let mut batch = self.batch(first);
        let mut step = session.step(self.memory, first, noise_stride);
        let mut run = Run {
            bits: session.bits.address(),
            room: self.memory.batches.room as u64,
            noise_stride,
            steps: count as u32,
            clip_norm: session.clipping().clip_norm,
        };
        let mut arguments =
            [pointer(&mut models), pointer(&mut batch), pointer(&mut step), pointer(&mut run)];
        // SAFETY: these are the parameters of `perceptron`. The group's memory has records, counts and outputs for all these
        // steps.
        unsafe { session.accelerator.launch(kernel, (1, 1, self.count), &mut arguments) }
    }

    fn step(&self, number: usize) -> Result<()> {
        let (session, batches) = (self.session, &self.memory.batches);
        let mut models = session.models(None);
        let mut step = session.step(self.memory, number, self.plan.noise_stride());
        let most = batches.most[number] as usize;
        let mut batch = self.batch(number);
        if self.plan.debiases() {
            self.project_samples(number)?;
        }
        if most > 0 {
            self.deltas(models, batch, most)?;
            self.sum_gradients(models, batch)?;
        }
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut step)];
        let grid = (step.blocks as usize, 1, self.count);
        // SAFETY: these are the parameters of `make_step`.
        unsafe { session.accelerator.launch(MAKE_STEP, grid, &mut arguments) }?;
        if !session.canaries.has_parts {
            return Ok(());
        }
        let mut arguments = [pointer(&mut models), pointer(&mut step)];
        let grid = ((2 * step.canary_count as usize).div_ceil(WARPS), 1, self.count);
        // SAFETY: these are the parameters of `collect`.
        unsafe { session.accelerator.launch(COLLECT, grid, &mut arguments) }
    }

    /// Projects the gradients sampled for debiasing, in chunks that fit into memory.
    fn project_samples(&self, number: usize) -> Result<()> {
        let (session, sampled) = (self.session, self.memory.batches.sampled);
        let steps = self.plan.setting().steps() as usize;
        let most = session.layout.records;
        let mut models = session.models(None);
        let mut step = session.step(self.memory, number, 0);
        for first in (0..sampled).step_by(most) {
            let count = most.min(sampled - first);
            let mut batch = Batch {
                records: self.memory.samples.address() + (4 * (number * sampled + first)) as u64,
                record_stride: (steps * sampled) as u64,
                // Entry n of `numbers` is n.
                counts: session.numbers.address() + 4 * count as u64,
                count_stride: 0,
                ..batch_of(&session.train)
            };
            self.deltas(models, batch, count)?;
            let mut debiasing = session.debiasing(self.memory, number, steps, first);
            let mut arguments =
                [pointer(&mut models), pointer(&mut batch), pointer(&mut step), pointer(&mut debiasing)];
            // SAFETY: these are the parameters of `project_records`.
            unsafe { session.accelerator.launch(PROJECT_RECORDS, (count, 1, self.count), &mut arguments) }?;
        }
        Ok(())
    }

    /// Computes clipped deltas of linear layers, gradients of convolutions and clipping factors.
    ///
    /// `most` is at least the number of records in every model's batch.
    fn deltas(&self, models: Models, batch: Batch, most: usize) -> Result<()> {
        let session = self.session;
        let clipping = session.clipping();
        self.forward(models, batch, most, self.count)?;
        self.launch_by_record(LOSS, models, batch, clipping, most)?;
        for (number, kernels) in session.program.stages.iter().enumerate().rev() {
            let (stage, places) = (&session.stages[number], session.layout.stages[number]);
            if let (Some((kernel, split)), Some(_)) = (kernels.gradient, stage.convolution()) {
                self.launch_stage(kernel, (split.parts(), most, self.count), models, batch, places)?;
            }
            if let Some((kernel, split)) = kernels.backward {
                let rows = most * stage.weighted().map_or(1, WeightedLayer::pixels);
                let grid = grid(split, most, rows, most * stage.inputs, self.count);
                self.launch_stage(kernel, grid, models, batch, places)?;
            }
        }
        self.launch_by_record(CLIP, models, batch, clipping, most)
    }

    fn forward(&self, models: Models, batch: Batch, most: usize, count: usize) -> Result<()> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            let (stage, places) = (&session.stages[number], session.layout.stages[number]);
            let Some((kernel, split)) = kernels.forward else { continue };
            let rows = most * stage.weighted().map_or(1, WeightedLayer::places);
            let grid = grid(split, most, rows, most * stage.outputs, count);
            self.launch_stage(kernel, grid, models, batch, places)?;
        }
        Ok(())
    }

    /// Sums the clipped gradients of linear layers.
    fn sum_gradients(&self, models: Models, batch: Batch) -> Result<()> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            if let (Some((kernel, split)), Some(_)) = (kernels.gradient, session.stages[number].linear()) {
                let grid = (split.parts(), 1, self.count);
                self.launch_stage(kernel, grid, models, batch, session.layout.stages[number])?;
            }
        }
        Ok(())
    }

    fn launch_stage(
        &self,
        kernel: usize,
        grid: Grid,
        mut models: Models,
        mut batch: Batch,
        mut stage: Stage,
    ) -> Result<()> {
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut stage)];
        // SAFETY: every kernel of a stage takes these three parameters. Their addresses belong to the session or the group's
        // memory.
        unsafe { self.session.accelerator.launch(kernel, grid, &mut arguments) }
    }

    fn launch_by_record(
        &self,
        kernel: usize,
        mut models: Models,
        mut batch: Batch,
        mut clipping: Clipping,
        most: usize,
    ) -> Result<()> {
        let mut arguments = [pointer(&mut models), pointer(&mut batch), pointer(&mut clipping)];
        // SAFETY: `loss` and `clip` take these three parameters.
        unsafe {
            self.session.accelerator.launch(kernel, (most.div_ceil(WARPS), 1, self.count), &mut arguments)
        }
    }

    /// Counts correctly classified records of the models whose accuracy is measured.
    fn correct(&self) -> Result<Vec<Option<Correct>>> {
        let models = &self.memory.batches.models;
        let is_measured = |trial: u64| self.plan.measures_accuracy(trial);
        let slots: Vec<u32> =
            (0..).zip(models).filter(|&(_, &(trial, _))| is_measured(trial)).map(|(slot, _)| slot).collect();
        if slots.is_empty() {
            return Ok(vec![None; models.len()]);
        }
        let of_train = self.count_correct(&slots, &self.session.train)?;
        let of_test =
            self.session.test.as_ref().map(|records| self.count_correct(&slots, records)).transpose()?;
        let correct = |(slot, &(trial, _)): (usize, &(u64, _))| {
            is_measured(trial)
                .then(|| (u64::from(of_train[slot]), of_test.as_ref().map(|counts| u64::from(counts[slot]))))
        };
        Ok(models.iter().enumerate().map(correct).collect())
    }

    fn count_correct(&self, slots: &[u32], records: &DeviceDataset<A>) -> Result<Vec<u32>> {
        let session = self.session;
        let mut counts = vec![0_u32; self.count];
        let (slot_buffer, count_buffer) =
            (Buffer::copy_of(&session.accelerator, slots)?, Buffer::copy_of(&session.accelerator, &counts)?);
        let mut models = session.models(Some(&slot_buffer));
        let most = session.layout.records;
        let (mut clipping, mut address) = (session.clipping(), count_buffer.address());
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
            // SAFETY: these are the parameters of `count_hits`. There is a counter for every model.
            unsafe { session.accelerator.launch(COUNT_HITS, grid, &mut arguments) }?;
        }
        session.accelerator.wait()?;
        count_buffer.read(&mut counts)?;
        Ok(counts)
    }

    /// Reads the parameters of all models.
    fn parameters(&self) -> Result<Vec<Vec<f64>>> {
        let stride = self.session.layout.stride;
        let mut all = vec![0.0_f32; self.count * stride];
        self.session.workspace.read(&mut all)?;
        let of_model = |model: &[f32]| {
            let parameters = &model[self.session.layout.parameters..][..self.session.parameters];
            parameters.iter().map(|&parameter| f64::from(parameter)).collect()
        };
        Ok(all.chunks_exact(stride).map(of_model).collect())
    }
}

/// The grid for `models` models. Blocks are split by records, rows of a product, or values.
fn grid(split: WorkSplit, records: usize, rows: usize, values: usize, models: usize) -> Grid {
    match split {
        WorkSplit::Tiles(tiling) => (rows.div_ceil(tiling.rows), tiling.column_tiles(), models),
        WorkSplit::Records(each) => (records.div_ceil(each), 1, models),
        WorkSplit::Values => (values.div_ceil(256), 1, models),
    }
}

fn batch_of<A: Accelerator>(records: &DeviceDataset<A>) -> Batch {
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
