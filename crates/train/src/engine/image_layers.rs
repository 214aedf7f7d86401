//! The layers before the first linear layer. Sixteen records are processed in parallel.

use super::convolution::ConvolutionStage;
use crate::kernels::{Activate, Activation, ActivationGradient, ClippedSum, Pooling, PoolingGradient};
use crate::model::{Layer, Model};
use crate::simd::{InstructionSet, LANES, LaneVector, floats, floats_mut};
use misdeal_core::LayerKind;

/// A convolution or pooling, and the activation after it.
#[derive(Debug, Clone)]
struct ImageStage {
    layer: Layer,
    activation: Option<Activation>,
    output: Vec<LaneVector>,
    deltas: Vec<LaneVector>,
    convolution: Option<ConvolutionStage>,
}

/// The layers before the first linear layer; there may be none.
#[derive(Debug, Clone)]
pub struct ImageLayers {
    set: InstructionSet,
    input: Vec<LaneVector>,
    stages: Vec<ImageStage>,
}

/// The activation function of a layer; `None` if the layer is not an activation.
pub fn activation(kind: LayerKind) -> Option<Activation> {
    match kind {
        LayerKind::Tanh => Some(Activation::Tanh),
        LayerKind::Relu => Some(Activation::Relu),
        _ => None,
    }
}

impl ImageLayers {
    /// Allocates memory for the layers of `model` before its first linear layer.
    pub fn new(model: &Model, set: InstructionSet) -> Self {
        let mut stages: Vec<ImageStage> = vec![];
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
            let values = vec![LaneVector::ZERO; layer.output.features()];
            stages.push(ImageStage {
                layer: *layer,
                activation: None,
                deltas: values.clone(),
                output: values,
                convolution,
            });
        }
        let features = if stages.is_empty() { 0 } else { model.input().features() };
        ImageLayers { set, input: vec![LaneVector::ZERO; features], stages }
    }

    /// Whether the model has no layers before its first linear layer.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let groups = |stage: &ImageStage| {
            let own = stage.output.len() + stage.deltas.len();
            let more = stage.convolution.as_ref().map_or(0, ConvolutionStage::groups);
            own + more
        };
        (self.input.len() + self.stages.iter().map(groups).sum::<usize>()) * size_of::<LaneVector>()
    }

    /// Flips the filters; called once per step.
    pub fn prepare(&mut self, parameters: &[f32]) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            convolution.turn(parameters);
        }
    }

    /// The forward pass of up to sixteen records; writes one row of `rows` for each record.
    pub fn forward(&mut self, parameters: &[f32], records: &[&[f32]], rows: &mut [f32]) {
        for (lane, record) in records.iter().enumerate() {
            self.input.iter_mut().zip(*record).for_each(|(pixel, &x)| pixel.0[lane] = x);
        }
        for lane in records.len()..LANES {
            self.input.iter_mut().for_each(|pixel| pixel.0[lane] = 0.0);
        }
        let mut input = &self.input;
        for stage in &mut self.stages {
            let ImageStage { layer, activation, output, convolution, .. } = stage;
            match convolution {
                Some(convolution) => convolution.forward(self.set, parameters, input, output),
                None => self.set.run(Pooling {
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

    /// The backward pass, which starts from deltas with one row for each record. Adds squared gradient norms to `squares`.
    ///
    /// After it, every convolution holds each record's gradient.
    pub fn backward(&mut self, rows: &[f32], records: usize, squares: &mut LaneVector) {
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
                self.set.run(ActivationGradient { activation, values, deltas });
            }
            let (input, deltas_before) = match before.last_mut() {
                Some(before) => (&before.output, Some(&mut before.deltas)),
                None => (&self.input, None),
            };
            stage.backward(self.set, input, deltas_before, squares);
        }
    }

    /// Adds each record's gradient times its clipping factor to the clipped sums.
    pub fn insert_clipped(&mut self, factors: LaneVector) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            let (gradients, lanes) = (&convolution.gradients, &mut convolution.lanes);
            self.set.run(ClippedSum::Insert { factors, gradients, lanes });
        }
    }

    /// Adds the clipped sums of all records to `sum`, and resets them.
    pub fn finish_clipped(&mut self, sum: &mut [f32]) {
        for convolution in self.stages.iter_mut().filter_map(|stage| stage.convolution.as_mut()) {
            let range = convolution.weights.range();
            self.set.run(ClippedSum::Finish { lanes: &mut convolution.lanes, sum: &mut sum[range] });
        }
    }

    /// Adds each record's inner product of gradient and `direction` to `projections`.
    ///
    /// `direction` begins at parameter `start`.
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

impl ImageStage {
    fn backward(
        &mut self,
        set: InstructionSet,
        input: &[LaneVector],
        before: Option<&mut Vec<LaneVector>>,
        squares: &mut LaneVector,
    ) {
        let ImageStage { layer, deltas, convolution, .. } = self;
        match (convolution, before) {
            (Some(convolution), before) => convolution.backward(set, input, deltas, before, squares),
            (None, None) => {}
            (None, Some(before)) => set.run(PoolingGradient {
                largest: matches!(layer.kind, LayerKind::MaxPooling { .. }),
                size: pool_size(layer.kind),
                sides: (layer.input.height, layer.input.width),
                image: input,
                deltas,
                before,
            }),
        }
    }
}

fn pool_size(kind: LayerKind) -> usize {
    match kind {
        LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => size,
        _ => 1,
    }
}
