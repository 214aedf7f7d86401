//! A number that may be infinite, also in JSON.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A number that JSON writes as `null` if it is infinite.
///
/// `null` also means an unknown upper limit, which reads as infinite and so errs on the safe side.
///
/// ```
/// use misdeal_core::OrInfinite;
/// let read = |json| serde_json::from_str::<OrInfinite>(json).unwrap();
/// assert!(read("null") > 1e300 && read("2.5") == 2.5);
/// assert_eq!(serde_json::to_string(&[read("null"), read("2.5")]).unwrap(), "[null,2.5]");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct OrInfinite(f64);

impl OrInfinite {
    /// The number, if it is finite.
    pub fn finite(self) -> Option<f64> {
        self.0.is_finite().then_some(self.0)
    }
}

impl From<f64> for OrInfinite {
    fn from(value: f64) -> Self {
        OrInfinite(value)
    }
}

/// The default is infinity.
impl Default for OrInfinite {
    fn default() -> Self {
        OrInfinite(f64::INFINITY)
    }
}

impl Deref for OrInfinite {
    type Target = f64;

    fn deref(&self) -> &f64 {
        &self.0
    }
}

impl PartialEq<f64> for OrInfinite {
    fn eq(&self, other: &f64) -> bool {
        self.0 == *other
    }
}

impl PartialOrd<f64> for OrInfinite {
    fn partial_cmp(&self, other: &f64) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(other)
    }
}

impl fmt::Display for OrInfinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for OrInfinite {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(OrInfinite(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY)))
    }
}

impl JsonSchema for OrInfinite {
    fn schema_name() -> Cow<'static, str> {
        "or_infinite".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<f64>::json_schema(generator)
    }
}
