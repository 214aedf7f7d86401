//! The distinguishing game on the batched Gaussian mechanism, ready to be played.

use crate::target_model::TargetModel;
use misdeal_core::{Setting, Stream, World};
use misdeal_schemes::{PositionLaw, Positions};
use std::ops::Range;

/// A setting turned into what an engine needs: where the target goes, what it does, and what the adversary believes.
///
/// Two simplifications are made here, once, for every engine, and change no score's law:
///
/// - Batches in which neither the mechanism nor the adversary's model can put the target carry no information, and are
///   not drawn ([`Game::batches`]).
/// - If both keep the target's batch for all epochs (shuffle-once, fixed order), the sums of a batch's outputs over the
///   epochs are sufficient, so one epoch of averages is played, with the noise divided by the square root of the epochs.
///
/// Noise is dealt to batches target first: draw 0 of an epoch belongs to the first batch with the target, and so on for
/// all batches with it, and then the batches without it follow in order. The noise of all batches is independent and
/// identically distributed, so this renaming changes no law; where the score does not depend on the target's position, an
/// engine need not know the position.
#[derive(Debug, Clone)]
pub struct Game {
    /// What is audited.
    pub setting: Setting,
    /// All random bits.
    pub stream: Stream,
    /// The noise of one drawn output.
    pub noise_multiplier: f64,
    /// Epochs to draw.
    pub epochs: u64,
    /// The batches of an epoch that are drawn.
    pub batches: Range<u64>,
    /// What really happens.
    pub mechanism: TargetModel,
    /// What the adversary believes.
    pub adversary: TargetModel,
    /// Draws the target's batches.
    pub positions: Positions,
}

impl Game {
    /// Prepares a validated setting, with the processors' stream.
    pub fn new(setting: &Setting) -> Self {
        Self::with_stream(setting, Stream::new(&setting.hash()))
    }

    /// Prepares a validated setting, with a stream of its hash.
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

    /// Batches drawn in an epoch.
    pub fn batches_per_epoch(&self) -> u64 {
        self.batches.end - self.batches.start
    }

    /// Gaussian numbers drawn in a trial.
    pub fn draws_per_trial(&self) -> u64 {
        self.batches_per_epoch() * self.epochs
    }

    /// The first draw of an epoch, the noise of the target's batch: epochs begin with a block of the stream.
    pub fn first_draw(&self, epoch: u64) -> u64 {
        epoch * self.batches_per_epoch().next_multiple_of(self.stream.draws_per_block())
    }

    /// Whether the first epoch decides the target's position for all.
    pub fn position_is_kept(&self) -> bool {
        matches!(self.mechanism.law, PositionLaw::KeptForAllEpochs(_))
    }

    /// The shift of the target's batches in a world.
    pub fn shift(&self, world: World) -> f64 {
        self.mechanism.shifts.in_world(world)
    }
}
