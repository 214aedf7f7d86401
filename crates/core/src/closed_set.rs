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

/// Declares a [`ClosedSet`]: the field that holds it, for errors, and the enum. Names are its variants with hyphens.
///
/// It derives all that plain values need; crates that use it have `schemars`, `serde` and `strum`. Further derives and attributes stand
/// before the enum.
///
/// ```
/// use misdeal_core::ClosedSet;
///
/// misdeal_core::closed_set! {
///     "side",
///     /// A side of a bound.
///     #[derive(Default)]
///     pub enum Side {
///         /// Never too small.
///         #[default]
///         AtMost,
///         /// Never too large.
///         AtLeast,
///     }
/// }
/// assert_eq!(Side::from_name("at-least")?, Side::AtLeast);
/// assert_eq!(Side::default().to_string(), "at-most");
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[macro_export]
macro_rules! closed_set {
    ($field:literal, $(#[$attribute:meta])* $visibility:vis enum $name:ident { $($values:tt)* }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray, strum::VariantNames)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        $(#[$attribute])*
        $visibility enum $name { $($values)* }

        impl $crate::ClosedSet for $name {
            const FIELD: &'static str = $field;
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad($crate::ClosedSet::name(*self))
            }
        }
    };
}
