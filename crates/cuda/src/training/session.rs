//! One device made ready for one training: kernels, data, and room for models side by side.

use super::arguments::{Canary, Clipping, Debiasing, Models, NOWHERE, Step};
use super::deal::Deal;
use super::harvest::{Gathered, Harvest};
use super::layout::Layout;
use super::machine::Machine;
use super::memory::Memory;
use super::perceptron::Perceptron;
use super::records::Records;
use super::source::Program;
use super::stages::{Stage, stages};
use super::tiling::Tuning;
use crate::parameters::Key;
use misdeal_core::Precision;
use misdeal_core::World;
use misdeal_train::data::Examples;
use misdeal_train::{Loss, TrainingPlan};
use std::sync::Arc;

/// Parameters that a block of `make_step` moves.
pub const PARAMETERS_PER_BLOCK: usize = 1024;
/// Records for which there is room at least: accuracies are measured so many at a time.
const FEWEST_RECORDS: usize = 64;
/// Floating-point operations of a step that keep a device busy.
const OPERATIONS_PER_STEP: f64 = 2.4e11;
/// Models in flight at most: sixteen for each of an H200's multiprocessors, of which perceptrons on bits are the faster for no more.
const MOST_MODELS: usize = 2112;
/// The share of free memory that models may take.
const MOST_OF_THE_MEMORY: f64 = 0.6;

/// A device, and everything on it that does not change from group to group.
#[derive(Debug)]
pub struct Session<M: Machine> {
    pub machine: Arc<M>,
    pub program: Program,
    pub stages: Vec<Stage>,
    pub layout: Layout,
    pub train: Records<M>,
    /// Records as bits, for the kernel that trains a whole model in a block.
    pub bits: Memory<M>,
    pub test: Option<Records<M>>,
    /// 0, 1, 2, ...: all models of a group, or all records of a data set; number n is also a count of n.
    pub numbers: Memory<M>,
    pub linears: Memory<M>,
    pub ends: Memory<M>,
    pub bounds: Memory<M>,
    canaries: Memory<M>,
    values: Memory<M>,
    pub workspace: Memory<M>,
    _parts: Memory<M>,
    /// Models for which there is room.
    pub models: usize,
    pub parameters: usize,
    clipping: Clipping,
    step: Step,
}

/// Batches of a group of models on a device, and what they will show.
#[derive(Debug)]
pub struct Dealt<M: Machine> {
    pub deal: Deal,
    pub records: Memory<M>,
    pub counts: Memory<M>,
    pub planted: Memory<M>,
    pub samples: Memory<M>,
    pub trials: Memory<M>,
    pub worlds: Memory<M>,
    pub outputs: Memory<M>,
    pub projections: Memory<M>,
}

impl<M: Machine> Dealt<M> {
    /// Room for nothing yet.
    pub fn new(machine: &Arc<M>) -> Result<Self, String> {
        let none = || Memory::room::<u64>(machine, 1);
        Ok(Dealt {
            deal: Deal::default(),
            records: none()?,
            counts: none()?,
            planted: none()?,
            samples: none()?,
            trials: none()?,
            worlds: none()?,
            outputs: none()?,
            projections: none()?,
        })
    }

    /// Brings a deal to the device.
    pub fn fill(&mut self, plan: &TrainingPlan, deal: Deal) -> Result<(), String> {
        let (models, steps, canaries) =
            (deal.models.len(), plan.setting().steps() as usize, plan.canaries().len());
        let trials: Vec<u64> = deal.models.iter().map(|&(trial, _)| trial).collect();
        let worlds: Vec<u32> = deal.models.iter().map(|&(_, world)| u32::from(world == World::Out)).collect();
        self.records.refill(&deal.records)?;
        self.counts.refill(&deal.counts)?;
        self.planted.refill(&deal.planted)?;
        self.samples.refill(&deal.samples)?;
        self.trials.refill(&trials)?;
        self.worlds.refill(&worlds)?;
        self.outputs.reserve::<f64>(models * steps * canaries * 2)?;
        self.projections.reserve::<f32>(models * steps * deal.sampled * canaries)?;
        self.deal = deal;
        Ok(())
    }

    /// What the adversary saw in a trained group, while the next one may be trained.
    pub fn harvest(&self, plan: &TrainingPlan, gathered: Gathered) -> Result<Harvest, String> {
        let (models, sampled) = (self.deal.models.len(), self.deal.sampled);
        let (steps, canaries) = (plan.setting().steps() as usize, plan.canaries().len());
        let mut values = vec![0.0_f64; models * steps * canaries * 2];
        self.outputs.read(&mut values)?;
        let mut seen = vec![0.0_f32; models * steps * sampled * canaries];
        self.projections.read(&mut seen)?;
        Ok(Harvest { hits: gathered.hits, values, seen, parameters: gathered.parameters, sampled })
    }
}

impl<M: Machine> Session<M> {
    /// Compiles the kernels and uploads the data.
    pub fn new(
        mut machine: M,
        plan: &TrainingPlan,
        precision: Precision,
        tuning: Tuning,
    ) -> Result<Self, String> {
        let (setting, model, dataset) = (plan.setting(), plan.model(), plan.dataset());
        let stages = stages(model);
        let records = setting.dataset_size() as usize;
        let batch = setting.batch_size as usize;
        let most_bytes = machine.most_shared_bytes()?;
        let program = Program::of(plan, precision, tuning, most_bytes);
        machine.load(&program)?;
        let machine = Arc::new(machine);
        let spread =
            if setting.scheme.has_fixed_batch_sizes() { 0.0 } else { 8.0 * (batch as f64).sqrt() + 16.0 };
        let most = if plan.adversary().keeps_naturals() { batch + spread as usize } else { 0 };
        let layout = Layout::new(&stages, &program.stages, model.parameters, most.max(FEWEST_RECORDS));
        check_sizes(&layout, &stages, records)?;
        let train = Records::new(&machine, &dataset.train, records)?;
        let test = dataset.test.as_ref().map(|test| Records::new(&machine, test, test.len())).transpose()?;

        let perceptron =
            Perceptron::new(plan, &stages, precision, most_bytes).filter(|_| program.fused.is_some());
        let bits = perceptron.map_or_else(Vec::new, |kernel| kernel.bits(&dataset.train, records));
        let bits = Memory::of(&machine, &bits)?;

        let steps = setting.steps() as usize;
        let canaries = plan.canaries().len();
        let blocks = model.parameters.div_ceil(PARAMETERS_PER_BLOCK);
        let bytes_per_model =
            4 * layout.stride + 16 * canaries * blocks + steps * (4 * most + 20 * canaries + 4) * 2;
        let fitting = (MOST_OF_THE_MEMORY * machine.free_bytes()? as f64 / bytes_per_model as f64) as usize;
        if fitting < 2 {
            return Err(format!(
                "the device's memory does not hold two models of {} bytes with batches of {batch}; use the device cpu",
                4 * layout.stride
            ));
        }
        let per_step = plan.operations_per_model() / steps as f64;
        let busy = ((OPERATIONS_PER_STEP / per_step) as usize).clamp(24, MOST_MODELS);
        // Both worlds of a trial are in the same group.
        let models = tuning.models.unwrap_or(busy).min(fitting).max(2) / 2 * 2;

        let layers: Vec<_> = stages.iter().filter_map(Stage::weighted).collect();
        let ends: Vec<u32> = layers.iter().map(|l| (l.start + (l.inputs() + 1) * l.filters) as u32).collect();
        let bounds: Vec<f32> = layers.iter().map(|l| (1.0 / (l.inputs() as f64).sqrt()) as f32).collect();
        let (ranges, values) = canary_tables(plan);
        let numbers: Vec<u32> =
            (0..=models.max(records).max(dataset.test.as_ref().map_or(0, Examples::len)) as u32).collect();
        let linears = layout.linears(&stages);
        let last = *layout.stages.last().ok_or("a model without layers")?;
        let [low, high] = plan.stream().philox_key().ok_or("not a graphics processor's stream")?;
        let (canary_memory, value_memory) = (Memory::of(&machine, &ranges)?, Memory::of(&machine, &values)?);
        let (linear_memory, parts) =
            (Memory::of(&machine, &linears)?, Memory::room::<f64>(&machine, models * canaries * 2 * blocks)?);
        let clipping = Clipping {
            linears: linear_memory.address(),
            outputs: last.output,
            delta: last.delta,
            linear_count: linears.len() as u32,
            classes: model.classes() as u32,
            loss: u32::from(model.loss == Loss::SquaredError),
            clip_norm: plan.recipe().clip_norm as f32,
        };
        let step = Step {
            canaries: canary_memory.address(),
            values: value_memory.address(),
            planted: 0,
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
            numbers: Memory::of(&machine, &numbers)?,
            ends: Memory::of(&machine, &ends)?,
            bounds: Memory::of(&machine, &bounds)?,
            workspace: Memory::room::<f32>(&machine, models * layout.stride)?,
            linears: linear_memory,
            canaries: canary_memory,
            values: value_memory,
            _parts: parts,
            machine,
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

    /// Makes room for batches of `records` records, if there is less.
    pub fn make_room(&mut self, records: usize) -> Result<(), String> {
        if records <= self.layout.records {
            return Ok(());
        }
        let layout = Layout::new(&self.stages, &self.program.stages, self.parameters, records);
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

    /// All models of a group, or those of a list of slots.
    pub fn models(&self, slots: Option<&Memory<M>>) -> Models {
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

    /// What a step is told, with the group's addresses.
    pub fn step(&self, dealt: &Dealt<M>, step: usize, noise_stride: u64) -> Step {
        let canaries = self.step.canary_count as usize;
        Step {
            planted: dealt.planted.address() + (4 * step * canaries) as u64,
            outputs: dealt.outputs.address() + (8 * step * canaries * 2) as u64,
            trials: dealt.trials.address(),
            worlds: dealt.worlds.address(),
            first_draw: step as u64 * noise_stride,
            canaries: self.canaries.address(),
            values: self.values.address(),
            ..self.step
        }
    }

    /// Where a debiasing adversary's projections go, from record `first` of a step's sample on.
    pub fn debiasing(&self, dealt: &Dealt<M>, step: usize, steps: usize, first: usize) -> Debiasing {
        let canaries = self.step.canary_count as usize;
        let sampled = dealt.deal.sampled;
        Debiasing {
            linears: self.linears.address(),
            projections: dealt.projections.address() + (4 * (step * sampled + first) * canaries) as u64,
            projection_stride: (steps * sampled * canaries) as u64,
            linear_count: self.clipping.linear_count,
            unused: 0,
        }
    }
}

/// The canaries' ranges, and all their values one after the other.
fn canary_tables(plan: &TrainingPlan) -> (Vec<Canary>, Vec<f32>) {
    let (mut ranges, mut values) = (vec![], vec![]);
    for canary in plan.canaries() {
        ranges.push(Canary {
            start: canary.start as u32,
            length: canary.values.len() as u32,
            at: values.len() as u32,
            unused: 0,
        });
        values.extend(&canary.values);
    }
    (ranges, values)
}

/// Kernels count places in 32 bits.
fn check_sizes(layout: &Layout, stages: &[Stage], records: usize) -> Result<(), String> {
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
    Err(format!(
        "batches of {} records with {widest} values each, or a data set of {records} of them, are more than the device's kernels \
         can address; use the device cpu",
        layout.records
    ))
}
