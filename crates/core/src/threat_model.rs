//! The adversary's powers, and which data sets count as neighbours.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

crate::closed_set! {
    "threat_model",
    /// The three adversaries of the paper, the weakest first.
    pub enum ThreatModel {
        /// Chooses the target's gradient and nothing else.
        TargetCanary,
        /// Also chooses one opposing gradient in every batch without the target.
        PartiallyInformed,
        /// Chooses every gradient.
        WorstCase,
    }
}

/// Which pairs of data sets the privacy guarantee covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
