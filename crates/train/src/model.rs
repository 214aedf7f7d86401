//! A model for records of a given shape: layers with shapes, and the positions of their parameters.
//!
//! # Why are weights stored inputs by outputs, with the biases as last row?
//! Matrix products then need no packing, and a null-space canary is one row.

use crate::data::Shape;
use misdeal_core::{Blueprint, Error, LayerKind, Loss, Result};
use std::ops::RangeInclusive;

/// Limit for the numbers between two layers, and for the parameters.
const MOST_VALUES: usize = 1 << 28;
/// Limit for the side of a filter; its square is [`MOST_VALUES`].
const MOST_SIDE: usize = 1 << 14;

/// A matrix of weights with one row for each input and one column for each output. The last row holds the biases.
///
/// A convolution's inputs are its taps, in the order channel, row, column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerWeights {
    /// Index of the first weight among all parameters.
    pub start: usize,
    /// Number of rows, without the row of biases.
    pub inputs: usize,
    /// Number of columns.
    pub outputs: usize,
}

impl LayerWeights {
    /// Number of weights and biases together.
    pub fn len(&self) -> usize {
        (self.inputs + 1) * self.outputs
    }

    /// Always false: every layer with weights has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indices of all weights and biases.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len()
    }

    /// The indices of the biases.
    pub fn biases(&self) -> std::ops::Range<usize> {
        self.row(self.inputs)
    }

    /// The indices of one input's weights; row `inputs` holds the biases.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        let start = self.start + row * self.outputs;
        start..start + self.outputs
    }
}

/// One layer with its input and output shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layer {
    /// The kind of layer.
    pub kind: LayerKind,
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// Its parameters, if it has any.
    pub weights: Option<LayerWeights>,
}

/// A list of layers that fit together, from a record's features to one output for each class.
///
/// A model is plain data that every engine can read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name in reports.
    pub name: String,
    /// The loss that training minimises.
    pub loss: Loss,
    /// The layers, from input to output.
    pub layers: Vec<Layer>,
    /// Number of parameters.
    pub parameters: usize,
}

impl Model {
    /// Fits `blueprint` to records of shape `input` with labels below `classes`.
    ///
    /// No field, layer or number of parameters exceeds [`MOST_VALUES`], so products of two of them never overflow.
    ///
    /// # Errors
    /// A layer does not fit. The error names the first such layer, its field, the value and the allowed range.
    pub fn new(blueprint: &Blueprint, input: Shape, classes: usize) -> Result<Self> {
        let refuse = |number: usize, problem: String, allowed: String| {
            let hint =
                "layers must fit each other: images first, linear layers last, one output for each class";
            let value = format!("{} with {problem} in layer {number}", blueprint.name);
            Error::bad_value("model", value, allowed, hint)
        };
        let (mut shape, mut parameters, mut flat) = (input, 0_usize, false);
        if checked_features(shape).is_none() {
            return Err(refuse(0, format!("records of {shape}"), format!("1 to {MOST_VALUES} values")));
        }
        let mut layers = Vec::with_capacity(blueprint.layers.len());
        for (number, &kind) in (1..).zip(&blueprint.layers) {
            let image = kind.is_for_images();
            if image && flat {
                let allowed = "image layers before the first linear one".into();
                return Err(refuse(number, "an image layer after a linear one".into(), allowed));
            }
            let limits = limits(kind, shape, classes);
            if let Some((field, value, range)) =
                limits.iter().find(|(_, value, range)| !range.contains(value))
            {
                let allowed = if range.is_empty() {
                    format!("no such layer on records of {shape}")
                } else {
                    format!("{field} from {} to {}", range.start(), range.end())
                };
                return Err(refuse(number, format!("{field} = {value}"), allowed));
            }
            let (output, inputs) = match kind {
                LayerKind::Linear { outputs } => {
                    flat = true;
                    (Shape::flat(outputs.unwrap_or(classes)), Some(shape.features()))
                }
                LayerKind::Convolution { filters, size, padding } => {
                    let across = |length: usize| length + 2 * padding + 1 - size;
                    let output =
                        Shape { channels: filters, height: across(shape.height), width: across(shape.width) };
                    (output, shape.channels.checked_mul(size * size))
                }
                LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => {
                    (Shape { height: shape.height / size, width: shape.width / size, ..shape }, None)
                }
                LayerKind::Tanh | LayerKind::Relu => {
                    if layers.last().is_none_or(|before: &Layer| before.kind.is_activation()) {
                        let problem = "an activation that follows no other layer".into();
                        return Err(refuse(number, problem, "activations after other layers".into()));
                    }
                    (shape, None)
                }
            };
            let outputs = if image { output.channels } else { output.width };
            let weights = inputs.map(|inputs| LayerWeights { start: parameters, inputs, outputs });
            let has_weights = matches!(kind, LayerKind::Linear { .. } | LayerKind::Convolution { .. });
            let new = match weights {
                Some(weights) => weights.inputs.checked_add(1).and_then(|rows| rows.checked_mul(outputs)),
                None => (!has_weights).then_some(0),
            };
            let sum = new.and_then(|new| new.checked_add(parameters)).filter(|&sum| sum <= MOST_VALUES);
            let (Some(_), Some(sum)) = (checked_features(output), sum) else {
                let mut fields: Vec<String> =
                    limits.iter().map(|(field, value, _)| format!("{field} = {value}")).collect();
                // One field may have two limits.
                fields.sort();
                fields.dedup();
                let problem = format!("{} on records of {shape}", fields.join(", "));
                let allowed = format!("at most {MOST_VALUES} outputs and as many parameters in all layers");
                return Err(refuse(number, problem, allowed));
            };
            parameters = sum;
            layers.push(Layer { kind, input: shape, output, weights });
            shape = output;
        }
        let last_is_linear = matches!(blueprint.layers.last(), Some(LayerKind::Linear { .. }));
        if !last_is_linear || shape.width != classes {
            let (last, values) = (blueprint.layers.last(), shape.features());
            let problem = format!("{values} outputs of {last:?} for {classes} classes");
            let allowed = format!("a linear layer with {classes} outputs at the end");
            return Err(refuse(blueprint.layers.len(), problem, allowed));
        }
        Ok(Model { name: blueprint.name.clone(), loss: blueprint.loss, layers, parameters })
    }

    /// The weights of the last layer, which is always linear.
    ///
    /// # Panics
    /// Never: [`Model::new`] refuses every other last layer.
    pub fn last_weights(&self) -> LayerWeights {
        self.layers.last().and_then(|layer| layer.weights).expect("the last layer is linear")
    }

    /// The shape of a record.
    pub fn input(&self) -> Shape {
        self.layers[0].input
    }

    /// Number of outputs of the last layer.
    pub fn classes(&self) -> usize {
        self.last_weights().outputs
    }
}

/// A layer's fields with their values and allowed ranges, for records of shape `input`.
///
/// Within these ranges, no sum of two fields overflows.
fn limits(
    kind: LayerKind,
    input: Shape,
    classes: usize,
) -> Vec<(&'static str, usize, RangeInclusive<usize>)> {
    let side = input.height.min(input.width);
    match kind {
        LayerKind::Linear { outputs } => vec![("outputs", outputs.unwrap_or(classes), 1..=MOST_VALUES)],
        LayerKind::Convolution { filters, size, padding } => vec![
            ("filters", filters, 1..=MOST_VALUES),
            // A filter has size^2 weights.
            ("size", size, 1..=MOST_SIDE),
            ("padding", padding, 0..=size.saturating_sub(1)),
            ("size", size, 1..=side.saturating_add(padding.saturating_mul(2))),
        ],
        LayerKind::AveragePooling { size } | LayerKind::MaxPooling { size } => vec![("size", size, 1..=side)],
        LayerKind::Tanh | LayerKind::Relu => vec![],
    }
}

/// Number of values in a record of this shape; `None` if it is zero or above [`MOST_VALUES`].
fn checked_features(Shape { channels, height, width }: Shape) -> Option<usize> {
    let features = channels.checked_mul(height)?.checked_mul(width)?;
    (1..=MOST_VALUES).contains(&features).then_some(features)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(channels: usize, side: usize) -> Shape {
        Shape { channels, height: side, width: side }
    }

    #[test]
    fn too_many_parameters_are_told_in_the_file_s_words() {
        let layers = "{ kind = 'linear', outputs = 100_000 }, ".repeat(2);
        let text = format!("name = 'wide'\nlayers = [{layers}{{ kind = 'linear' }}]");
        let error = Model::new(&Blueprint::from_toml(&text).unwrap(), Shape::flat(4), 2).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("with outputs = 100000 on records of 1x1x100000 in layer 2"), "{message}");
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
        assert!(refusal(&format!("{conv}, {linear}"), image(1, 4), 2).contains("size = 5"));
        assert!(
            refusal(&format!("{linear}, {conv}"), image(1, 8), 2).contains("after a linear one in layer 2")
        );
        assert!(refusal("{kind = 'linear', outputs = 3}", image(1, 4), 2).contains("for 2 classes"));
        assert!(
            refusal("{kind = 'max-pooling', size = 9}, {kind = 'linear'}", image(1, 8), 2)
                .contains("size = 9")
        );
        assert!(
            refusal("{kind = 'linear', outputs = 0}, {kind = 'linear'}", image(1, 8), 2)
                .contains("outputs = 0")
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
