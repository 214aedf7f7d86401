//! A model as kernels compute it: each stage is a layer with the activation after it.
//!
//! # Why are channels innermost?
//! One copy then moves a tap of all channels. Weights keep their order, and kernels compute the row of a weight.

use misdeal_core::LayerKind;
use misdeal_train::Model;
use misdeal_train::data::Shape;

/// The function applied to every output of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    Identity,
    Tanh,
    Relu,
}

impl Activation {
    /// The activation's name in `models.cu`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "IDENTITY",
            Self::Tanh => "TANH",
            Self::Relu => "RELU",
        }
    }
}

/// A layer with weights, as a convolution. A linear layer has images of one pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedLayer {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub filters: usize,
    pub size: usize,
    pub padding: usize,
    /// Input q has its weights in row (q % `row_channels`) `row_step` + q / `row_channels` of the layer's parameters.
    pub row_channels: usize,
    pub row_step: usize,
    /// Index of the layer's first parameter.
    pub start: usize,
    pub is_linear: bool,
}

impl WeightedLayer {
    /// Number of inputs of one output.
    pub fn inputs(&self) -> usize {
        self.size * self.size * self.channels
    }

    /// Number of pixels of the input.
    pub fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Number of pixels of the output.
    pub fn places(&self) -> usize {
        let across = |length: usize| length + 2 * self.padding + 1 - self.size;
        across(self.height) * across(self.width)
    }
}

/// Pooling over squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pooling {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub size: usize,
    pub largest: bool,
}

/// The operation of a stage before its activation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Weighted(WeightedLayer),
    Pooling(Pooling),
}

/// A layer with the activation after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    pub operation: Operation,
    pub activation: Activation,
    /// Number of input values for one record.
    pub inputs: usize,
    /// Number of output values for one record.
    pub outputs: usize,
}

impl Stage {
    /// The stage's layer, if it has weights.
    pub fn weighted(&self) -> Option<&WeightedLayer> {
        match &self.operation {
            Operation::Weighted(weighted) => Some(weighted),
            Operation::Pooling(_) => None,
        }
    }

    /// The stage's layer, if it is a convolution.
    pub fn convolution(&self) -> Option<&WeightedLayer> {
        self.weighted().filter(|weighted| !weighted.is_linear)
    }

    /// The stage's layer, if it is linear.
    pub fn linear(&self) -> Option<&WeightedLayer> {
        self.weighted().filter(|weighted| weighted.is_linear)
    }
}

/// The stages of a model, in order.
pub fn stages(model: &Model) -> Vec<Stage> {
    let mut stages: Vec<Stage> = vec![];
    for layer in &model.layers {
        let Shape { channels, height, width } = layer.input;
        let start = layer.weights.map_or(0, |weights| weights.start);
        let operation = match layer.kind {
            LayerKind::Tanh | LayerKind::Relu => {
                let activation =
                    if layer.kind == LayerKind::Tanh { Activation::Tanh } else { Activation::Relu };
                if let Some(before) = stages.last_mut() {
                    before.activation = activation;
                }
                continue;
            }
            LayerKind::Linear { .. } => Operation::Weighted(WeightedLayer {
                height: 1,
                width: 1,
                channels: layer.input.features(),
                filters: layer.output.features(),
                size: 1,
                padding: 0,
                // A record that is not an image is one row of pixels, and its channels are already innermost.
                row_channels: channels,
                row_step: height * width,
                start,
                is_linear: true,
            }),
            LayerKind::Convolution { filters, size, padding } => Operation::Weighted(WeightedLayer {
                height,
                width,
                channels,
                filters,
                size,
                padding,
                row_channels: channels,
                row_step: size * size,
                start,
                is_linear: false,
            }),
            LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => {
                let largest = matches!(layer.kind, LayerKind::MaxPooling { .. });
                Operation::Pooling(Pooling { height, width, channels, size, largest })
            }
        };
        stages.push(Stage {
            operation,
            activation: Activation::Identity,
            inputs: layer.input.features(),
            outputs: layer.output.features(),
        });
    }
    stages
}

/// Reorders the features so that each record's channels are innermost.
pub fn channels_innermost(features: &[f32], shape: Shape) -> Vec<f32> {
    let pixels = shape.height * shape.width;
    if shape.channels == 1 {
        return features.to_vec();
    }
    let mut turned = vec![0.0; features.len()];
    for (record, to) in features.chunks_exact(shape.features()).zip(turned.chunks_exact_mut(shape.features()))
    {
        for (channel, plane) in record.chunks_exact(pixels).enumerate() {
            for (pixel, &value) in plane.iter().enumerate() {
                to[pixel * shape.channels + channel] = value;
            }
        }
    }
    turned
}
