//! The effect of the target on the outputs, for each scheme and threat model.

use misdeal_core::{BatchScheme, Setting, ThreatModel, World};
use misdeal_schemes::PositionLaw;

/// The mean of the target's batch in each world.
///
/// Outputs are recentred so that every other batch is N(0, s^2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shifts {
    /// The mean with the target present.
    pub present: f64,
    /// The mean with the target zeroed out.
    pub zeroed: f64,
}

impl Shifts {
    /// The shifts of a scheme under a threat model.
    ///
    /// | threat model | present | zeroed out |
    /// |---|---|---|
    /// | worst case or partially informed, with fixed batch sizes | 2 | 1 |
    /// | target canary, or any threat model with random batch sizes | 1 | 0 |
    /// | worst case with batch-then-shuffle: gradients +1 in the target's batch, -1 in all others | 2B | 2B - 1 |
    ///
    /// The opposing gradient of the first row depends on whether the target is in the batch. With fixed batch sizes
    /// this only adds a constant to "all other records are -1". With random sizes (poisson, balls-in-bins) it would
    /// change the mechanism and report leakage that does not exist. Example: 2.40 instead of 0.20 for one Poisson step
    /// at q = 0.01. So it is never inserted there.
    pub fn new(scheme: BatchScheme, threat_model: ThreatModel, batch_size: u64) -> Self {
        let present = match (scheme, threat_model) {
            (scheme, _) if !scheme.has_fixed_batch_sizes() => 1.0,
            (_, ThreatModel::TargetCanary) => 1.0,
            (BatchScheme::BatchThenShuffle, ThreatModel::WorstCase) => 2.0 * batch_size as f64,
            (_, ThreatModel::PartiallyInformed | ThreatModel::WorstCase) => 2.0,
        };
        Shifts { present, zeroed: present - 1.0 }
    }

    /// The shift in a world.
    pub fn in_world(self, world: World) -> f64 {
        match world {
            World::In => self.present,
            World::Out => self.zeroed,
        }
    }
}

/// A model of the target's position and effect: of the real mechanism, or as an adversary assumes it.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetModel {
    /// The law of the target's batches.
    pub law: PositionLaw,
    /// The target's effect.
    pub shifts: Shifts,
}

impl TargetModel {
    /// The model of `scheme` in a setting, which may run another scheme.
    pub fn new(scheme: BatchScheme, setting: &Setting) -> Self {
        TargetModel {
            law: misdeal_schemes::position_law(scheme, setting),
            shifts: Shifts::new(scheme, setting.threat_model, setting.batch_size),
        }
    }
}
