//! The nine batch schemes, each as a sampler of batches and as a law of the target's position.
//!
//! Training needs real batches and uses a [`Sampler`]. The mechanism only needs the target's position and uses
//! [`position_law`]. `tests/law_and_sampler.rs` compares the two for every scheme.
//!
//! ```
//! use misdeal_core::{Setting, Stream, World};
//! use misdeal_schemes::{PositionLaw, Weights, position_law, sampler};
//! let setting = Setting { steps_per_epoch: 4, batch_size: 2, ..Setting::default() }.validated()?;
//! let stream = Stream::new(&setting.hash());
//! let mut sampler = sampler(&setting, &stream, World::In, 0);
//! for batch in sampler.next_epoch().iter() {
//!     assert_eq!(batch.len(), 2);
//! }
//! let law = position_law(setting.scheme, &setting);
//! assert_eq!(law, PositionLaw::OnceAnEpoch(Weights::Uniform(0..4)));
//! # Ok::<(), misdeal_core::Error>(())
//! ```

mod balls_in_bins;
mod batch_rng;
mod batch_then_shuffle;
mod batches;
pub mod deal;
mod fixed_order;
mod partial_shuffle;
mod poisson;
mod position_law;
mod positions;
mod shuffle;
mod shuffle_once;
mod stream_shuffle;
mod without_replacement;

pub use batch_rng::BatchRng;
pub use batches::Batches;
pub use position_law::{PositionLaw, Weights};
pub use positions::{Epoch, Positions};

use misdeal_core::{BatchScheme, Setting, Stream, World};

/// Puts the records of a data set into batches, epoch after epoch.
pub trait Sampler: Send {
    /// The `steps_per_epoch` batches of the next epoch. The following epoch reuses their memory.
    fn next_epoch(&mut self) -> &Batches;
}

/// The sampler of `setting.scheme` for one trial, before its first epoch.
///
/// Every batch is a function of (`stream`, `world`, `trial`) and the setting's scheme and sizes. An epoch takes at most
/// O(`dataset_size`) time and up to 16 bytes of memory per record.
pub fn sampler(setting: &Setting, stream: &Stream, world: World, trial: u64) -> Box<dyn Sampler> {
    let rng = BatchRng::new(stream, world, trial);
    match setting.scheme {
        BatchScheme::Poisson => Box::new(poisson::Poisson::new(setting, rng)),
        BatchScheme::Shuffle => Box::new(shuffle::Shuffle::new(setting, rng)),
        BatchScheme::ShuffleOnce => Box::new(shuffle_once::ShuffleOnce::new(setting, rng)),
        BatchScheme::PartialShuffle { buffer_size } => {
            Box::new(partial_shuffle::PartialShuffle::new(buffer_size, setting, rng))
        }
        BatchScheme::StreamShuffle { buffer_size } => {
            Box::new(stream_shuffle::StreamShuffle::new(buffer_size, setting, rng))
        }
        BatchScheme::BatchThenShuffle => Box::new(batch_then_shuffle::BatchThenShuffle::new(setting, rng)),
        BatchScheme::BallsInBins => Box::new(balls_in_bins::BallsInBins::new(setting, rng)),
        BatchScheme::WithoutReplacement => {
            Box::new(without_replacement::WithoutReplacement::new(setting, rng))
        }
        BatchScheme::FixedOrder => Box::new(fixed_order::FixedOrder::new(setting)),
    }
}

/// The probabilities that record `setting.target_index` is in each batch under `scheme`.
///
/// `scheme` may differ from the setting's own, because an adversary may assume another one.
///
/// The weights are accurate to a few units in the last place and sum to one within 1e-12. The cost is at most one
/// operation for each batch of an epoch, for data sets of any size.
pub fn position_law(scheme: BatchScheme, setting: &Setting) -> PositionLaw {
    match scheme {
        BatchScheme::Poisson => poisson::law(setting),
        BatchScheme::Shuffle => shuffle::law(setting),
        BatchScheme::ShuffleOnce => shuffle_once::law(setting),
        BatchScheme::PartialShuffle { buffer_size } => partial_shuffle::law(buffer_size, setting),
        BatchScheme::StreamShuffle { buffer_size } => stream_shuffle::law(buffer_size, setting),
        BatchScheme::BatchThenShuffle => batch_then_shuffle::law(setting),
        BatchScheme::BallsInBins => balls_in_bins::law(setting),
        BatchScheme::WithoutReplacement => without_replacement::law(setting),
        BatchScheme::FixedOrder => fixed_order::law(setting),
    }
}

#[cfg(test)]
mod tests;
