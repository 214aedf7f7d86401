//! A group of models trained side by side, kernel by kernel.
//!
//! # Why is each record's convolution gradient kept?
//! A step adds them up with their clipping factors. A second pass over the products would cost more than the memory's
//! bandwidth.
#![allow(unsafe_code, reason = "kernels are launched")]

use super::arguments::{Batch, Clipping, Models, Run};
use super::harvest::{Gathered, Hits};
use super::machine::{Grid, Machine};
use super::memory::Memory;
use super::records::Records;
use super::session::{Dealt, Session};
use super::source::Cut;
use super::stages::Weighted;
use misdeal_train::TrainingPlan;
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
/// The same where a kernel makes many steps: it loads and stores a model's parameters, and a tenth of a second goes by.
const FUSED_STEPS: usize = 100;

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

    /// Trains all models, and gives what lies where the next group's models will: outputs stay with the deal. None if `is_cancelled` said
    /// so between two steps.
    pub fn train(
        &self,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        keep_parameters: bool,
    ) -> Result<Option<Gathered>, String> {
        let steps = self.plan.setting().steps() as usize;
        self.initialise()?;
        let at_a_time = if self.session.program.fused.is_some() { FUSED_STEPS } else { STEPS_AT_A_TIME };
        for first in (0..steps).step_by(at_a_time) {
            self.session.machine.wait()?;
            if is_cancelled() {
                return Ok(None);
            }
            let count = at_a_time.min(steps - first);
            match self.session.program.fused {
                Some(kernel) => self.fused_steps(kernel, first, count)?,
                None => (first..first + count).try_for_each(|step| self.step(step))?,
            }
        }
        let hits = self.hits()?;
        self.session.machine.wait()?;
        let parameters = if keep_parameters { self.parameters()? } else { vec![] };
        Ok(Some(Gathered { hits, parameters }))
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

    /// The natural records of a step.
    fn batch(&self, number: usize) -> Batch {
        let (steps, room) = (self.plan.setting().steps() as usize, self.dealt.deal.room);
        Batch {
            records: self.dealt.records.address() + (4 * number * room) as u64,
            counts: self.dealt.counts.address() + (4 * number) as u64,
            record_stride: (steps * room) as u64,
            count_stride: steps as u64,
            ..batch_of(&self.session.train)
        }
    }

    fn fused_steps(&self, kernel: usize, first: usize, count: usize) -> Result<(), String> {
        let session = self.session;
        let noise_stride = self.plan.noise_stride();
        let mut models = session.models(None);
        let mut batch = self.batch(first);
        let mut step = session.step(self.dealt, first, noise_stride);
        let mut run = Run {
            bits: session.bits.address(),
            room: self.dealt.deal.room as u64,
            noise_stride,
            steps: count as u32,
            clip_norm: session.clipping().clip_norm,
        };
        let mut arguments =
            [pointer(&mut models), pointer(&mut batch), pointer(&mut step), pointer(&mut run)];
        // SAFETY: these are what `perceptron` takes; the deal has records, counts and outputs for all these steps.
        unsafe { session.machine.launch(kernel, (1, 1, self.count), &mut arguments) }
    }

    fn step(&self, number: usize) -> Result<(), String> {
        let (session, deal) = (self.session, &self.dealt.deal);
        let mut models = session.models(None);
        let mut step = session.step(self.dealt, number, self.plan.noise_stride());
        let most = deal.most[number] as usize;
        let mut batch = self.batch(number);
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
            if let (Some((kernel, cut)), Some(_)) = (kernels.gradient, stage.convolution()) {
                self.of_stage(kernel, (cut.parts(), most, self.count), models, batch, places)?;
            }
            if let Some((kernel, cut)) = kernels.backward {
                let rows = most * stage.weighted().map_or(1, Weighted::pixels);
                let grid = grid(cut, most, rows, most * stage.inputs, self.count);
                self.of_stage(kernel, grid, models, batch, places)?;
            }
        }
        self.for_each_record(CLIP, models, batch, clipping, most)
    }

    fn forward(&self, models: Models, batch: Batch, most: usize, count: usize) -> Result<(), String> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            let (stage, places) = (&session.stages[number], session.layout.stages[number]);
            let Some((kernel, cut)) = kernels.forward else { continue };
            let rows = most * stage.weighted().map_or(1, Weighted::places);
            let grid = grid(cut, most, rows, most * stage.outputs, count);
            self.of_stage(kernel, grid, models, batch, places)?;
        }
        Ok(())
    }

    /// The sums of linear layers' clipped gradients.
    fn sum_gradients(&self, models: Models, batch: Batch) -> Result<(), String> {
        let session = self.session;
        for (number, kernels) in session.program.stages.iter().enumerate() {
            if let (Some((kernel, cut)), Some(_)) = (kernels.gradient, session.stages[number].linear()) {
                let grid = (cut.parts(), 1, self.count);
                self.of_stage(kernel, grid, models, batch, session.layout.stages[number])?;
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
    fn hits(&self) -> Result<Vec<Option<Hits>>, String> {
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
        session.machine.wait()?;
        hit_memory.read(&mut hits)?;
        Ok(hits)
    }

    /// The parameters of all models.
    fn parameters(&self) -> Result<Vec<Vec<f64>>, String> {
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

/// Blocks for `records` records that are so many rows of a product, or so many values, in each of `models` models.
fn grid(cut: Cut, records: usize, rows: usize, values: usize, models: usize) -> Grid {
    match cut {
        Cut::Tiles(tiling) => (rows.div_ceil(tiling.rows), tiling.column_tiles(), models),
        Cut::Records(each) => (records.div_ceil(each), 1, models),
        Cut::Values => (values.div_ceil(256), 1, models),
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
