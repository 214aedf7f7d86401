//! The layers before the first linear one, sixteen records side by side.

use crate::kernels::{
    Activate, Activation, ClippedSum, Convolution, ConvolutionGradient, Deactivate, Pool, Unpool, Window,
};
use crate::model::{Layer, LayerKind, Model, Weights};
use crate::simd::{Group, InstructionSet, LANES, floats, floats_mut};

/// A convolution or a pooling, and the activation after it.
#[derive(Debug, Clone)]
struct Stage {
    layer: Layer,
    activation: Option<Activation>,
    output: Vec<Group>,
    deltas: Vec<Group>,
    convolution: Option<ConvolutionStage>,
}

/// What a convolution needs beyond its output.
#[derive(Debug, Clone)]
struct ConvolutionStage {
    weights: Weights,
    window: Window,
    /// The input with columns of zeros on either side; empty where there is no padding.
    padded: Vec<Group>,
    /// The deltas, padded for the way back; and the filters, turned around. Empty in the first stage.
    padded_deltas: Vec<Group>,
    turned: Vec<f32>,
    /// Each record's gradient, and the clipped sums.
    gradients: Vec<Group>,
    lanes: Vec<Group>,
}

/// The image part of a model; it may be empty.
#[derive(Debug, Clone)]
pub struct ImagePart {
    set: InstructionSet,
    input: Vec<Group>,
    stages: Vec<Stage>,
}

/// The activation that a layer is.
pub fn activation(kind: LayerKind) -> Option<Activation> {
    match kind {
        LayerKind::Tanh => Some(Activation::Tanh),
        LayerKind::Relu => Some(Activation::Relu),
        _ => None,
    }
}

impl ConvolutionStage {
    fn new(layer: &Layer, weights: Weights, size: usize, padding: usize, is_first: bool) -> Self {
        let (input, output) = (layer.input, layer.output);
        let window = Window {
            channels: input.channels,
            height: input.height,
            stored_width: input.width + 2 * padding,
            size,
            padding,
        };
        let back = output.channels * output.height * (output.width + 2 * (size - 1 - padding));
        ConvolutionStage {
            weights,
            window,
            padded: vec![Group::ZERO; if padding > 0 { window.pixels() } else { 0 }],
            padded_deltas: vec![Group::ZERO; if is_first { 0 } else { back }],
            turned: vec![0.0; if is_first { 0 } else { weights.inputs * weights.outputs }],
            gradients: vec![Group::ZERO; weights.len()],
            lanes: vec![Group::ZERO; weights.len()],
        }
    }

    /// The window of the way back: from the deltas, padded, to what the input must change by.
    fn back(&self, layer: &Layer) -> Window {
        let padding = self.window.size - 1 - self.window.padding;
        Window {
            channels: layer.output.channels,
            height: layer.output.height,
            stored_width: layer.output.width + 2 * padding,
            size: self.window.size,
            padding,
        }
    }
}

/// Copies an image's rows into wider ones; the columns on either side stay as they are.
fn pad(image: &[Group], width: usize, padding: usize, padded: &mut [Group]) {
    for (row, wide) in image.chunks_exact(width).zip(padded.chunks_exact_mut(width + 2 * padding)) {
        wide[padding..padding + width].copy_from_slice(row);
    }
}

impl ImagePart {
    /// Room for the layers of `model` before its first linear one.
    pub fn new(model: &Model, set: InstructionSet) -> Self {
        let mut stages: Vec<Stage> = vec![];
        for layer in model.layers.iter().take_while(|layer| !matches!(layer.kind, LayerKind::Linear { .. })) {
            if let (Some(activation), Some(stage)) = (activation(layer.kind), stages.last_mut()) {
                stage.activation = Some(activation);
                continue;
            }
            let convolution = match (layer.kind, layer.weights) {
                (LayerKind::Convolution { size, padding, .. }, Some(weights)) => {
                    Some(ConvolutionStage::new(layer, weights, size, padding, stages.is_empty()))
                }
                _ => None,
            };
            let values = vec![Group::ZERO; layer.output.features()];
            stages.push(Stage {
                layer: *layer,
                activation: None,
                deltas: values.clone(),
                output: values,
                convolution,
            });
        }
        let features = if stages.is_empty() { 0 } else { model.input().features() };
        ImagePart { set, input: vec![Group::ZERO; features], stages }
    }

    /// Whether the model has no such layers.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let groups = |stage: &Stage| {
            let own = stage.output.len() + stage.deltas.len();
            let more = stage.convolution.as_ref().map_or(0, |c| {
                c.padded.len()
                    + c.padded_deltas.len()
                    + c.gradients.len()
                    + c.lanes.len()
                    + c.turned.len() / LANES
            });
            own + more
        };
        (self.input.len() + self.stages.iter().map(groups).sum::<usize>()) * size_of::<Group>()
    }

    /// Turns the filters around, once a step.
    pub fn prepare(&mut self, parameters: &[f32]) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            if convolution.turned.is_empty() {
                continue;
            }
            let (weights, Window { channels, size, .. }) = (convolution.weights, convolution.window);
            let taps = size * size;
            for (row, filters) in
                parameters[weights.range()].chunks_exact(weights.outputs).take(weights.inputs).enumerate()
            {
                let (channel, tap) = (row / taps, row % taps);
                for (filter, &weight) in filters.iter().enumerate() {
                    convolution.turned[(filter * taps + taps - 1 - tap) * channels + channel] = weight;
                }
            }
        }
    }

    /// Takes up to sixteen records through all layers; `rows` receives the results, one record a row.
    pub fn forward(&mut self, parameters: &[f32], records: &[&[f32]], rows: &mut [f32]) {
        for (lane, record) in records.iter().enumerate() {
            self.input.iter_mut().zip(*record).for_each(|(pixel, &x)| pixel.0[lane] = x);
        }
        for lane in records.len()..LANES {
            self.input.iter_mut().for_each(|pixel| pixel.0[lane] = 0.0);
        }
        let mut input = &self.input;
        for stage in &mut self.stages {
            let Stage { layer, activation, output, convolution, .. } = stage;
            match convolution {
                Some(convolution) => {
                    if !convolution.padded.is_empty() {
                        pad(input, layer.input.width, convolution.window.padding, &mut convolution.padded);
                    }
                    let weights = convolution.weights;
                    self.set.run(Convolution {
                        window: convolution.window,
                        filters: weights.outputs,
                        weights: &parameters[weights.range()],
                        biases: Some(&parameters[weights.biases()]),
                        image: if convolution.padded.is_empty() { input } else { &convolution.padded },
                        result: output,
                    });
                }
                None => self.set.run(Pool {
                    largest: matches!(layer.kind, LayerKind::MaxPooling { .. }),
                    size: pool_size(layer.kind),
                    sides: (layer.input.height, layer.input.width),
                    image: input,
                    pooled: output,
                }),
            }
            if let Some(activation) = *activation {
                self.set.run(Activate(activation, floats_mut(output)));
            }
            input = output;
        }
        let features = input.len();
        for (lane, row) in rows.chunks_exact_mut(features).take(records.len()).enumerate() {
            row.iter_mut().zip(input).for_each(|(x, pixel)| *x = pixel.0[lane]);
        }
    }

    /// Takes deltas of the results, one record a row, back through all layers; every convolution then holds each record's
    /// gradient. Adds the squared norms to `squares`.
    pub fn backward(&mut self, rows: &[f32], records: usize, squares: &mut Group) {
        let Some(last) = self.stages.last_mut() else { return };
        let features = last.deltas.len();
        for lane in 0..LANES {
            if lane < records {
                let row = &rows[lane * features..][..features];
                last.deltas.iter_mut().zip(row).for_each(|(delta, &x)| delta.0[lane] = x);
            } else {
                last.deltas.iter_mut().for_each(|delta| delta.0[lane] = 0.0);
            }
        }
        for at in (0..self.stages.len()).rev() {
            let (before, rest) = self.stages.split_at_mut(at);
            let stage = &mut rest[0];
            if let Some(activation) = stage.activation {
                let (values, deltas) = (floats(&stage.output), floats_mut(&mut stage.deltas));
                self.set.run(Deactivate { activation, values, deltas });
            }
            let (input, deltas_before) = match before.last_mut() {
                Some(before) => (&before.output, Some(&mut before.deltas)),
                None => (&self.input, None),
            };
            stage.backward(self.set, input, deltas_before, squares);
        }
    }

    /// Adds each record's gradient times its factor to the clipped sums.
    pub fn insert_clipped(&mut self, factors: Group) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            let (gradients, lanes) = (&convolution.gradients, &mut convolution.lanes);
            self.set.run(ClippedSum::Insert { factors, gradients, lanes });
        }
    }

    /// Adds the clipped sums of all records to `sum`, and begins anew.
    pub fn finish_clipped(&mut self, sum: &mut [f32]) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            let range = convolution.weights.range();
            self.set.run(ClippedSum::Finish { lanes: &mut convolution.lanes, sum: &mut sum[range] });
        }
    }

    /// Adds the inner product of each record's gradient with `direction`, which begins at parameter `start`.
    pub fn project(&self, start: usize, direction: &[f32], projections: &mut [f64; LANES]) {
        for convolution in self.stages.iter().filter_map(|stage| stage.convolution.as_ref()) {
            for (place, gradient) in convolution.weights.range().zip(&convolution.gradients) {
                if let Some(&factor) = place.checked_sub(start).and_then(|place| direction.get(place)) {
                    for (sum, g) in projections.iter_mut().zip(gradient.0) {
                        *sum += f64::from(factor) * f64::from(g);
                    }
                }
            }
        }
    }
}

impl Stage {
    fn backward(
        &mut self,
        set: InstructionSet,
        input: &[Group],
        before: Option<&mut Vec<Group>>,
        squares: &mut Group,
    ) {
        let back = self.convolution.as_ref().map(|convolution| convolution.back(&self.layer));
        let Some((convolution, back)) = self.convolution.as_mut().zip(back) else {
            if let Some(before) = before {
                set.run(Unpool {
                    largest: matches!(self.layer.kind, LayerKind::MaxPooling { .. }),
                    size: pool_size(self.layer.kind),
                    sides: (self.layer.input.height, self.layer.input.width),
                    image: input,
                    deltas: &self.deltas,
                    before,
                });
            }
            return;
        };
        set.run(ConvolutionGradient {
            window: convolution.window,
            filters: convolution.weights.outputs,
            image: if convolution.padded.is_empty() { input } else { &convolution.padded },
            deltas: &self.deltas,
            gradients: &mut convolution.gradients,
            squares,
        });
        if let Some(before) = before {
            pad(&self.deltas, self.layer.output.width, back.padding, &mut convolution.padded_deltas);
            set.run(Convolution {
                window: back,
                filters: self.layer.input.channels,
                weights: &convolution.turned,
                biases: None,
                image: &convolution.padded_deltas,
                result: before,
            });
        }
    }
}

fn pool_size(kind: LayerKind) -> usize {
    match kind {
        LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => size,
        _ => 1,
    }
}
