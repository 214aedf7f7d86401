//! A model for records of a given shape: layers with shapes, and where their parameters lie.

use super::blueprint::{Blueprint, LayerKind, Loss};
use crate::data::Shape;
use misdeal_core::{Error, Result};

/// The most numbers between two layers, and the most parameters.
const MOST_VALUES: usize = 1 << 28;

/// A matrix of weights with one row for each input and, last, the row of biases; a row has one weight for each output.
///
/// A convolution's inputs are its taps, in the order channel, row, column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// The first weight's place among all parameters.
    pub start: usize,
    /// Rows, without that of the biases.
    pub inputs: usize,
    /// Columns.
    pub outputs: usize,
}

impl Weights {
    /// Weights and biases together.
    pub fn len(&self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// Whether there are none; no layer has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The places of all weights and biases.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len()
    }

    /// The places of the biases.
    pub fn biases(&self) -> std::ops::Range<usize> {
        self.row(self.inputs)
    }

    /// The places of one input's weights; row `inputs` holds the biases.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        let start = self.start + row * self.outputs;
        start..start + self.outputs
    }
}

/// One layer with its shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// What it does.
    pub kind: LayerKind,
    /// What it takes.
    pub input: Shape,
    /// What it gives.
    pub output: Shape,
    /// Its parameters, if it has any.
    pub weights: Option<Weights>,
}

/// A list of layers that fit together, from a record's features to one output for each class. Plain data: every engine
/// reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name in reports.
    pub name: String,
    /// What is minimised.
    pub loss: Loss,
    /// The layers, in the order in which a record meets them.
    pub layers: Vec<Layer>,
    /// How many numbers training finds.
    pub parameters: usize,
}

impl Model {
    /// Fits `blueprint` to records of shape `input` with labels below `classes`.
    ///
    /// # Errors
    /// Names the first layer that does not fit, and why.
    pub fn new(blueprint: &Blueprint, input: Shape, classes: usize) -> Result<Self> {
        let refuse = |number: usize, problem: String| {
            let hint =
                "layers must fit each other: images first, linear layers last, one output for each class";
            Error::bad_value(
                "model",
                format!("{} with {problem} in layer {number}", blueprint.name),
                "a list of layers that fit",
                hint,
            )
        };
        let (mut shape, mut parameters, mut flat) = (input, 0_usize, false);
        let mut layers = Vec::with_capacity(blueprint.layers.len());
        for (number, &kind) in (1..).zip(&blueprint.layers) {
            let image = matches!(
                kind,
                LayerKind::Convolution { .. }
                    | LayerKind::AveragePooling { .. }
                    | LayerKind::MaxPooling { .. }
            );
            if image && flat {
                return Err(refuse(number, "an image layer after a linear one".into()));
            }
            let (output, inputs) = match kind {
                LayerKind::Linear { outputs } => {
                    flat = true;
                    (Shape::flat(outputs.unwrap_or(classes)), Some(shape.features()))
                }
                LayerKind::Convolution { filters, size, padding } => {
                    let across = |length: usize| {
                        (length.saturating_add(padding.saturating_mul(2)) + 1).checked_sub(size)
                    };
                    let (Some(height @ 1..), Some(width @ 1..)) = (across(shape.height), across(shape.width))
                    else {
                        return Err(refuse(
                            number,
                            format!("filters of {size} x {size} larger than the image"),
                        ));
                    };
                    if size == 0 || padding >= size {
                        return Err(refuse(
                            number,
                            format!("a padding of {padding} for filters of {size} x {size}"),
                        ));
                    }
                    (Shape { channels: filters, height, width }, Some(shape.channels * size * size))
                }
                LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => {
                    if size == 0 || shape.height / size == 0 || shape.width / size == 0 {
                        return Err(refuse(
                            number,
                            format!("squares of {size} x {size} larger than the image or empty"),
                        ));
                    }
                    (Shape { height: shape.height / size, width: shape.width / size, ..shape }, None)
                }
                LayerKind::Tanh | LayerKind::Relu => {
                    if layers.last().is_none_or(|before: &Layer| before.kind.is_activation()) {
                        return Err(refuse(number, "an activation that follows no other layer".into()));
                    }
                    (shape, None)
                }
            };
            let outputs = if image { output.channels } else { output.width };
            let weights = inputs.map(|inputs| Weights { start: parameters, inputs, outputs });
            let new = weights.map_or(Some(0), |w| (w.inputs + 1).checked_mul(w.outputs));
            let size =
                output.channels.checked_mul(output.height).and_then(|size| size.checked_mul(output.width));
            match (size, new.and_then(|new| new.checked_add(parameters))) {
                (Some(1..=MOST_VALUES), Some(sum @ ..=MOST_VALUES)) => parameters = sum,
                _ => return Err(refuse(number, format!("no output or more than {MOST_VALUES} values"))),
            }
            layers.push(Layer { kind, input: shape, output, weights });
            shape = output;
        }
        let last_is_linear = matches!(blueprint.layers.last(), Some(LayerKind::Linear { .. }));
        if !last_is_linear || shape.width != classes {
            let problem = format!(
                "{} outputs of {:?} for {classes} classes",
                shape.features(),
                blueprint.layers.last()
            );
            return Err(refuse(blueprint.layers.len(), problem));
        }
        Ok(Model { name: blueprint.name.clone(), loss: blueprint.loss, layers, parameters })
    }

    /// The weights of the last layer, which is linear.
    ///
    /// # Panics
    /// Never: [`Model::new`] refuses every other last layer.
    pub fn last_weights(&self) -> Weights {
        self.layers.last().and_then(|layer| layer.weights).expect("the last layer is linear")
    }

    /// The record's shape.
    pub fn input(&self) -> Shape {
        self.layers[0].input
    }

    /// Outputs of the last layer.
    pub fn classes(&self) -> usize {
        self.last_weights().outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(channels: usize, side: usize) -> Shape {
        Shape { channels, height: side, width: side }
    }

    #[test]
    fn the_paper_s_models_have_the_paper_s_parameters() {
        let count = |name, shape, classes| {
            Model::new(&Blueprint::named(name).unwrap(), shape, classes).unwrap().parameters
        };
        assert_eq!(count("mlp", Shape::flat(600), 100), 22_532);
        assert_eq!(count("lenet", image(1, 28), 2), 61_026);
        assert_eq!(count("cnn", image(3, 32), 2), 549_538);
    }

    #[test]
    fn refuses_layers_that_do_not_fit_and_names_them() {
        let refusal = |layers: &str, shape, classes| {
            let blueprint = Blueprint::from_toml(&format!("name = 'odd'\nlayers = [{layers}]")).unwrap();
            Model::new(&blueprint, shape, classes).unwrap_err().to_string()
        };
        let linear = "{kind = 'linear'}";
        let conv = "{kind = 'convolution', filters = 2, size = 5}";
        assert!(refusal("", image(1, 4), 2).contains("layer 0"));
        assert!(
            refusal(&format!("{conv}, {linear}"), image(1, 4), 2).contains("5 x 5 larger than the image")
        );
        assert!(
            refusal(&format!("{linear}, {conv}"), image(1, 8), 2).contains("after a linear one in layer 2")
        );
        assert!(refusal("{kind = 'linear', outputs = 3}", image(1, 4), 2).contains("for 2 classes"));
        assert!(
            refusal("{kind = 'max-pooling', size = 9}, {kind = 'linear'}", image(1, 8), 2).contains("9 x 9")
        );
        assert!(
            refusal("{kind = 'linear', outputs = 0}, {kind = 'linear'}", image(1, 8), 2)
                .contains("no output")
        );
        assert!(refusal("{kind = 'tanh'}, {kind = 'linear'}", image(1, 8), 2).contains("layer 1"));
        let huge = "{kind = 'linear', outputs = 9223372036854775807}, {kind = 'linear'}";
        assert!(refusal(huge, image(1, 8), 2).contains("layer 1"));
        let unknown =
            Blueprint::from_toml("name = 'x'\nlayers = [{kind = 'sigmoid'}]").unwrap_err().to_string();
        assert!(unknown.contains("line 2") && !unknown.contains('\n'), "{unknown}");
        assert!(Blueprint::named("resnet").unwrap_err().to_string().contains("mlp, lenet, cnn"));
    }
}
