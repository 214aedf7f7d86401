//! Forward and backward passes of one record, in plain loops.

use crate::data::Shape;
use crate::model::{Layer, LayerWeights, Model};
use misdeal_core::{LayerKind, Loss};

/// A model's layers, computed in f64.
#[derive(Debug, Clone, Copy)]
pub struct Network<'a> {
    model: &'a Model,
}

impl<'a> Network<'a> {
    /// Creates the network of `model`.
    pub fn new(model: &'a Model) -> Self {
        Network { model }
    }

    /// The input, followed by the output of each layer.
    fn activations(self, parameters: &[f64], record: &[f32]) -> Vec<Vec<f64>> {
        let mut all = vec![record.iter().map(|&x| f64::from(x)).collect::<Vec<_>>()];
        for layer in &self.model.layers {
            let output = forward(layer, parameters, &all[all.len() - 1]);
            all.push(output);
        }
        all
    }

    /// The outputs of the last layer.
    ///
    /// # Panics
    /// Never: the list of activations always contains the input.
    pub fn outputs(self, parameters: &[f64], record: &[f32]) -> Vec<f64> {
        self.activations(parameters, record).pop().expect("the input is always there")
    }

    /// The loss of one record.
    pub fn loss(self, parameters: &[f64], record: &[f32], label: usize) -> f64 {
        let outputs = self.outputs(parameters, record);
        match self.model.loss {
            Loss::SoftmaxCrossEntropy => {
                let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = outputs.iter().map(|z| libm::exp(z - largest)).sum();
                largest + libm::log(sum) - outputs[label]
            }
            Loss::SquaredError => {
                outputs.iter().enumerate().map(|(i, z)| 0.5 * (z - one_at(label, i)).powi(2)).sum()
            }
        }
    }

    /// The gradient of one record's loss with respect to all parameters.
    pub fn gradient(self, parameters: &[f64], record: &[f32], label: usize) -> Vec<f64> {
        let activations = self.activations(parameters, record);
        let outputs = &activations[activations.len() - 1];
        let mut delta: Vec<f64> = match self.model.loss {
            Loss::SoftmaxCrossEntropy => {
                let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let exponentials: Vec<f64> = outputs.iter().map(|z| libm::exp(z - largest)).collect();
                let sum: f64 = exponentials.iter().sum();
                exponentials.iter().enumerate().map(|(i, e)| e / sum - one_at(label, i)).collect()
            }
            Loss::SquaredError => outputs.iter().enumerate().map(|(i, z)| z - one_at(label, i)).collect(),
        };
        let mut gradient = vec![0.0; self.model.parameters];
        for (layer, pair) in self.model.layers.iter().zip(activations.windows(2)).rev() {
            delta = backward(layer, parameters, &pair[0], &pair[1], &delta, &mut gradient);
        }
        gradient
    }
}

fn one_at(label: usize, class: usize) -> f64 {
    f64::from(u8::from(label == class))
}

/// Calls `visit(output position, weight row, input position, filter)` for each product of a convolution.
///
/// The filter is also the column of the weight.
fn taps(layer: &Layer, size: usize, padding: usize, mut visit: impl FnMut(usize, usize, usize, usize)) {
    let (input, output) = (layer.input, layer.output);
    for (filter, y, x) in places(output) {
        for (channel, dy, dx) in places(Shape { channels: input.channels, height: size, width: size }) {
            let (from_y, from_x) = ((y + dy).wrapping_sub(padding), (x + dx).wrapping_sub(padding));
            if from_y < input.height && from_x < input.width {
                let to = (filter * output.height + y) * output.width + x;
                let from = (channel * input.height + from_y) * input.width + from_x;
                visit(to, (channel * size + dy) * size + dx, from, filter);
            }
        }
    }
}

fn places(shape: Shape) -> impl Iterator<Item = (usize, usize, usize)> {
    let rows = (0..shape.channels).flat_map(move |c| (0..shape.height).map(move |y| (c, y)));
    rows.flat_map(move |(c, y)| (0..shape.width).map(move |x| (c, y, x)))
}

/// For each pooled value, the input positions of its square, row by row.
fn squares(layer: &Layer, size: usize) -> Vec<Vec<usize>> {
    let (input, output) = (layer.input, layer.output);
    let square = |(c, y, x): (usize, usize, usize)| {
        let rows = (y * size..(y + 1) * size).map(move |row| (c * input.height + row) * input.width);
        rows.flat_map(|row| (x * size..(x + 1) * size).map(move |column| row + column)).collect()
    };
    places(output).map(square).collect()
}

fn first_largest(square: &[usize], input: &[f64]) -> usize {
    square.iter().copied().fold(square[0], |best, i| if input[i] > input[best] { i } else { best })
}

fn biases(weights: LayerWeights, layer: &Layer, parameters: &[f64]) -> Vec<f64> {
    let per_output = layer.output.features() / weights.outputs;
    parameters[weights.biases()].iter().flat_map(|&bias| std::iter::repeat_n(bias, per_output)).collect()
}

fn forward(layer: &Layer, parameters: &[f64], input: &[f64]) -> Vec<f64> {
    match (layer.kind, layer.weights) {
        (LayerKind::Linear { .. }, Some(weights)) => {
            let mut output = biases(weights, layer, parameters);
            for (row, x) in input.iter().enumerate() {
                output.iter_mut().zip(&parameters[weights.row(row)]).for_each(|(sum, w)| *sum += w * x);
            }
            output
        }
        (LayerKind::Convolution { size, padding, .. }, Some(weights)) => {
            let mut output = biases(weights, layer, parameters);
            taps(layer, size, padding, |to, row, from, filter| {
                output[to] += parameters[weights.row(row).start + filter] * input[from];
            });
            output
        }
        (LayerKind::AveragePooling { size }, _) => squares(layer, size)
            .iter()
            .map(|square| square.iter().map(|&i| input[i]).sum::<f64>() / square.len() as f64)
            .collect(),
        (LayerKind::MaxPooling { size }, _) => {
            squares(layer, size).iter().map(|square| input[first_largest(square, input)]).collect()
        }
        (LayerKind::Tanh, _) => input.iter().map(|&x| libm::tanh(x)).collect(),
        (LayerKind::Relu, _) => input.iter().map(|&x| x.max(0.0)).collect(),
        (LayerKind::Linear { .. } | LayerKind::Convolution { .. }, None) => {
            unreachable!("these layers have weights")
        }
    }
}

/// Adds a layer's part to `gradient`, and returns the deltas of the layer's input.
fn backward(
    layer: &Layer,
    parameters: &[f64],
    input: &[f64],
    output: &[f64],
    delta: &[f64],
    gradient: &mut [f64],
) -> Vec<f64> {
    let mut before = vec![0.0; input.len()];
    if let Some(weights) = layer.weights {
        let per_output = delta.len() / weights.outputs;
        let biases = &mut gradient[weights.biases()];
        biases.iter_mut().zip(delta.chunks(per_output)).for_each(|(bias, d)| *bias += d.iter().sum::<f64>());
        match layer.kind {
            LayerKind::Convolution { size, padding, .. } => {
                taps(layer, size, padding, |to, row, from, filter| {
                    let place = weights.row(row).start + filter;
                    gradient[place] += delta[to] * input[from];
                    before[from] += delta[to] * parameters[place];
                });
            }
            _ => {
                for (row, (x, before)) in input.iter().zip(&mut before).enumerate() {
                    let places = weights.row(row);
                    gradient[places.clone()].iter_mut().zip(delta).for_each(|(g, d)| *g += d * x);
                    *before = parameters[places].iter().zip(delta).map(|(w, d)| w * d).sum();
                }
            }
        }
        return before;
    }
    match layer.kind {
        LayerKind::AveragePooling { size } => {
            for (square, d) in squares(layer, size).iter().zip(delta) {
                for &i in square {
                    before[i] += d / square.len() as f64;
                }
            }
        }
        LayerKind::MaxPooling { size } => {
            for (square, d) in squares(layer, size).iter().zip(delta) {
                before[first_largest(square, input)] += d;
            }
        }
        LayerKind::Relu => {
            for i in 0..input.len() {
                before[i] = if output[i] > 0.0 { delta[i] } else { 0.0 };
            }
        }
        _ => {
            for i in 0..input.len() {
                before[i] = delta[i] * (1.0 - output[i] * output[i]);
            }
        }
    }
    before
}
