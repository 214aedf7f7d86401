//! The memory of a training, computed before allocation.

use crate::data::{Dataset, Examples};
use crate::model::Model;
use crate::simd::{LANES, LaneVector};
use misdeal_core::{CanaryKind, Error, LayerKind, Loss, Recipe, Result, Setting};

/// Limit in bytes for a training: data, canaries and the cores' working memory.
pub const MOST_BYTES: u64 = 800_000_000;

/// Allowed numbers of records that a core keeps at a time. Results do not depend on the choice.
const RECORDS_AT_A_TIME: [usize; 4] = [128, 64, 32, LANES];

/// Number of Gaussian numbers drawn at a time.
pub(crate) const NOISE_AT_A_TIME: usize = 1 << 16;

/// How many models are trained at a time, and how many records each core keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Number of models trained at a time.
    pub cores: usize,
    /// Number of records whose inputs and deltas each core keeps.
    pub records: usize,
}

/// Computes the bytes that each part of a training needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryNeeds<'a> {
    model: &'a Model,
    setting: &'a Setting,
    recipe: &'a Recipe,
    data: u64,
}

impl<'a> MemoryNeeds<'a> {
    pub fn new(model: &'a Model, setting: &'a Setting, recipe: &'a Recipe, dataset: &Dataset) -> Self {
        let of = |examples: &Examples| 4 * examples.features.len() as u64 + 2 * examples.labels.len() as u64;
        let data = of(&dataset.train) + dataset.test.as_ref().map_or(0, of);
        MemoryNeeds { model, setting, recipe, data }
    }

    /// Bytes of canaries and target models, which all cores share, and of computing them.
    fn canaries(&self) -> u64 {
        let (parameters, classes) = (self.model.parameters as u64, self.model.classes() as u64);
        let one = match self.recipe.canary {
            CanaryKind::Random => 12 * parameters,
            CanaryKind::Dirac => 64,
            CanaryKind::NullSpace => 64 + 12 * classes,
        };
        let sampled = self.recipe.canary == CanaryKind::NullSpace && self.model.loss == Loss::SquaredError;
        // Gradients of the reference implementation, and two matrices.
        let sample = if sampled { 24 * parameters + 16 * classes * classes } else { 0 };
        let belief = 8 * self.setting.steps_per_epoch + 64;
        sum([sample, times(self.recipe.canaries as u64, one.saturating_add(belief))])
    }

    /// Bytes of a model's outputs, which are kept until they are scored.
    fn outputs(&self) -> u64 {
        let each = if self.recipe.debias { 32 } else { 16 };
        times(self.setting.steps(), 16_u64.saturating_add(times(each, self.recipe.canaries as u64)))
    }

    /// Bytes of one core's parameters, gradients and layers.
    fn layers(&self, records: usize) -> u64 {
        let own = 2 * self.model.parameters + self.model.parameters.min(NOISE_AT_A_TIME);
        sum([4 * own as u64, linear_bytes(self.model, records), image_bytes(self.model)])
    }

    /// Bytes of a core's batches, and of samples for debiasing.
    fn indices(&self) -> u64 {
        let sample = if self.recipe.debias { 4 * self.setting.batch_size } else { 0 };
        let projections = times(8 * sample, 1 + self.recipe.canaries as u64);
        sum([times(24, self.setting.dataset_size()), projections])
    }

    /// Bytes that one core needs.
    pub fn core(&self, records: usize) -> u64 {
        sum([self.outputs(), self.layers(records), self.indices()])
    }

    /// Bytes that all cores share.
    fn shared(&self) -> u64 {
        sum([self.data, self.canaries()])
    }

    /// # Errors
    /// Data and canaries exceed [`MOST_BYTES`].
    pub fn check_shared(&self) -> Result<()> {
        if self.shared() <= MOST_BYTES { Ok(()) } else { Err(self.refusal(0)) }
    }

    /// The most records at a time for which all `cores` fit; else the largest number of cores that fits.
    ///
    /// # Errors
    /// Not even one core fits.
    pub fn parallelism(&self, cores: usize) -> Result<Parallelism> {
        let left = MOST_BYTES.saturating_sub(self.shared());
        let fits = |records: usize| left / self.core(records).max(1);
        let all = RECORDS_AT_A_TIME.into_iter().find(|&records| fits(records) >= cores as u64);
        if let Some(records) = all {
            return Ok(Parallelism { cores, records });
        }
        match fits(LANES) {
            0 => Err(self.refusal(self.core(LANES))),
            cores => Ok(Parallelism { cores: cores as usize, records: LANES }),
        }
    }

    /// The error, which names the part that needs the most memory.
    fn refusal(&self, core: u64) -> Error {
        let needed = sum([self.shared(), core]);
        let allowed = format!("a training within {} MB of memory", MOST_BYTES / 1_000_000);
        let takes = format!("this one takes {} MB", needed.div_ceil(1_000_000));
        let of_core = |bytes: u64| if core == 0 { 0 } else { bytes };
        let parts = [
            ("model", of_core(self.layers(LANES)), "layers with fewer inputs and outputs"),
            ("epochs", of_core(self.outputs()), "fewer epochs, larger batches or fewer canaries"),
            ("dataset_size", sum([self.data, of_core(self.indices())]), "fewer records"),
            ("canaries", self.canaries(), "fewer canaries, or `canary` dirac"),
        ];
        let (field, _, way_out) = parts.into_iter().max_by_key(|(_, bytes, _)| *bytes).unwrap_or(parts[0]);
        let value = match field {
            "model" => format!("{} with {} parameters", self.model.name, self.model.parameters),
            "epochs" => self.setting.epochs.to_string(),
            "dataset_size" => self.setting.dataset_size().to_string(),
            _ => self.recipe.canaries.to_string(),
        };
        Error::bad_value(field, value, allowed, format!("{takes}; take {way_out}"))
    }
}

/// Bytes of the linear layers for `records` records.
fn linear_bytes(model: &Model, records: usize) -> u64 {
    let records = records as u64;
    let first = model.layers.iter().position(|layer| matches!(layer.kind, LayerKind::Linear { .. }));
    let first = first.unwrap_or(0);
    let linear = model.layers[first..].iter().filter_map(|layer| layer.weights);
    let stages = linear.enumerate().map(|(number, weights)| {
        let (inputs, outputs) = (weights.inputs as u64, weights.outputs as u64);
        let transposed = if first > 0 || number > 0 { inputs * outputs } else { 0 };
        let before = if first > 0 && number == 0 { records * inputs } else { 0 };
        before + records * (inputs + outputs) + transposed
    });
    times(4, sum([stages.sum(), 2 * records]))
}

/// Bytes of the layers before the first linear layer.
fn image_bytes(model: &Model) -> u64 {
    let image = model.layers.iter().take_while(|layer| !matches!(layer.kind, LayerKind::Linear { .. }));
    let stages: Vec<_> = image.filter(|layer| !layer.kind.is_activation()).collect();
    let mut groups = if stages.is_empty() { 0 } else { model.input().features() as u64 };
    for (number, layer) in stages.into_iter().enumerate() {
        groups += 2 * layer.output.features() as u64;
        let (LayerKind::Convolution { size, padding, .. }, Some(weights)) = (layer.kind, layer.weights)
        else {
            continue;
        };
        let rows = |shape: crate::data::Shape, padding: usize| {
            (shape.channels * shape.height) as u64 * (shape.width + 2 * padding) as u64
        };
        groups += 2 * weights.len() as u64;
        groups += if padding > 0 { rows(layer.input, padding) } else { 0 };
        if number > 0 {
            groups += rows(layer.output, size - 1 - padding);
            groups += (weights.inputs * weights.outputs).div_ceil(LANES) as u64;
        }
    }
    times(size_of::<LaneVector>() as u64, groups)
}

fn times(a: u64, b: u64) -> u64 {
    a.saturating_mul(b)
}

fn sum<const N: usize>(parts: [u64; N]) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}
