//! A device prepared for one training: kernels, data, and memory for models in parallel.

use super::accelerator::Accelerator;
use super::arguments::{Clipping, Debiasing, Models, NOWHERE, Scoring, Step};
use super::buffer::Buffer;
use super::canary_tables::CanaryTables;
use super::device_dataset::DeviceDataset;
use super::group_memory::GroupMemory;
use super::memory_layout::MemoryLayout;
use super::perceptron::Perceptron;
use super::program::Program;
use super::stages::{Stage, stages};
use super::tiling::Tuning;
use crate::parameters::Key;
use crate::{CudaError, Result};
use misdeal_core::{Loss, Precision};
use misdeal_schemes::{PositionLaw, Weights};
use misdeal_train::TrainingPlan;
use misdeal_train::data::Examples;
use std::sync::Arc;

/// Number of parameters that a block of `make_step` updates.
pub const PARAMETERS_PER_BLOCK: usize = 1024;
/// Minimum number of records with space in memory; accuracies are measured on that many at a time.
const FEWEST_RECORDS: usize = 64;
/// Number of floating-point operations in a step that keep a device busy.
const OPERATIONS_PER_STEP: f64 = 2.4e11;
/// Largest number of models in parallel: sixteen for each of an H200's multiprocessors. More are not faster.
const MOST_MODELS: usize = 2112;
/// The fraction of free memory that models may use.
const MOST_OF_THE_MEMORY: f64 = 0.6;

/// A device, and everything on it that all groups share.
#[derive(Debug)]
pub struct Session<A: Accelerator> {
    pub accelerator: Arc<A>,
    pub program: Program,
    pub stages: Vec<Stage>,
    pub layout: MemoryLayout,
    pub train: DeviceDataset<A>,
    /// Records as bits, for the kernel that trains a whole model in one block.
    pub bits: Buffer<A>,
    pub test: Option<DeviceDataset<A>>,
    /// The numbers 0, 1, 2, ...: indices of models or records. Entry n also serves as a count of n.
    pub numbers: Buffer<A>,
    pub linears: Buffer<A>,
    pub ends: Buffer<A>,
    pub bounds: Buffer<A>,
    pub canaries: CanaryTables<A>,
    pub workspace: Buffer<A>,
    _parts: Buffer<A>,
    /// Number of models that fit into memory.
    pub models: usize,
    pub parameters: usize,
    clipping: Clipping,
    step: Step,
}

impl<A: Accelerator> Session<A> {
    /// Compiles the kernels and uploads the data.
    pub fn new(
        mut accelerator: A,
        plan: &TrainingPlan,
        precision: Precision,
        tuning: Tuning,
    ) -> Result<Self> {
        let (setting, model, dataset) = (plan.setting(), plan.model(), plan.dataset());
        let stages = stages(model);
        let records = setting.dataset_size() as usize;
        let batch = setting.batch_size as usize;
        let most_bytes = accelerator.most_shared_bytes()?;
        let program = Program::new(plan, precision, tuning, most_bytes);
        accelerator.load(&program)?;
        let accelerator = Arc::new(accelerator);
        let spread =
            if setting.scheme.has_fixed_batch_sizes() { 0.0 } else { 8.0 * (batch as f64).sqrt() + 16.0 };
        let most = if plan.adversary().keeps_naturals() { batch + spread as usize } else { 0 };
        let layout = MemoryLayout::new(&stages, &program.stages, model.parameters, most.max(FEWEST_RECORDS));
        check_sizes(&layout, &stages, records)?;
        let train = DeviceDataset::new(&accelerator, &dataset.train, records)?;
        let test = dataset
            .test
            .as_ref()
            .map(|test| DeviceDataset::new(&accelerator, test, test.len()))
            .transpose()?;

        let perceptron =
            Perceptron::new(plan, &stages, precision, most_bytes).filter(|_| program.fused.is_some());
        let bits = perceptron.map_or_else(Vec::new, |kernel| kernel.bits(&dataset.train, records));
        let bits = Buffer::copy_of(&accelerator, &bits)?;

        let steps = setting.steps() as usize;
        let canaries = plan.canaries().len();
        let blocks = model.parameters.div_ceil(PARAMETERS_PER_BLOCK);
        let bytes_per_model =
            4 * layout.stride + 16 * canaries * blocks + steps * (4 * most + 20 * canaries + 4) * 2;
        let fitting =
            (MOST_OF_THE_MEMORY * accelerator.free_bytes()? as f64 / bytes_per_model as f64) as usize;
        if fitting < 2 {
            return Err(CudaError::TooLittleMemory { bytes: 4 * layout.stride, batch_size: batch });
        }
        let per_step = plan.operations_per_model() / steps as f64;
        let busy = ((OPERATIONS_PER_STEP / per_step) as usize).clamp(24, MOST_MODELS);
        // An even number, because a group has both worlds of a trial.
        let models = tuning.models.unwrap_or(busy).min(fitting).max(2) / 2 * 2;

        let layers: Vec<_> = stages.iter().filter_map(Stage::weighted).collect();
        let ends: Vec<u32> = layers.iter().map(|l| (l.start + (l.inputs() + 1) * l.filters) as u32).collect();
        let bounds: Vec<f32> = layers.iter().map(|l| (1.0 / (l.inputs() as f64).sqrt()) as f32).collect();
        let numbers: Vec<u32> =
            (0..=models.max(records).max(dataset.test.as_ref().map_or(0, Examples::len)) as u32).collect();
        let linears = layout.linears(&stages);
        let last = *layout.stages.last().ok_or(CudaError::Other("a model without layers".into()))?;
        let [low, high] = plan.stream().philox_key().ok_or(CudaError::WrongStream)?;
        let tables = CanaryTables::new(&accelerator, plan)?;
        let (linear_buffer, parts) = (
            Buffer::copy_of(&accelerator, &linears)?,
            Buffer::uninitialised::<f64>(&accelerator, models * canaries * 2 * blocks)?,
        );
        let clipping = Clipping {
            linears: linear_buffer.address(),
            outputs: last.output,
            delta: last.delta,
            linear_count: linears.len() as u32,
            classes: model.classes() as u32,
            loss: u32::from(model.loss == Loss::SquaredError),
            clip_norm: plan.recipe().clip_norm as f32,
        };
        let step = Step {
            canaries: tables.ranges.address(),
            values: tables.values.address(),
            starts: tables.starts.address(),
            listed: tables.listed.address(),
            owners: tables.owners.as_ref().map_or(0, |[owners, _]| owners.address()),
            owned: tables.owners.as_ref().map_or(0, |[_, owned]| owned.address()),
            planted: 0,
            small: 0,
            parts: parts.address(),
            outputs: 0,
            trials: 0,
            worlds: 0,
            planted_stride: (steps * canaries) as u64,
            output_stride: (steps * canaries * 2) as u64,
            first_draw: 0,
            inverse_square: 1.0 / plan.recipe().clip_norm.powi(2),
            key: Key { low, high },
            canary_count: canaries as u32,
            blocks: blocks as u32,
            noise_scale: (plan.recipe().clip_norm * setting.noise_multiplier) as f32,
            rate: (plan.recipe().learning_rate / setting.batch_size as f64) as f32,
        };
        Ok(Session {
            numbers: Buffer::copy_of(&accelerator, &numbers)?,
            ends: Buffer::copy_of(&accelerator, &ends)?,
            bounds: Buffer::copy_of(&accelerator, &bounds)?,
            workspace: Buffer::uninitialised::<f32>(&accelerator, models * layout.stride)?,
            linears: linear_buffer,
            canaries: tables,
            _parts: parts,
            accelerator,
            program,
            layout,
            train,
            bits,
            test,
            models,
            parameters: model.parameters,
            clipping,
            step,
            stages,
        })
    }

    /// Enlarges the models' memory for batches of `records` records.
    pub fn make_room(&mut self, records: usize) -> Result<()> {
        if records <= self.layout.records {
            return Ok(());
        }
        let layout = MemoryLayout::new(&self.stages, &self.program.stages, self.parameters, records);
        check_sizes(&layout, &self.stages, 0)?;
        self.linears.fill(&layout.linears(&self.stages))?;
        self.workspace.reserve::<f32>(self.models * layout.stride)?;
        if let Some(last) = layout.stages.last() {
            self.clipping.outputs = last.output;
            self.clipping.delta = last.delta;
        }
        self.layout = layout;
        Ok(())
    }

    /// The kernel argument for all models of a group, or for those in a list of slots.
    pub fn models(&self, slots: Option<&Buffer<A>>) -> Models {
        let layout = &self.layout;
        Models {
            workspace: self.workspace.address(),
            stride: layout.stride as u64,
            slots: slots.unwrap_or(&self.numbers).address(),
            parameters: layout.parameters as u64,
            sum: layout.sum as u64,
            gradients: layout.gradients as u64,
            squares: layout.squares as u64,
            factors: layout.factors as u64,
            parameter_count: self.parameters as u32,
            convolution_parameters: layout.convolution_parameters as u32,
            gradient_stride: layout.gradient_stride as u32,
            parts: layout.parts as u32,
        }
    }

    pub fn clipping(&self) -> Clipping {
        self.clipping
    }

    /// The kernel argument for a step, with the group's addresses.
    pub fn step(&self, memory: &GroupMemory<A>, step: usize, noise_stride: u64) -> Step {
        let canaries = self.step.canary_count as usize;
        Step {
            planted: if canaries == 1 { memory.planted.address() + 4 * step as u64 } else { 0 },
            small: if canaries == 1 { 0 } else { memory.planted.address() + (step * canaries) as u64 },
            outputs: memory.outputs.address() + (8 * step * canaries * 2) as u64,
            trials: memory.trials.address(),
            worlds: memory.worlds.address(),
            first_draw: step as u64 * noise_stride,
            ..self.step
        }
    }

    /// The kernel argument for scoring, if the device scores: in the worst case of several canaries whose batches are all equally
    /// likely. Elsewhere the outputs are needed on the CPU.
    pub fn scoring(&self, plan: &TrainingPlan, memory: &GroupMemory<A>) -> Option<Scoring> {
        let setting = plan.setting();
        let model = plan.target_models().first().filter(|_| plan.canaries().len() > 1)?;
        let everywhere = PositionLaw::OnceAnEpoch(Weights::Uniform(0..setting.steps_per_epoch));
        let are_alike = plan.target_models().iter().all(|other| other == model);
        (!plan.adversary().keeps_naturals() && are_alike && model.law == everywhere).then(|| Scoring {
            scores: memory.scores.address(),
            present: model.shifts.present,
            zeroed: model.shifts.zeroed,
            recentring: plan.adversary().recentring(),
            precision: 1.0 / (setting.noise_multiplier * setting.noise_multiplier),
            steps_per_epoch: setting.steps_per_epoch as u32,
            epochs: setting.epochs as u32,
        })
    }

    /// The kernel argument for projections of a step's sample, starting at record `first`.
    pub fn debiasing(&self, memory: &GroupMemory<A>, step: usize, steps: usize, first: usize) -> Debiasing {
        let canaries = self.step.canary_count as usize;
        let sampled = memory.batches.sampled;
        Debiasing {
            linears: self.linears.address(),
            projections: memory.projections.address() + (4 * (step * sampled + first) * canaries) as u64,
            projection_stride: (steps * sampled * canaries) as u64,
            linear_count: self.clipping.linear_count,
            unused: 0,
        }
    }
}

/// Checks that sizes and offsets fit the 32-bit numbers of the kernels.
fn check_sizes(layout: &MemoryLayout, stages: &[Stage], records: usize) -> Result<()> {
    let widest = stages.iter().map(|stage| stage.inputs.max(stage.outputs)).max().unwrap_or(0);
    let sides = stages
        .iter()
        .filter_map(Stage::convolution)
        .all(|layer| [layer.height, layer.width].into_iter().all(|side| side + 2 * layer.padding < 1 << 13));
    debug_assert!(layout.stages.iter().skip(1).all(|stage| stage.input != NOWHERE));
    let fits = sides
        && layout.records < 1 << 16
        && widest.saturating_mul(layout.records) < 1 << 31
        && widest.saturating_mul(records) < 1 << 32;
    if fits {
        return Ok(());
    }
    Err(CudaError::TooLarge { batch_size: layout.records, widest, records })
}
