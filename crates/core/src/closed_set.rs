//! Enums with named values, declared once for the command line, JSON, Python and messages.

use crate::{Error, Result};
use std::str::FromStr;
use strum::{VariantArray, VariantNames};

/// An enum whose values have names. `strum` derives everything that it needs.
///
/// ```
/// use misdeal_core::{ClosedSet, ThreatModel};
/// assert_eq!(ThreatModel::from_name("worst-case")?, ThreatModel::WorstCase);
/// assert_eq!(ThreatModel::WorstCase.name(), "worst-case");
/// assert!(ThreatModel::from_name("worst").is_err());
/// # Ok::<(), misdeal_core::Error>(())
/// ```
pub trait ClosedSet: Copy + FromStr + Into<&'static str> + VariantArray + VariantNames {
    /// The name of the field that holds such a value, for error messages.
    const FIELD: &'static str;

    /// All values, in declaration order.
    fn all() -> &'static [Self] {
        <Self as VariantArray>::VARIANTS
    }

    /// The names of all values.
    fn names() -> &'static [&'static str] {
        <Self as VariantNames>::VARIANTS
    }

    /// The value's name on the command line and in JSON.
    fn name(self) -> &'static str {
        self.into()
    }

    /// The value called `name`.
    ///
    /// # Errors
    /// An unknown name.
    fn from_name(name: &str) -> Result<Self> {
        name.parse().map_err(|_| {
            let allowed = format!("one of {}", Self::names().join(", "));
            Error::bad_value(Self::FIELD, name, allowed, "check the spelling")
        })
    }
}
