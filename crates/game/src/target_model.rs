//! What the target's presence does to the outputs, scheme by scheme and adversary by adversary.

use misdeal_core::{BatchScheme, Setting, ThreatModel, World};
use misdeal_schemes::PositionLaw;

/// The mean of the target's batch in each world, in outputs recentred so that every other batch is N(0, s^2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shifts {
    /// With the target present.
    pub present: f64,
    /// With the target zeroed out.
    pub zeroed: f64,
}

impl Shifts {
    /// The shifts of a scheme under a threat model.
    ///
    /// | threat model | present | zeroed out |
    /// |---|---|---|
    /// | worst case, partially informed; fixed batch sizes | 2 | 1 |
    /// | target canary; and every threat model under random batch sizes | 1 | 0 |
    /// | worst case against batch-then-shuffle: the target's batch +1, all other records -1 | 2B | 2B - 1 |
    ///
    /// The opposing gradient of the first row depends on whether the target is in the batch. With fixed batch sizes
    /// this only renames "all others are -1" by a constant. With random sizes (poisson, balls-in-bins) it would change
    /// the mechanism and accuse the innocent (one Poisson step at q = 0.01: 2.40 instead of 0.20), so there it is never
    /// inserted.
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

/// Where the target may be and what it does there: how the mechanism behaves, or what an adversary believes.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetModel {
    /// The law of its batches.
    pub law: PositionLaw,
    /// Its effect.
    pub shifts: Shifts,
}

impl TargetModel {
    /// The model of a scheme in a setting (which may run another scheme).
    pub fn new(scheme: BatchScheme, setting: &Setting) -> Self {
        TargetModel {
            law: misdeal_schemes::position_law(scheme, setting),
            shifts: Shifts::new(scheme, setting.threat_model, setting.batch_size),
        }
    }
}
