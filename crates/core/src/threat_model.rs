//! What the adversary may do, and which data sets count as neighbours.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The three adversaries of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreatModel {
    /// Chooses the target's gradient and nothing else.
    TargetCanary,
    /// Also chooses one opposing gradient in every batch without the target.
    PartiallyInformed,
    /// Chooses every gradient.
    WorstCase,
}

impl ThreatModel {
    /// All threat models, the weakest adversary first.
    pub const ALL: [ThreatModel; 3] = [Self::TargetCanary, Self::PartiallyInformed, Self::WorstCase];

    /// The threat model called `name`.
    ///
    /// # Errors
    /// An unknown name.
    pub fn from_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let allowed = format!("one of {}", Self::ALL.map(Self::name).join(", "));
            Error::bad_value("threat_model", name, allowed, "check the spelling")
        })
    }

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::TargetCanary => "target-canary",
            Self::PartiallyInformed => "partially-informed",
            Self::WorstCase => "worst-case",
        }
    }
}

impl fmt::Display for ThreatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which pairs of data sets the guarantee is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One record is replaced by a record whose gradient is zero.
    #[default]
    ZeroOut,
    /// One record is added or removed.
    AddRemove,
    /// One record is replaced by another.
    ReplaceOne,
}

/// The two worlds of the distinguishing game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// The target record is present (the paper's `D`).
    In,
    /// The target record is zeroed out (the paper's `D'`).
    Out,
}

impl World {
    /// Both worlds, `In` first.
    pub const BOTH: [World; 2] = [World::In, World::Out];
}
