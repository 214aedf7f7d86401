//! The nine batch schemes.

use crate::{Error, Result, SchemeName};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use strum::{IntoStaticStr, VariantNames};

/// How the records of a data set are put into batches.
///
/// Each variant describes one epoch over `n = batch_size * steps_per_epoch` records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantNames)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BatchScheme {
    /// Every record joins every batch independently with probability `1 / steps_per_epoch`.
    Poisson,
    /// Each epoch draws a new uniform permutation and cuts it into batches.
    Shuffle,
    /// One uniform permutation is cut into batches, the same in all epochs.
    ShuffleOnce,
    /// Blocks of `buffer_size` consecutive records are each permuted, then cut into batches (the paper's buffer).
    PartialShuffle {
        /// Records in a block.
        buffer_size: u64,
    },
    /// A sliding buffer of `buffer_size` records. Each step emits the record of a uniformly chosen slot, and the next
    /// record fills that slot. `tf.data` and most streaming loaders work this way.
    StreamShuffle {
        /// Records in the buffer.
        buffer_size: u64,
    },
    /// Consecutive records form batches, and the order of the batches is permuted.
    BatchThenShuffle,
    /// Every record joins one uniformly chosen batch, independently of the others.
    BallsInBins,
    /// Every batch is a fresh uniform subset of `batch_size` records.
    WithoutReplacement,
    /// File order, no randomness.
    FixedOrder,
}

impl BatchScheme {
    /// The names of the nine schemes, in documentation order.
    pub const NAMES: &'static [&'static str] = Self::VARIANTS;

    /// The scheme that the adversary assumes, or `None` if no name is given.
    ///
    /// It uses the adversary's own buffer size if there is one, and the real one otherwise.
    ///
    /// # Errors
    /// The errors of [`from_name`](Self::from_name), for the adversary's fields. Also a buffer size without a scheme,
    /// which would have no effect.
    pub fn of_adversary(
        name: Option<&str>,
        own_buffer_size: Option<u64>,
        buffer_size: Option<u64>,
    ) -> Result<Option<Self>> {
        let Some(name) = name else {
            return own_buffer_size.map_or(Ok(None), |size| {
                let (allowed, hint) =
                    ("none without an adversary_scheme", "name the scheme that the adversary assumes too");
                Err(Error::bad_value("adversary_buffer_size", size, allowed, hint))
            });
        };
        let size = own_buffer_size.or(buffer_size.filter(|_| Self::has_buffer(name)));
        Self::from_name(name, size).map(Some).map_err(|error| match error {
            Error::BadValue { field: "buffer_size", value, allowed, hint } => {
                Error::BadValue { field: "adversary_buffer_size", value, allowed, hint }
            }
            other => other,
        })
    }

    /// The scheme called `name`.
    ///
    /// Only the two buffered schemes take a `buffer_size`, and they need one.
    ///
    /// # Errors
    /// An unknown name, a missing buffer size, or one that the scheme does not use.
    pub fn from_name(name: &str, buffer_size: Option<u64>) -> Result<Self> {
        let scheme = match name {
            "poisson" => Self::Poisson,
            "shuffle" => Self::Shuffle,
            "shuffle-once" => Self::ShuffleOnce,
            "batch-then-shuffle" => Self::BatchThenShuffle,
            "balls-in-bins" => Self::BallsInBins,
            "without-replacement" => Self::WithoutReplacement,
            "fixed-order" => Self::FixedOrder,
            _ if Self::has_buffer(name) => {
                let buffer_size = buffer_size.ok_or_else(|| {
                    Error::bad_value(
                        "buffer_size",
                        "missing",
                        "a number of records",
                        format!("{name} needs one"),
                    )
                })?;
                return Ok(if name == "partial-shuffle" {
                    Self::PartialShuffle { buffer_size }
                } else {
                    Self::StreamShuffle { buffer_size }
                });
            }
            _ => {
                return Err(Error::bad_value(
                    "scheme",
                    name,
                    format!("one of {}", Self::NAMES.join(", ")),
                    "check the spelling",
                ));
            }
        };
        match buffer_size {
            None => Ok(scheme),
            Some(size) => Err(Error::bad_value(
                "buffer_size",
                size,
                "none",
                format!("{name} has no buffer; partial-shuffle and stream-shuffle do"),
            )),
        }
    }

    /// Whether the scheme called `name` needs a buffer size.
    pub fn has_buffer(name: &str) -> bool {
        matches!(name, "partial-shuffle" | "stream-shuffle")
    }

    /// The scheme's name on the command line and in JSON.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The buffer's size in records, if the scheme has a buffer.
    pub fn buffer_size(&self) -> Option<u64> {
        match *self {
            Self::PartialShuffle { buffer_size } | Self::StreamShuffle { buffer_size } => Some(buffer_size),
            _ => None,
        }
    }

    /// Whether every batch has exactly `batch_size` records.
    pub fn has_fixed_batch_sizes(&self) -> bool {
        !matches!(self, Self::Poisson | Self::BallsInBins)
    }

    /// Whether each record is used exactly once in every epoch.
    pub fn uses_each_record_once(&self) -> bool {
        !matches!(self, Self::Poisson | Self::WithoutReplacement)
    }
}

/// A scheme as it appears in JSON; only the two buffered schemes have a `buffer_size`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BatchScheme")]
struct SchemeFields {
    /// How batches are made.
    scheme: SchemeName,
    /// Records in the buffer, for the two schemes that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    buffer_size: Option<u64>,
}

impl JsonSchema for BatchScheme {
    fn schema_name() -> Cow<'static, str> {
        SchemeFields::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SchemeFields::json_schema(generator)
    }
}

impl fmt::Display for BatchScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.buffer_size() {
            Some(size) => write!(f, "{} (buffer of {size})", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_schemes_correspond() {
        for name in BatchScheme::NAMES {
            let buffer = name.ends_with("l-shuffle") || name.starts_with("stream");
            let scheme = BatchScheme::from_name(name, buffer.then_some(7)).unwrap();
            assert_eq!(scheme.name(), *name);
            assert_eq!(scheme.buffer_size(), buffer.then_some(7));
        }
        assert!(BatchScheme::from_name("shufle", None).is_err());
        assert!(BatchScheme::from_name("shuffle", Some(3)).is_err());
        assert!(BatchScheme::from_name("stream-shuffle", None).is_err());
    }
}
