//! The adversary's powers, and which data sets count as neighbours.

use crate::ClosedSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

/// The paper's three adversaries, the weakest first.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ThreatModel {
    /// The adversary chooses the target's gradient only.
    TargetCanary,
    /// The adversary also chooses one opposing gradient in every batch without the target.
    PartiallyInformed,
    /// The adversary chooses every gradient.
    WorstCase,
}

impl ClosedSet for ThreatModel {
    const FIELD: &'static str = "threat_model";
}

impl fmt::Display for ThreatModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
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
