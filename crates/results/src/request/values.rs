//! Numbers and names as people write them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use misdeal_core::{ClosedSet, Device, serialize_path_if_any};
use serde::{Deserialize, Deserializer, Serializer, de};
use std::ffi::OsStr;
use std::path::PathBuf;

/// One of the names of a closed set.
pub fn one_of<T: ClosedSet + Send + Sync + 'static>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::names()).try_map(|name| T::from_name(&name))
}

/// A device by its name; `gpu` is another word for `cuda`.
pub fn device() -> impl TypedValueParser<Value = Device> {
    let names = Device::names().iter().map(|&name| match name {
        "cuda" => PossibleValue::new(name).alias("gpu"),
        name => PossibleValue::new(name),
    });
    let canonical = |name: String| if name == "gpu" { "cuda".to_owned() } else { name };
    PossibleValuesParser::new(names).try_map(move |name| Device::from_name(&canonical(name)))
}

/// Any text, with the names that shells complete. The job checks what is allowed.
#[derive(Debug, Clone, Copy)]
pub struct Completed(pub &'static [&'static str]);

impl TypedValueParser for Completed {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}

/// A number: `0.5`, `1e-5`. Ranges are checked where the value is used.
///
/// # Errors
/// The text is no number.
pub fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "allowed is a number such as 0.5 or 1e-5".to_owned())
}

/// A whole number: `100`, `1e7`, `1_000_000`.
///
/// # Errors
/// The text is no whole number, or has a sign.
pub fn count(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    if let Ok(count) = digits.parse() {
        return Ok(count);
    }
    match digits.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && (0.0..9e15).contains(&value) => Ok(value as u64),
        _ => Err("allowed is a whole number without a sign, such as 100 or 1e7".to_owned()),
    }
}

/// A path that may be absent, and is not empty.
pub mod path {
    use super::{Deserialize, Deserializer, PathBuf, Serializer, de, serialize_path_if_any};

    /// Writes the path as text.
    ///
    /// # Errors
    /// What the serializer says.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_path_if_any(path, serializer)
    }

    /// Reads a path.
    ///
    /// # Errors
    /// An empty one.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
        match Option::<PathBuf>::deserialize(deserializer)? {
            Some(path) if path.as_os_str().is_empty() => {
                Err(de::Error::invalid_value(de::Unexpected::Str(""), &"a path"))
            }
            path => Ok(path),
        }
    }
}

/// Several paths.
pub mod paths {
    use super::{Deserialize, Deserializer, PathBuf, Serializer};
    use misdeal_core::path_text;

    /// Writes the paths as text.
    ///
    /// # Errors
    /// What the serializer says.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path_text(path)))
    }

    /// Reads paths.
    ///
    /// # Errors
    /// What is no list of paths.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Vec::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_written_in_many_ways() {
        for (text, value) in [("0", 0), ("100", 100), ("1e7", 10_000_000), ("1.5e3", 1500), ("1_000", 1000)] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
        for text in ["", "-1", "1.5", "1e-3", "NaN", "inf", "1e300", "seven"] {
            assert!(count(text).is_err(), "{text}");
        }
        assert!(number("abc").is_err() && number("1e-5") == Ok(1e-5));
    }
}
