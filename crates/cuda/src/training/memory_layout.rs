//! The layout of a model's numbers in device memory.

use super::arguments::{Linear, NOWHERE, Stage as StageArguments};
use super::program::StageKernels;
use super::stages::Stage;

/// Offsets are multiples of this many floats, which is one cache line.
const ALIGNMENT: usize = 32;

/// Offsets in floats from the start of a model's memory, with space for `records` records.
#[derive(Debug, Clone)]
pub struct MemoryLayout {
    pub records: usize,
    pub parameters: usize,
    pub sum: usize,
    pub gradients: usize,
    pub gradient_stride: usize,
    pub squares: usize,
    /// Number of parts in a record's squared norm.
    pub parts: usize,
    pub factors: usize,
    /// Number of floats from one model to the next.
    pub stride: usize,
    /// Number of parameters of all convolutions, which come before the other parameters.
    pub convolution_parameters: usize,
    pub stages: Vec<StageArguments>,
}

impl MemoryLayout {
    pub fn new(stages: &[Stage], kernels: &[StageKernels], parameters: usize, records: usize) -> Self {
        let mut end = 0;
        let mut room = |floats: usize| {
            let start = end;
            end += floats.next_multiple_of(ALIGNMENT);
            start
        };
        let convolutions = stages.iter().filter_map(Stage::convolution);
        let convolution_parameters: usize =
            convolutions.map(|layer| (layer.inputs() + 1) * layer.filters).sum();
        let gradient_stride = convolution_parameters.next_multiple_of(4);
        let mut parts = 0;
        let (of_parameters, sum) = (room(parameters), room(parameters));
        let mut places: Vec<StageArguments> = vec![];
        for (stage, kernels) in stages.iter().zip(kernels) {
            let (output, delta) = (room(records * stage.outputs), room(records * stage.outputs));
            let before = places.last();
            let place = StageArguments {
                input: before.map_or(NOWHERE, |before| before.output),
                output: output as u64,
                delta: delta as u64,
                before: before.map_or(NOWHERE, |before| before.delta),
                pooled: NOWHERE,
                pooled_delta: NOWHERE,
                start: stage.weighted().map_or(0, |layer| layer.start as u32),
                first_part: parts as u32,
            };
            if let (Some(_), Some((_, split))) = (stage.convolution(), &kernels.gradient) {
                parts += split.parts();
            }
            if let Some(before) = places.last_mut() {
                (before.pooled, before.pooled_delta) = (place.output, place.delta);
            }
            places.push(place);
        }
        let (gradients, squares) = (room(records * gradient_stride), room(records * parts));
        let factors = room(records);
        MemoryLayout {
            records,
            parameters: of_parameters,
            sum,
            gradients,
            gradient_stride,
            squares,
            parts,
            factors,
            stride: end,
            convolution_parameters,
            stages: places,
        }
    }

    /// The linear layers, for kernels that loop over all of them.
    pub fn linears(&self, stages: &[Stage]) -> Vec<Linear> {
        let pairs = stages.iter().zip(&self.stages);
        let linear = pairs.filter_map(|(stage, places)| stage.linear().map(|layer| (layer, places)));
        linear
            .map(|(layer, places)| Linear {
                input: places.input,
                delta: places.delta,
                inputs: layer.channels as u32,
                outputs: layer.filters as u32,
                start: layer.start as u32,
                row_channels: layer.row_channels as u32,
                row_step: layer.row_step as u32,
                unused: 0,
            })
            .collect()
    }
}
