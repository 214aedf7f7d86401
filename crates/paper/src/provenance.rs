//! How sure it is that a published setting is what its authors trained with.

use serde::{Deserialize, Serialize, Serializer};

/// Where a setting comes from. The files in `paper/` say `exact`, `derived` or `guess`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Provenance {
    /// The paper prints it.
    #[serde(rename = "exact")]
    AsPrinted,
    /// The authors' public code has it, or it follows from that.
    #[serde(rename = "derived")]
    FromPublicCode,
    /// It is a point of an assumed grid.
    #[serde(rename = "guess")]
    Assumed,
}

impl Provenance {
    /// In words, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Provenance::AsPrinted => "as printed",
            Provenance::FromPublicCode => "from public code",
            Provenance::Assumed => "assumed",
        }
    }
}

impl Serialize for Provenance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
