//! The one error type of the core: every refusal names the field, the value and what is allowed.

use std::fmt::Display;

/// Why a setting, a score or a store was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value lies outside its allowed range.
    #[error("{field} is {value}, but {allowed} is allowed; {hint}")]
    BadValue {
        /// The field of the vocabulary, e.g. `noise_multiplier`.
        field: &'static str,
        /// The value as it was given.
        value: String,
        /// The allowed range, as words that fit "but … is allowed".
        allowed: String,
        /// What the user can do.
        hint: String,
    },
    /// Two stores cannot be joined, or a store does not belong to this run.
    #[error("{0}")]
    Mismatch(String),
    /// The bytes are not a store, or not a whole one.
    #[error("{0}")]
    Corrupt(String),
    /// The device to compute on is missing or failed: the request was fine.
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

/// The most characters of a number that is shown digit by digit.
const MOST_DIGITS: usize = 24;

/// A value as it was given; numbers of hundreds of digits as powers of ten.
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
