//! One convolution with its working memory, forward and backward.

use crate::kernels::{Convolution, ConvolutionGradient, Window};
use crate::model::{Layer, LayerWeights};
use crate::simd::{InstructionSet, LANES, LaneVector};

/// The buffers of a convolution, except its output.
#[derive(Debug, Clone)]
pub struct ConvolutionStage {
    /// Its weights.
    pub weights: LayerWeights,
    window: Window,
    back: Window,
    width: usize,
    result_width: usize,
    /// The input with columns of zeros on both sides; empty without padding.
    padded: Vec<LaneVector>,
    /// The padded deltas and the flipped filters, for the backward pass. Both are empty in the first stage.
    padded_deltas: Vec<LaneVector>,
    transposed: Vec<f32>,
    /// Each record's gradient.
    pub gradients: Vec<LaneVector>,
    /// Sums of clipped gradients, still separate for each lane.
    pub lanes: Vec<LaneVector>,
}

impl ConvolutionStage {
    /// Allocates memory for one convolution. The first layer of a model passes no deltas back.
    pub fn new(layer: &Layer, weights: LayerWeights, size: usize, padding: usize, is_first: bool) -> Self {
        let (input, output) = (layer.input, layer.output);
        let window = Window {
            channels: input.channels,
            height: input.height,
            stored_width: input.width + 2 * padding,
            size,
            padding,
        };
        // The window of the backward pass: from the padded deltas to the input's deltas.
        let back_padding = size - 1 - padding;
        let back = Window {
            channels: output.channels,
            height: output.height,
            stored_width: output.width + 2 * back_padding,
            size,
            padding: back_padding,
        };
        ConvolutionStage {
            weights,
            window,
            back,
            width: input.width,
            result_width: output.width,
            padded: vec![LaneVector::ZERO; if padding > 0 { window.pixels() } else { 0 }],
            padded_deltas: vec![LaneVector::ZERO; if is_first { 0 } else { back.pixels() }],
            transposed: vec![0.0; if is_first { 0 } else { weights.inputs * weights.outputs }],
            gradients: vec![LaneVector::ZERO; weights.len()],
            lanes: vec![LaneVector::ZERO; weights.len()],
        }
    }

    /// Size of the buffers, in vectors of sixteen floats.
    pub fn groups(&self) -> usize {
        let images = self.padded.len() + self.padded_deltas.len();
        images + self.gradients.len() + self.lanes.len() + self.transposed.len() / LANES
    }

    /// Flips the filters for the backward pass; called once per step.
    pub fn turn(&mut self, parameters: &[f32]) {
        if self.transposed.is_empty() {
            return;
        }
        let (weights, channels, taps) = (self.weights, self.window.channels, self.window.size.pow(2));
        let rows = parameters[weights.range()].chunks_exact(weights.outputs).take(weights.inputs);
        for (row, filters) in rows.enumerate() {
            let (channel, tap) = (row / taps, row % taps);
            for (filter, &weight) in filters.iter().enumerate() {
                self.transposed[(filter * taps + taps - 1 - tap) * channels + channel] = weight;
            }
        }
    }

    /// The forward pass.
    pub fn forward(
        &mut self,
        set: InstructionSet,
        parameters: &[f32],
        image: &[LaneVector],
        result: &mut [LaneVector],
    ) {
        if !self.padded.is_empty() {
            pad(image, self.width, self.window.padding, &mut self.padded);
        }
        set.run(Convolution {
            window: self.window,
            filters: self.weights.outputs,
            weights: &parameters[self.weights.range()],
            biases: Some(&parameters[self.weights.biases()]),
            image: if self.padded.is_empty() { image } else { &self.padded },
            result,
        });
    }

    /// The backward pass: computes each record's gradient, adds its squared norm to `squares`, and writes the image's deltas to
    /// `before`.
    pub fn backward(
        &mut self,
        set: InstructionSet,
        image: &[LaneVector],
        deltas: &[LaneVector],
        before: Option<&mut Vec<LaneVector>>,
        squares: &mut LaneVector,
    ) {
        set.run(ConvolutionGradient {
            window: self.window,
            filters: self.weights.outputs,
            image: if self.padded.is_empty() { image } else { &self.padded },
            deltas,
            gradients: &mut self.gradients,
            squares,
        });
        if let Some(before) = before {
            pad(deltas, self.result_width, self.back.padding, &mut self.padded_deltas);
            set.run(Convolution {
                window: self.back,
                filters: self.window.channels,
                weights: &self.transposed,
                biases: None,
                image: &self.padded_deltas,
                result: before,
            });
        }
    }
}

/// Copies an image's rows into wider rows; the columns on both sides stay unchanged.
fn pad(image: &[LaneVector], width: usize, padding: usize, padded: &mut [LaneVector]) {
    for (row, wide) in image.chunks_exact(width).zip(padded.chunks_exact_mut(width + 2 * padding)) {
        wide[padding..padding + width].copy_from_slice(row);
    }
}
