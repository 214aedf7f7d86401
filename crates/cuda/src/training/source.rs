//! The kernels of one model: the sources of `kernels/training`, and one line for each kernel that names its shapes as constants.

use super::stages::{Activation, Stage, Weighted, Work};
use super::tiling::{Product, Tiling, Tuning};
use std::fmt::Write;

/// What holds for every model, each source needing those before it. The second is the device's own: whoever runs kernels on a
/// processor replaces it.
pub const SOURCES: [&str; 4] = [
    include_str!("../../kernels/generator.cu"),
    include_str!("../../kernels/gaussian.cu"),
    include_str!("../../kernels/training/models.cu"),
    include_str!("../../kernels/training/clipping.cu"),
];
/// The instructions of the device's matrix cores.
pub const MATRIX_CORES: &str = include_str!("../../kernels/training/matrix_cores.cu");
/// What needs them, and the rest.
pub const MORE_SOURCES: [&str; 5] = [
    include_str!("../../kernels/training/product.cu"),
    include_str!("../../kernels/training/layers.cu"),
    include_str!("../../kernels/training/pooling.cu"),
    include_str!("../../kernels/training/step.cu"),
    include_str!("../../kernels/training/debiasing.cu"),
];
/// Kernels that are the same for every model.
pub const COMMON_KERNELS: [&str; 7] =
    ["loss", "clip", "count_hits", "make_step", "collect", "initialise", "project_records"];

/// How products are rounded for the matrix cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Factors in two parts of eleven bits: errors are those of f32.
    F32,
    /// Factors rounded to eleven bits: three times as fast, errors of one part in a thousand or two.
    Tf32,
}

/// A kernel, and what a launch of it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the sources.
    pub name: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
}

/// The kernels of a stage; those that it does not need are left out.
#[derive(Debug, Clone, Default)]
pub struct StageKernels {
    /// From inputs to outputs, and its tiles.
    pub forward: Option<(usize, Option<Tiling>)>,
    /// From deltas of the outputs to deltas of the inputs.
    pub backward: Option<(usize, Option<Tiling>)>,
    /// Gradients of the weights.
    pub gradient: Option<(usize, Tiling)>,
}

/// All kernels of a model; kernels are named by their index.
#[derive(Debug, Clone)]
pub struct Program {
    /// One line for each kernel of a stage, to come after all sources.
    pub instances: String,
    /// The kernels: those that all models share, then those of stages.
    pub kernels: Vec<Kernel>,
    /// Which kernels a stage has.
    pub stages: Vec<StageKernels>,
}

impl Program {
    /// The kernels for batches of about `records` records. `exact_records` says that records have no more than eleven bits.
    pub fn new(
        stages: &[Stage],
        records: usize,
        precision: Precision,
        exact_records: bool,
        tuning: Tuning,
    ) -> Self {
        let kernels =
            COMMON_KERNELS.map(|name| Kernel { name: name.into(), threads: 256, shared_bytes: 0 }).to_vec();
        let mut program = Program { instances: String::new(), kernels, stages: vec![] };
        let first_weighted = stages.iter().position(|stage| stage.weighted().is_some()).unwrap_or(0);
        for (number, stage) in stages.iter().enumerate() {
            let before = if number == 0 { Activation::Identity } else { stages[number - 1].activation };
            let goes_back = number > first_weighted;
            let built = match &stage.work {
                Work::Pooling(pooling) => {
                    let shape = format!(
                        "Squares<{}, {}, {}, {}, {}>",
                        pooling.height, pooling.width, pooling.channels, pooling.size, pooling.largest
                    );
                    let forward = program.pooling("pool", number, &shape, stage.activation);
                    let backward = goes_back.then(|| program.pooling("unpool", number, &shape, before));
                    StageKernels {
                        forward: Some((forward, None)),
                        backward: backward.map(|kernel| (kernel, None)),
                        gradient: None,
                    }
                }
                Work::Weighted(layer) => {
                    let mut build = Build { program: &mut program, layer, number, records, tuning };
                    let from_records = number == 0;
                    let terms = match precision {
                        Precision::Tf32 => 1,
                        Precision::F32 if from_records && exact_records => 2,
                        Precision::F32 => 3,
                    };
                    let forward = build.product(Product::Forward, terms, |product| {
                        format!("Forward<{product}, {}, {from_records}>", stage.activation.name())
                    });
                    let backward = goes_back.then(|| {
                        build.product(Product::Backward, terms, |product| {
                            format!("Backward<{product}, {}>", before.name())
                        })
                    });
                    let summed = layer.is_linear;
                    let gradient = build.product(Product::Gradient, terms, |product| {
                        format!("Gradient<{product}, {summed}, {from_records}>")
                    });
                    StageKernels {
                        forward: Some((forward.0, Some(forward.1))),
                        backward: backward.map(|(kernel, tiling)| (kernel, Some(tiling))),
                        gradient: Some(gradient),
                    }
                }
            };
            program.stages.push(built);
        }
        program
    }

    /// Everything that the device's compiler is given.
    pub fn source(&self) -> String {
        let sources = SOURCES.into_iter().chain([MATRIX_CORES]).chain(MORE_SOURCES);
        sources.chain([self.instances.as_str()]).collect::<Vec<_>>().join("\n")
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
        self.kernels.push(Kernel { name, threads: threads as u32, shared_bytes: shared_bytes as u32 });
        self.kernels.len() - 1
    }
}

/// A layer's products being written down.
struct Build<'a> {
    program: &'a mut Program,
    layer: &'a Weighted,
    number: usize,
    records: usize,
    tuning: Tuning,
}

impl Build<'_> {
    /// `problem` is given the shape, the tiles and the widths of copies.
    fn product(
        &mut self,
        product: Product,
        terms: usize,
        problem: impl Fn(&str) -> String,
    ) -> (usize, Tiling) {
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
        (kernel, tiling)
    }
}
