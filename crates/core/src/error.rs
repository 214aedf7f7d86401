//! The core's error type. An error about a value names the field, the value and what is allowed.

use std::fmt::Display;

/// The reason why a setting, a score or a store was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value lies outside its allowed range.
    #[error("{field} is {value}, but {allowed} is allowed; {hint}")]
    BadValue {
        /// The field's name in the vocabulary, e.g. `noise_multiplier`.
        field: &'static str,
        /// The value that was given.
        value: String,
        /// The allowed range, in words that fit "but … is allowed".
        allowed: String,
        /// The next step for the user.
        hint: String,
    },
    /// Two stores cannot be joined, or a store does not belong to this run.
    #[error("{0}")]
    Mismatch(String),
    /// The bytes are not a complete store.
    #[error("{0}")]
    Corrupt(String),
    /// The device is missing or failed; the request itself was valid.
    #[error("{0}")]
    Device(String),
}

impl Error {
    /// A [`BadValue`](Error::BadValue) from its four parts.
    pub fn bad_value(
        field: &'static str,
        value: impl Display,
        allowed: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Error::BadValue {
            field,
            value: shown(&value.to_string()),
            allowed: allowed.into(),
            hint: hint.into(),
        }
    }
}

/// The message with each field name spelled for one interface (such as the command line).
///
/// A field name in a message stands between backticks, as `` `buffer_size` ``.
///
/// ```
/// let told = misdeal_core::spell_fields("give `buffer_size` too", |field| format!("--{}", field.replace('_', "-")));
/// assert_eq!(told, "give --buffer-size too");
/// ```
pub fn spell_fields(message: &str, spell: impl Fn(&str) -> String) -> String {
    let is_field = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    let (mut told, mut rest) = (String::new(), message);
    while let Some((before, after)) = rest.split_once('`') {
        told += before;
        if let Some((field, beyond)) = after.split_once('`').filter(|(name, _)| is_field(name)) {
            told += &spell(field);
            rest = beyond;
        } else {
            told.push('`');
            rest = after;
        }
    }
    told + rest
}

/// Longer numbers are written as powers of ten.
const MOST_DIGITS: usize = 24;

/// The value as it was given, or as a power of ten if the number is very long.
fn shown(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > MOST_DIGITS => format!("{number:e}"),
        _ => value.to_owned(),
    }
}

/// `Result` with the core's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_few_digits() {
        let shown = |value: f64| shown(&value.to_string());
        assert_eq!(shown(1e300), "1e300");
        assert_eq!(shown(-2.5e-300), "-2.5e-300");
        assert_eq!([0.1 + 0.2, 1e7, f64::NAN].map(shown), ["0.30000000000000004", "10000000", "NaN"]);
        assert_eq!(super::shown(&u64::MAX.to_string()), u64::MAX.to_string());
    }
}
