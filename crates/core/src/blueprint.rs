//! A model as a user composes it: a list of layers in a small TOML file, without shapes.

use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One layer as it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LayerKind {
    /// Every output is a weighted sum of all inputs, and a bias.
    Linear {
        /// How many; left out, one for each class.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        outputs: Option<usize>,
    },
    /// Square filters that slide over the image one pixel at a time.
    Convolution {
        /// How many.
        filters: usize,
        /// Their height and width.
        size: usize,
        /// Zeros around the image, on every side.
        #[serde(default)]
        padding: usize,
    },
    /// Means of squares that do not overlap.
    AveragePooling {
        /// The squares' height and width.
        size: usize,
    },
    /// Largest values of squares that do not overlap.
    MaxPooling {
        /// The squares' height and width.
        size: usize,
    },
    /// The hyperbolic tangent of every value.
    Tanh,
    /// max(0, x) of every value.
    Relu,
}

impl LayerKind {
    /// Whether it takes images: it has no place after a linear layer.
    pub fn is_for_images(self) -> bool {
        matches!(self, Self::Convolution { .. } | Self::AveragePooling { .. } | Self::MaxPooling { .. })
    }

    /// Whether it changes every value on its own.
    pub fn is_activation(self) -> bool {
        matches!(self, Self::Tanh | Self::Relu)
    }
}

/// What is minimised, one output for each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// -ln softmax(outputs) at the label.
    #[default]
    SoftmaxCrossEntropy,
    /// Half the squared distance from the outputs to one at the label and zero elsewhere.
    SquaredError,
}

/// A model without shapes, as in a TOML file.
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
    /// The name in reports.
    pub name: String,
    /// What is minimised.
    #[serde(default)]
    pub loss: Loss,
    /// From the records to the outputs.
    pub layers: Vec<LayerKind>,
}

impl Blueprint {
    /// The most bytes of a model's TOML file.
    pub const MOST_BYTES: usize = 1 << 20;

    /// The paper's models.
    pub const NAMES: [&'static str; 3] = ["mlp", "lenet", "cnn"];

    /// One of the paper's models.
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
    /// What TOML or the list of layers does not allow, on one line.
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
