//! The linear layers, as matrix products with one row for each record.

use super::image_layers::activation;
use crate::kernels::{
    Activate, Activation, ActivationGradient, ColumnSums, LossGradient, Matrix, MatrixProduct, RowSquares,
    ScaleRows,
};
use crate::model::{LayerWeights, Model};
use crate::simd::{AlignedFloats, InstructionSet};
use misdeal_core::{LayerKind, Loss};
use std::ops::Range;

/// One linear layer and the activation after it.
#[derive(Debug, Clone)]
struct LinearStage {
    weights: LayerWeights,
    activation: Option<Activation>,
    /// The inputs.
    inputs: AlignedFloats,
    /// The deltas of the outputs before the activation. In the last layer, the outputs themselves until the backward pass.
    deltas: AlignedFloats,
    /// The transposed weights (outputs x inputs); empty if no delta goes further back.
    transposed: AlignedFloats,
}

/// The linear part of a model, with memory for some records.
#[derive(Debug, Clone)]
pub struct LinearLayers {
    set: InstructionSet,
    loss: Loss,
    stages: Vec<LinearStage>,
    /// The deltas of the first layer's inputs; empty if the inputs are the records.
    before: AlignedFloats,
    /// Sums of squares of inputs and deltas.
    squares: [Vec<f32>; 2],
}

impl LinearLayers {
    /// Allocates memory for `records` records.
    pub fn new(model: &Model, set: InstructionSet, records: usize) -> Self {
        let mut stages: Vec<LinearStage> = vec![];
        let first =
            model.layers.iter().position(|layer| matches!(layer.kind, LayerKind::Linear { .. })).unwrap_or(0);
        for layer in &model.layers[first..] {
            if let (Some(activation), Some(stage)) = (activation(layer.kind), stages.last_mut()) {
                stage.activation = Some(activation);
            } else if let Some(weights) = layer.weights {
                let goes_back = first > 0 || !stages.is_empty();
                stages.push(LinearStage {
                    weights,
                    activation: None,
                    inputs: AlignedFloats::zeros(records * weights.inputs),
                    deltas: AlignedFloats::zeros(records * weights.outputs),
                    transposed: AlignedFloats::zeros(if goes_back {
                        weights.inputs * weights.outputs
                    } else {
                        0
                    }),
                });
            }
        }
        let before = if first > 0 { records * stages[0].weights.inputs } else { 0 };
        let squares = [vec![0.0; records], vec![0.0; records]];
        LinearLayers { set, loss: model.loss, stages, before: AlignedFloats::zeros(before), squares }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        let floats = |stage: &LinearStage| stage.inputs.len() + stage.deltas.len() + stage.transposed.len();
        4 * (self.before.len() + self.stages.iter().map(floats).sum::<usize>() + 2 * self.squares[0].len())
    }

    /// Number of inputs of the first layer.
    pub fn input_features(&self) -> usize {
        self.stages[0].weights.inputs
    }

    /// The inputs of the first layer, one row for each record; the caller fills them.
    pub fn inputs(&mut self) -> &mut [f32] {
        &mut self.stages[0].inputs
    }

    /// The outputs; after [`backward`](Self::backward), their deltas.
    pub fn outputs(&self) -> &[f32] {
        self.stages.last().map_or(&[], |stage| &stage.deltas)
    }

    /// The deltas of the first layer's inputs.
    pub fn before(&self) -> &[f32] {
        &self.before
    }

    /// Transposes the weights; called once per step.
    pub fn prepare(&mut self, parameters: &[f32]) {
        for stage in self.stages.iter_mut().filter(|stage| !stage.transposed.is_empty()) {
            let LayerWeights { inputs, outputs, .. } = stage.weights;
            for (row, weights) in
                parameters[stage.weights.range()].chunks_exact(outputs).take(inputs).enumerate()
            {
                for (column, &weight) in weights.iter().enumerate() {
                    stage.transposed[column * inputs + row] = weight;
                }
            }
        }
    }

    /// The forward pass for the records of `rows`.
    pub fn forward(&mut self, parameters: &[f32], rows: Range<usize>) {
        for at in 0..self.stages.len() {
            let (done, next) = self.stages.split_at_mut(at + 1);
            let LinearStage { weights, activation, inputs, deltas, .. } = &mut done[at];
            let (weights, activation) = (*weights, *activation);
            let results: &mut [f32] = next.first_mut().map_or(deltas, |next| &mut next.inputs);
            let results = &mut results[rows.start * weights.outputs..rows.end * weights.outputs];
            let biases = &parameters[weights.biases()];
            results.chunks_exact_mut(weights.outputs).for_each(|row| row.copy_from_slice(biases));
            self.set.run(MatrixProduct {
                rows: rows.len(),
                inner: weights.inputs,
                columns: weights.outputs,
                left: Matrix::rows(&inputs[rows.start * weights.inputs..], weights.inputs),
                right: &parameters[weights.range()],
                sum: results,
            });
            if let Some(activation) = activation {
                self.set.run(Activate(activation, results));
            }
        }
    }

    /// The backward pass; writes each record's squared gradient norm to `norms`.
    ///
    /// A weight's gradient is an input times a delta. A layer's squared norm is therefore (|inputs|^2 + 1) |deltas|^2.
    pub fn backward(&mut self, labels: &[u16], rows: Range<usize>, norms: &mut [f32]) {
        let classes = self.stages.last().map_or(1, |stage| stage.weights.outputs);
        if let Some(last) = self.stages.last_mut() {
            let outputs = &mut last.deltas[rows.start * classes..rows.end * classes];
            self.set.run(LossGradient { loss: self.loss, outputs, labels });
        }
        norms.fill(0.0);
        for at in (0..self.stages.len()).rev() {
            let (earlier, rest) = self.stages.split_at_mut(at);
            let LinearStage { weights, inputs, deltas, transposed, .. } = &rest[0];
            let inputs = &inputs[rows.start * weights.inputs..rows.end * weights.inputs];
            let deltas = &deltas[rows.start * weights.outputs..rows.end * weights.outputs];
            let [of_inputs, of_deltas] = &mut self.squares;
            self.set.run(RowSquares { values: inputs, columns: weights.inputs, squares: of_inputs });
            self.set.run(RowSquares { values: deltas, columns: weights.outputs, squares: of_deltas });
            for ((norm, input), delta) in norms.iter_mut().zip(of_inputs).zip(of_deltas) {
                *norm += (*input + 1.0) * *delta;
            }
            if transposed.is_empty() {
                continue;
            }
            let activation = earlier.last().and_then(|stage| stage.activation);
            let before: &mut [f32] = earlier.last_mut().map_or(&mut self.before, |stage| &mut stage.deltas);
            let before = &mut before[rows.start * weights.inputs..rows.end * weights.inputs];
            before.fill(0.0);
            self.set.run(MatrixProduct {
                rows: rows.len(),
                inner: weights.outputs,
                columns: weights.inputs,
                left: Matrix::rows(deltas, weights.outputs),
                right: transposed,
                sum: before,
            });
            if let Some(activation) = activation {
                self.set.run(ActivationGradient { activation, values: inputs, deltas: before });
            }
        }
    }

    /// Multiplies every record's deltas by its factor.
    pub fn clip(&mut self, rows: Range<usize>, factors: &[f32]) {
        for stage in &mut self.stages {
            let columns = stage.weights.outputs;
            let values = &mut stage.deltas[rows.start * columns..rows.end * columns];
            self.set.run(ScaleRows { values, columns, factors });
        }
    }

    /// Adds the gradients of the first `records` records to `sum`.
    pub fn add_gradients(&mut self, records: usize, sum: &mut [f32]) {
        for LinearStage { weights, inputs, deltas, .. } in &self.stages {
            let deltas = &deltas[..records * weights.outputs];
            let (matrix, biases) = sum[weights.range()].split_at_mut(weights.inputs * weights.outputs);
            self.set.run(MatrixProduct {
                rows: weights.inputs,
                inner: records,
                columns: weights.outputs,
                left: Matrix::rows(inputs, weights.inputs).transposed(),
                right: deltas,
                sum: matrix,
            });
            self.set.run(ColumnSums { values: deltas, sums: biases });
        }
    }

    /// The inner product of one record's gradient with `direction`, which begins at parameter `start`.
    pub fn project(&self, row: usize, start: usize, direction: &[f32]) -> f64 {
        let mut projection = 0.0;
        for LinearStage { weights, inputs, deltas, .. } in &self.stages {
            let range = weights.range();
            if range.end <= start || start + direction.len() <= range.start {
                continue;
            }
            let deltas = &deltas[row * weights.outputs..][..weights.outputs];
            let inputs = inputs[row * weights.inputs..][..weights.inputs].iter().copied().chain([1.0]);
            for (unit, input) in inputs.enumerate() {
                let places = weights.row(unit);
                let (from, to) = (places.start.max(start), places.end.min(start + direction.len()));
                if from < to {
                    let factors = &direction[from - start..to - start];
                    let deltas = &deltas[from - places.start..];
                    let sum: f64 =
                        factors.iter().zip(deltas).map(|(&f, &d)| f64::from(f) * f64::from(d)).sum();
                    projection += f64::from(input) * sum;
                }
            }
        }
        projection
    }
}
