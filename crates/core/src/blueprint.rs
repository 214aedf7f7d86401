//! A user's model: a list of layers in a small TOML file, without shapes.

use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One layer of a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayerKind {
    /// A linear layer: every output is a weighted sum of all inputs plus a bias.
    Linear {
        /// The number of outputs. If it is left out, there is one output for each class.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outputs: Option<usize>,
    },
    /// Square filters that slide over the image one pixel at a time.
    Convolution {
        /// The number of filters.
        filters: usize,
        /// The filters' height and width.
        size: usize,
        /// The number of zeros added on every side of the image.
        #[serde(default)]
        padding: usize,
    },
    /// The mean over each square; squares do not overlap.
    AveragePooling {
        /// The squares' height and width.
        size: usize,
    },
    /// The largest value in each square; squares do not overlap.
    MaxPooling {
        /// The squares' height and width.
        size: usize,
    },
    /// The hyperbolic tangent, applied to every value.
    Tanh,
    /// max(0, x), applied to every value.
    Relu,
}

impl LayerKind {
    /// Whether the layer takes images. Such a layer cannot follow a linear layer.
    pub fn is_for_images(self) -> bool {
        matches!(self, Self::Convolution { .. } | Self::AveragePooling { .. } | Self::MaxPooling { .. })
    }

    /// Whether the layer is an activation, applied to each value separately.
    pub fn is_activation(self) -> bool {
        matches!(self, Self::Tanh | Self::Relu)
    }
}

/// The loss that training minimises, with one output for each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// -ln softmax(outputs) at the label.
    #[default]
    SoftmaxCrossEntropy,
    /// Half the squared distance between the outputs and a vector with one at the label and zero elsewhere.
    SquaredError,
}

/// A model without shapes, as written in a TOML file.
///
/// ```
/// use misdeal_core::Blueprint;
/// let text = r#"
///     name = "perceptron"
///     layers = [{ kind = "linear", outputs = 8 }, { kind = "relu" }, { kind = "linear" }]
/// "#;
/// assert_eq!(Blueprint::from_toml(text)?.layers.len(), 3);
/// assert_eq!(Blueprint::named("lenet")?.layers.len(), 11);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    /// The model's name in reports.
    pub name: String,
    /// The loss that training minimises.
    #[serde(default)]
    pub loss: Loss,
    /// The layers, from input to output.
    pub layers: Vec<LayerKind>,
}

impl Blueprint {
    /// The largest allowed size of a model's TOML file, in bytes.
    pub const MOST_BYTES: usize = 1 << 20;

    /// The names of the paper's models.
    pub const NAMES: [&'static str; 3] = ["mlp", "lenet", "cnn"];

    /// The paper's model called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn named(name: &str) -> Result<Self> {
        let text = match name {
            "mlp" => include_str!("../models/mlp.toml"),
            "lenet" => include_str!("../models/lenet.toml"),
            "cnn" => include_str!("../models/cnn.toml"),
            _ => {
                let allowed = format!("one of {}, or a TOML file", Self::NAMES.join(", "));
                return Err(Error::bad_value("model", name, allowed, "check the spelling"));
            }
        };
        Self::from_toml(text)
    }

    /// The model that a TOML file describes.
    ///
    /// # Errors
    /// Invalid TOML, or a list of layers that is not allowed. The message fits on one line.
    pub fn from_toml(text: &str) -> Result<Self> {
        if text.len() > Self::MOST_BYTES {
            let (value, allowed) =
                (format!("a file of {} bytes", text.len()), format!("at most {} bytes", Self::MOST_BYTES));
            return Err(Error::bad_value(
                "model",
                value,
                allowed,
                "a model is a list of layers, not weights",
            ));
        }
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or("");
            let line = before.lines().count().max(1);
            let hint = "a model has a name and a list of layers, each with its kind";
            let problem = error.message().replace('\n', " ");
            Error::bad_value("model", format!("not readable in line {line} ({problem})"), "a TOML file", hint)
        })
    }
}
