//! Facts about each batch scheme, for bounds and for curves.
//!
//! Proofs: `docs/proofs/overview.md`.

use crate::buffer_weights::{BatchWeights, block_weights, sliding_weights};
use crate::pairs::{LEAST_NOISE_MULTIPLIER, ShiftPair};
use crate::shuffle_max::LargestOutput;
use misdeal_core::{BatchScheme, Result, Setting};

/// The proven facts about a setting's scheme under zero-out adjacency, for all data sets and adversaries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SchemeFacts {
    /// The target's batch is known in every epoch. The fixed order's Gaussian pair is exactly the scheme's leakage.
    FixedOrder,
    /// A record is in every batch with the setting's sampling probability, independently. The pair of one step is
    /// proven to dominate and is attained, also under add-remove adjacency.
    Poisson,
    /// The pair of one epoch is proven to dominate and is attained. Both its bounds hold for the scheme.
    DominatingPair(ShiftPair),
    /// Every record is used once per epoch. The scheme leaks at most as much as the fixed order
    /// (`docs/proofs/fixed-order.md`).
    OnceAnEpoch(LowerBounds),
    /// Every step draws a subset of fixed size that contains a record with the setting's sampling probability. The
    /// scheme leaks at least as much as Poisson sampling and at most
    /// [`RevealedUses`](crate::revealed_uses::RevealedUses) (`docs/proofs/told-uses.md`).
    Subsets,
}

/// Lower bounds for a record that is used once per epoch. If there are two, both are valid.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LowerBounds {
    /// The bound from all outputs of an epoch. Only the pair's lower bound holds for the scheme, because adaptive
    /// gradients can leak more than this pair. `None` if there is too little noise to compute it, and for batches that
    /// are made before they are shuffled.
    pub pair: Option<ShiftPair>,
    /// The bound from the largest output of an epoch (Chua et al.), for any noise. `None` if batches are not equally
    /// likely, and for balls-in-bins.
    pub largest_output: Option<LargestOutput>,
    /// The number of epochs.
    pub epochs: u64,
}

impl SchemeFacts {
    /// The facts about the scheme of `setting`. For a buffered scheme, the lower bound is for its target.
    ///
    /// # Errors
    /// The setting was not validated, and its pair cannot be computed.
    pub fn of(setting: &Setting) -> Result<Self> {
        let (noise, steps, epochs) = (setting.noise_multiplier, setting.steps_per_epoch, setting.epochs);
        Ok(match setting.scheme {
            BatchScheme::FixedOrder | BatchScheme::StreamShuffle { buffer_size: 1 } => Self::FixedOrder,
            BatchScheme::Poisson => Self::Poisson,
            BatchScheme::Shuffle => Self::OnceAnEpoch(LowerBounds::hidden_among(steps, noise, epochs)?),
            // The sums over epochs are sufficient, so this equals one epoch with less noise.
            BatchScheme::ShuffleOnce => {
                Self::OnceAnEpoch(LowerBounds::hidden_among(steps, noise / (epochs as f64).sqrt(), 1)?)
            }
            BatchScheme::PartialShuffle { buffer_size } => {
                match batches_of_block(buffer_size, setting.batch_size) {
                    Some(1) => Self::FixedOrder,
                    Some(batches) => Self::OnceAnEpoch(LowerBounds::hidden_among(batches, noise, epochs)?),
                    None => {
                        let weights = block_weights(setting, buffer_size);
                        Self::OnceAnEpoch(LowerBounds::behind(&weights, noise, epochs)?)
                    }
                }
            }
            BatchScheme::StreamShuffle { buffer_size } => {
                let weights = sliding_weights(setting, buffer_size);
                Self::OnceAnEpoch(LowerBounds::behind(&weights, noise, epochs)?)
            }
            BatchScheme::BatchThenShuffle => {
                let largest_output =
                    Some(LargestOutput::batch_then_shuffle(noise, steps, setting.batch_size));
                Self::OnceAnEpoch(LowerBounds { pair: None, largest_output, epochs })
            }
            // Its shifts are half as large as shuffling's, so the smallest noise is also half.
            BatchScheme::BallsInBins if noise < 0.5 * LEAST_NOISE_MULTIPLIER => {
                Self::OnceAnEpoch(LowerBounds { pair: None, largest_output: None, epochs })
            }
            BatchScheme::BallsInBins => Self::DominatingPair(ShiftPair::balls_in_bins(noise, steps)?),
            BatchScheme::WithoutReplacement => Self::Subsets,
        })
    }
}

impl LowerBounds {
    /// Lower bounds if the target's batch is one of `batches`, all equally likely.
    fn hidden_among(batches: u64, noise: f64, epochs: u64) -> Result<Self> {
        let pair = if_in_reach(noise, || ShiftPair::shuffle(noise, batches))?;
        Ok(LowerBounds { pair, largest_output: Some(LargestOutput::shuffle(noise, batches)), epochs })
    }

    /// Lower bounds if the target's batch is t with the probability that `weights` lists.
    fn behind(weights: &BatchWeights, noise: f64, epochs: u64) -> Result<Self> {
        let BatchWeights { listed, each, rest } = weights;
        let pair = if_in_reach(noise, || ShiftPair::averaged_shuffle(noise, listed, *each, *rest))?;
        Ok(LowerBounds { pair, largest_output: None, epochs })
    }
}

/// Shuffling's pair, if there is enough noise to compute it.
fn if_in_reach(noise: f64, pair: impl FnOnce() -> Result<ShiftPair>) -> Result<Option<ShiftPair>> {
    (noise >= LEAST_NOISE_MULTIPLIER).then(pair).transpose()
}

/// The number of batches that a block of `buffer_size` records fills evenly.
fn batches_of_block(buffer_size: u64, batch_size: u64) -> Option<u64> {
    if buffer_size.is_multiple_of(batch_size) {
        Some(buffer_size / batch_size)
    } else {
        batch_size.is_multiple_of(buffer_size).then_some(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(scheme: BatchScheme, noise_multiplier: f64, epochs: u64) -> SchemeFacts {
        SchemeFacts::of(&Setting { scheme, noise_multiplier, epochs, ..Setting::default() }).unwrap()
    }

    #[test]
    fn special_cases_coincide() {
        for buffer_size in [100, 20, 1] {
            assert_eq!(at(BatchScheme::PartialShuffle { buffer_size }, 1.0, 4), SchemeFacts::FixedOrder);
        }
        assert_eq!(at(BatchScheme::StreamShuffle { buffer_size: 1 }, 1.0, 4), SchemeFacts::FixedOrder);
        let everything = BatchScheme::PartialShuffle { buffer_size: 10_000 };
        assert_eq!(at(everything, 1.0, 4), at(BatchScheme::Shuffle, 1.0, 4));
        assert_eq!(at(BatchScheme::ShuffleOnce, 2.0, 4), at(BatchScheme::Shuffle, 1.0, 1));
    }

    /// Whether a pair can be computed depends on the noise of one output, which is less for an order that is reused.
    #[test]
    fn pairs_are_in_reach_from_their_least_noise_on() {
        let has_pair = |scheme, noise, epochs| match at(scheme, noise, epochs) {
            SchemeFacts::DominatingPair(_) => true,
            SchemeFacts::OnceAnEpoch(at_least) => at_least.pair.is_some(),
            other => panic!("{scheme}: {other:?}"),
        };
        let buffered = BatchScheme::StreamShuffle { buffer_size: 500 };
        for (scheme, least) in
            [(BatchScheme::Shuffle, 0.1), (buffered, 0.1), (BatchScheme::BallsInBins, 0.05)]
        {
            assert!(has_pair(scheme, least, 4) && !has_pair(scheme, 0.99 * least, 4), "{scheme}");
        }
        assert!(has_pair(BatchScheme::ShuffleOnce, 0.2, 4) && !has_pair(BatchScheme::ShuffleOnce, 0.19, 4));
    }
}
