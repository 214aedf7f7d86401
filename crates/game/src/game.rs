//! The distinguishing game on the batched Gaussian mechanism, prepared for an engine.

use crate::target_model::TargetModel;
use misdeal_core::{Setting, Stream, World};
use misdeal_schemes::{PositionLaw, Positions};
use std::ops::Range;

/// A setting in the form that an engine needs.
///
/// It has the target's position and effect, and the adversary's assumptions.
///
/// Two simplifications are made here once, for every engine. They do not change the law of any score:
///
/// - Some batches can hold the target neither in the mechanism nor in the adversary's model. They carry no information
///   and are not drawn ([`Game::batches`]).
/// - If both keep the target's batch for all epochs (shuffle-once, fixed order), the sums of a batch's outputs over the
///   epochs are sufficient. So the engine simulates one epoch of averages, with the noise divided by the square root of
///   the epochs.
///
/// Noise is assigned to the target's batches first. Draw 0 of an epoch belongs to the first batch with the target, and
/// the next draws to the others with it. Then follow the batches without the target, in order. The noise of all batches
/// is independent and identically distributed, so this order changes no law. If the score does not depend on the
/// target's position, an engine need not know it.
#[derive(Debug, Clone)]
pub struct Game {
    /// The setting of the audit.
    pub setting: Setting,
    /// The random stream of the trials.
    pub stream: Stream,
    /// The noise multiplier of one drawn output.
    pub noise_multiplier: f64,
    /// The number of epochs to draw.
    pub epochs: u64,
    /// The batches of an epoch that are drawn.
    pub batches: Range<u64>,
    /// The model of the real mechanism.
    pub mechanism: TargetModel,
    /// The model that the adversary assumes.
    pub adversary: TargetModel,
    /// The sampler of the target's batches.
    pub positions: Positions,
}

impl Game {
    /// A game for a validated setting, with the processors' stream.
    pub fn new(setting: &Setting) -> Self {
        Self::with_stream(setting, Stream::new(&setting.hash()))
    }

    /// A game for a validated setting, with a given stream of its hash.
    pub fn with_stream(setting: &Setting, stream: Stream) -> Self {
        let mechanism = TargetModel::new(setting.scheme, setting);
        let adversary = TargetModel::new(setting.scoring_scheme(), setting);
        let kept = |model: &TargetModel| matches!(model.law, PositionLaw::KeptForAllEpochs(_));
        let (noise_multiplier, epochs) = if kept(&mechanism) && kept(&adversary) {
            (setting.noise_multiplier / (setting.epochs as f64).sqrt(), 1)
        } else {
            (setting.noise_multiplier, setting.epochs)
        };
        let range = |model: &TargetModel| match &model.law {
            PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => weights.range(),
            PositionLaw::EachStep { .. } => 0..setting.steps_per_epoch,
        };
        let (ours, theirs) = (range(&mechanism), range(&adversary));
        Game {
            setting: setting.clone(),
            stream,
            noise_multiplier,
            epochs,
            batches: ours.start.min(theirs.start)..ours.end.max(theirs.end),
            positions: Positions::new(&mechanism.law, setting.steps_per_epoch),
            mechanism,
            adversary,
        }
    }

    /// The number of batches drawn in an epoch.
    pub fn batches_per_epoch(&self) -> u64 {
        self.batches.end - self.batches.start
    }

    /// The number of Gaussian numbers drawn in a trial.
    pub fn draws_per_trial(&self) -> u64 {
        self.batches_per_epoch() * self.epochs
    }

    /// The index of an epoch's first draw, the noise of the target's batch.
    ///
    /// Each epoch begins with a new block of the stream.
    pub fn first_draw(&self, epoch: u64) -> u64 {
        epoch * self.batches_per_epoch().next_multiple_of(self.stream.draws_per_block())
    }

    /// Whether the first epoch decides the target's position for all epochs.
    pub fn position_is_kept(&self) -> bool {
        matches!(self.mechanism.law, PositionLaw::KeptForAllEpochs(_))
    }

    /// The shift of the target's batches in a world.
    pub fn shift(&self, world: World) -> f64 {
        self.mechanism.shifts.in_world(world)
    }
}
