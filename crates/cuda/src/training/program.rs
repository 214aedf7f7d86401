//! The kernels of one model: shared sources, and one line for each kernel with the shapes as constants.
//!
//! # Why are kernels written out for each model?
//! NVRTC compiles at run time, so shapes can be template arguments. Divisions by them become multiplications, and loops are
//! unrolled. Tile sizes are chosen to waste the least work (`tiling.rs`).
//!
//! # How does f32 run on matrix cores?
//! Matrix cores round factors to eleven bits. For `f32`, each factor is split into two such parts and three products are added.
//! The remaining errors are those of f32 itself. Two products are enough if records have at most eleven bits. `tf32` uses one
//! product, and its stores are kept apart from those of `f32`.

use super::direct::DirectConvolution;
use super::perceptron::Perceptron;
use super::stages::{Activation, Operation, Pooling, Stage, WeightedLayer, stages};
use super::tiling::{Product, Tiling, Tuning};
use misdeal_core::Precision;
use misdeal_train::TrainingPlan;
use misdeal_train::data::Examples;
use std::fmt::Write;

/// Sources for every model; each depends only on earlier ones.
pub const SOURCES: [&str; 4] = [
    include_str!("../../kernels/generator.cu"),
    include_str!("../../kernels/gaussian.cu"),
    include_str!("../../kernels/training/models.cu"),
    include_str!("../../kernels/training/clipping.cu"),
];
/// The instructions of matrix cores; in tests, an emulator on the CPU replaces them.
pub const MATRIX_CORES: &str = include_str!("../../kernels/training/matrix_cores.cu");
/// Sources that come after [`MATRIX_CORES`].
pub const MORE_SOURCES: [&str; 8] = [
    include_str!("../../kernels/training/product.cu"),
    include_str!("../../kernels/training/layers.cu"),
    include_str!("../../kernels/training/pooling.cu"),
    include_str!("../../kernels/training/direct.cu"),
    include_str!("../../kernels/training/step.cu"),
    include_str!("../../kernels/training/scoring.cu"),
    include_str!("../../kernels/training/debiasing.cu"),
    include_str!("../../kernels/training/perceptron.cu"),
];
/// Kernels that are the same for every model.
pub const COMMON_KERNELS: [&str; 8] =
    ["loss", "clip", "count_hits", "make_step", "collect", "initialise", "project_records", "score_canaries"];

/// A kernel's name and the size of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelSpec {
    /// The kernel's name in the sources.
    pub name: String,
    /// Number of threads in a block.
    pub threads: u32,
    /// Bytes of shared memory in a block.
    pub shared_bytes: u32,
}

/// How a kernel's work is split over blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkSplit {
    /// Tiles of a matrix product.
    Tiles(Tiling),
    /// A number of records for each block.
    Records(usize),
    /// 256 values for each block.
    Values,
}

impl WorkSplit {
    /// Number of blocks for each record's gradient.
    pub fn parts(&self) -> usize {
        if let WorkSplit::Tiles(tiling) = self { tiling.all_tiles() } else { 1 }
    }
}

/// The kernels of a stage, each with its split; `None` if no kernel is needed.
#[derive(Debug, Clone, Default)]
pub struct StageKernels {
    /// The kernel from inputs to outputs.
    pub forward: Option<(usize, WorkSplit)>,
    /// The kernel from deltas of the outputs to deltas of the inputs.
    pub backward: Option<(usize, WorkSplit)>,
    /// The kernel for gradients of the weights.
    pub gradient: Option<(usize, WorkSplit)>,
}

/// All kernels of a model; a kernel's number is its index in `kernels`.
#[derive(Debug, Clone)]
pub struct Program {
    /// One line of source for each kernel of a stage, placed after all sources.
    pub instances: String,
    /// The common kernels, followed by the stages' kernels.
    pub kernels: Vec<KernelSpec>,
    /// The kernels of each stage.
    pub stages: Vec<StageKernels>,
    /// The kernel that trains a whole model in one block, if the model fits.
    pub fused: Option<usize>,
}

impl Program {
    /// Makes the kernels of a plan. A block may use `most_shared_bytes` of shared memory.
    pub fn new(plan: &TrainingPlan, precision: Precision, tuning: Tuning, most_shared_bytes: usize) -> Self {
        let stages = stages(plan.model());
        let setting = plan.setting();
        let exact = has_few_bits(&plan.dataset().train, setting.dataset_size() as usize);
        let mut program = Self::of_stages(&stages, setting.batch_size as usize, precision, exact, tuning);
        let perceptron = Perceptron::new(plan, &stages, precision, most_shared_bytes);
        if let Some(perceptron) = perceptron.filter(|_| tuning.fused) {
            program.add_fused(&perceptron);
        }
        program
    }

    /// Makes the kernels for batches of about `records` records.
    ///
    /// `exact_records` means that no feature has more than eleven significant bits.
    fn of_stages(
        stages: &[Stage],
        records: usize,
        precision: Precision,
        exact_records: bool,
        tuning: Tuning,
    ) -> Self {
        let kernels = COMMON_KERNELS
            .map(|name| KernelSpec { name: name.into(), threads: 256, shared_bytes: 0 })
            .to_vec();
        let mut program = Program { instances: String::new(), kernels, stages: vec![], fused: None };
        let first_weighted = stages.iter().position(|stage| stage.weighted().is_some()).unwrap_or(0);
        for (number, stage) in stages.iter().enumerate() {
            let before = if number == 0 { Activation::Identity } else { stages[number - 1].activation };
            let goes_back = number > first_weighted;
            let built = match &stage.operation {
                Operation::Pooling(_)
                    if number > 0 && pooling_after(stages, number - 1, tuning).is_some() =>
                {
                    StageKernels::default()
                }
                Operation::Pooling(pooling) => {
                    let shape = squares(pooling);
                    let forward = program.pooling("pool", number, &shape, stage.activation);
                    let backward = goes_back.then(|| program.pooling("unpool", number, &shape, before));
                    StageKernels {
                        forward: Some((forward, WorkSplit::Values)),
                        backward: backward.map(|kernel| (kernel, WorkSplit::Values)),
                        gradient: None,
                    }
                }
                Operation::Weighted(layer) => {
                    let mut build = LayerBuilder { program: &mut program, layer, number, records, tuning };
                    let from_records = number == 0;
                    let terms = match precision {
                        Precision::Tf32 => 1,
                        Precision::F32 if from_records && exact_records => 2,
                        Precision::F32 => 3,
                    };
                    let (activation, before) = (stage.activation.name(), before.name());
                    let pooling = pooling_after(stages, number, tuning);
                    let (pool, pooled) =
                        pooling.unwrap_or_else(|| ("NoSquares".into(), Activation::Identity));
                    let pooled = pooled.name();
                    let forward = build
                        .direct("forward", DirectConvolution::forward(layer), |shape| {
                            format!("direct<{shape}, false, {activation}, {before}, {from_records}, {pool}, {pooled}>")
                        })
                        .unwrap_or_else(|| {
                            build.product(Product::Forward, terms, |product| {
                                format!("Forward<{product}, {activation}, {from_records}>")
                            })
                        });
                    let backward = goes_back.then(|| {
                        build
                            .direct("backward", DirectConvolution::backward(layer), |shape| {
                                format!(
                                    "direct<{shape}, true, {activation}, {before}, false, {pool}, {pooled}>"
                                )
                            })
                            .unwrap_or_else(|| {
                                build.product(Product::Backward, terms, |product| {
                                    format!("Backward<{product}, {before}>")
                                })
                            })
                    });
                    let summed = layer.is_linear;
                    let gradient = build
                        .direct("gradient", DirectConvolution::gradient(layer), |shape| {
                            format!("correlate<{shape}, {from_records}, {activation}, {pool}>")
                        })
                        .unwrap_or_else(|| {
                            build.product(Product::Gradient, terms, |product| {
                                format!("Gradient<{product}, {summed}, {from_records}>")
                            })
                        });
                    StageKernels { forward: Some(forward), backward, gradient: Some(gradient) }
                }
            };
            program.stages.push(built);
        }
        program
    }

    /// The complete source.
    pub fn source(&self) -> String {
        let sources = SOURCES.into_iter().chain([MATRIX_CORES]).chain(MORE_SOURCES);
        sources.chain([self.instances.as_str()]).collect::<Vec<_>>().join("\n")
    }

    /// Adds the kernel that trains a whole model in one block.
    fn add_fused(&mut self, perceptron: &Perceptron) {
        let Perceptron { name, threads, shared_bytes, .. } = perceptron;
        let _ = writeln!(
            self.instances,
            "extern \"C\" __global__ void __launch_bounds__({threads}) perceptron(Models models, Batch batch, Step step, Run run) \
             {{ train_perceptron<{name}>(models, batch, step, run); }}"
        );
        let (threads, shared_bytes) = (*threads as u32, *shared_bytes as u32);
        self.kernels.push(KernelSpec { name: "perceptron".into(), threads, shared_bytes });
        self.fused = Some(self.kernels.len() - 1);
    }

    fn pooling(&mut self, what: &str, number: usize, shape: &str, activation: Activation) -> usize {
        let body = format!("{what}<{shape}, {}>(models, batch, stage)", activation.name());
        self.instance(format!("{what}_{number}"), 256, 0, &body)
    }

    fn instance(&mut self, name: String, threads: usize, shared_bytes: usize, body: &str) -> usize {
        let _ = writeln!(
            self.instances,
            "extern \"C\" __global__ void __launch_bounds__({threads}) {name}(Models models, Batch batch, Stage stage) {{ {body}; }}"
        );
        self.kernels.push(KernelSpec { name, threads: threads as u32, shared_bytes: shared_bytes as u32 });
        self.kernels.len() - 1
    }
}

fn squares(pooling: &Pooling) -> String {
    let Pooling { height, width, channels, size, largest } = pooling;
    format!("Squares<{height}, {width}, {channels}, {size}, {largest}>")
}

/// The pooling that the kernels of stage `number` also compute, with its activation.
///
/// They do so if all three kernels of the layer are in `direct.cu`.
fn pooling_after(stages: &[Stage], number: usize, tuning: Tuning) -> Option<(String, Activation)> {
    let layer = stages[number].convolution().filter(|_| tuning.direct && tuning.pools)?;
    let are_direct = [
        DirectConvolution::forward(layer),
        DirectConvolution::backward(layer),
        DirectConvolution::gradient(layer),
    ];
    let next = stages.get(number + 1).filter(|_| are_direct.iter().all(Option::is_some))?;
    let Operation::Pooling(pooling) = &next.operation else { return None };
    Some((squares(pooling), next.activation))
}

/// Whether every feature has at most eleven significant bits, the precision of a matrix core's factor.
fn has_few_bits(examples: &Examples, count: usize) -> bool {
    let features = &examples.features[..count * examples.shape.features()];
    features.iter().all(|feature| feature.to_bits().trailing_zeros() >= 13)
}

/// Adds the kernels of one layer to a program.
struct LayerBuilder<'a> {
    program: &'a mut Program,
    layer: &'a WeightedLayer,
    number: usize,
    records: usize,
    tuning: Tuning,
}

impl LayerBuilder<'_> {
    /// Adds a kernel of `direct.cu`, if the layer has one. `kernel` returns its name for a shape.
    fn direct(
        &mut self,
        name: &str,
        direct: Option<DirectConvolution>,
        kernel: impl Fn(&str) -> String,
    ) -> Option<(usize, WorkSplit)> {
        let direct = direct.filter(|_| self.tuning.direct)?;
        let body = format!("{}(models, batch, stage)", kernel(&direct.name));
        let name = format!("{name}_{}", self.number);
        let kernel = self.program.instance(name, direct.threads, direct.shared_bytes, &body);
        Some((kernel, WorkSplit::Records(direct.records)))
    }

    /// Adds a kernel of `product.cu`. `problem` returns its name for shape, tiles and widths of copies.
    fn product(
        &mut self,
        product: Product,
        terms: usize,
        problem: impl Fn(&str) -> String,
    ) -> (usize, WorkSplit) {
        let layer = self.layer;
        let shape = format!(
            "Shape<{}, {}, {}, {}, {}, {}, {}, {}>",
            layer.height,
            layer.width,
            layer.channels,
            layer.filters,
            layer.size,
            layer.padding,
            layer.row_channels,
            layer.row_step
        );
        let width = |fits: bool| if fits { 4 } else { 1 };
        let (inputs, outputs) = (layer.channels.is_multiple_of(4), layer.filters.is_multiple_of(4));
        let weights = outputs && layer.start.is_multiple_of(4);
        let (name, left, right) = match product {
            Product::Forward => ("forward", width(inputs), width(weights)),
            Product::Backward => ("backward", width(outputs), width(weights)),
            Product::Gradient => ("gradient", width(inputs), width(outputs)),
        };
        let tiling = Tiling::new(product, layer, self.records, self.tuning);
        let problem = problem(&format!("{shape}, {}, {left}, {right}", tiling.name(terms)));
        let kernel = self.program.instance(
            format!("{name}_{}", self.number),
            tiling.threads(),
            tiling.shared_bytes(),
            &format!("product<{problem}>(models, batch, stage)"),
        );
        (kernel, WorkSplit::Tiles(tiling))
    }
}
