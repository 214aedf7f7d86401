//! The law of the target's position: all that the mechanism needs from a batch scheme.

use std::ops::Range;

/// The random law of the target's batches over a run.
#[derive(Debug, Clone, PartialEq)]
pub enum PositionLaw {
    /// In exactly one batch of every epoch, drawn again in each epoch.
    OnceAnEpoch(Weights),
    /// In exactly one batch, which is the same in every epoch.
    KeptForAllEpochs(Weights),
    /// In each step's batch independently, with this probability.
    EachStep {
        /// The probability that the target is in a given batch.
        probability: f64,
    },
}

/// The probabilities of the batches of an epoch.
///
/// Batches outside a range have probability zero.
#[derive(Debug, Clone, PartialEq)]
pub enum Weights {
    /// The same weight for every batch of the range.
    Uniform(Range<u64>),
    /// The weight `weights[i]` for batch `first + i`. The weights sum to one.
    Listed {
        /// The first batch with a listed weight.
        first: u64,
        /// The weights of that batch and the following ones.
        weights: Vec<f64>,
    },
}

impl Weights {
    /// The weights of consecutive batches from `first` on.
    ///
    /// If all weights are equal, bit for bit, the result is [`Weights::Uniform`].
    #[allow(clippy::float_cmp)]
    pub fn new(first: u64, weights: Vec<f64>) -> Self {
        if weights.windows(2).all(|pair| pair[0] == pair[1]) {
            Weights::Uniform(first..first + weights.len() as u64)
        } else {
            Weights::Listed { first, weights }
        }
    }

    /// Whether every batch of the range has the same weight.
    pub fn is_uniform(&self) -> bool {
        matches!(self, Weights::Uniform(_))
    }

    /// The range of batches. Outside it every weight is zero.
    pub fn range(&self) -> Range<u64> {
        match self {
            Weights::Uniform(range) => range.clone(),
            Weights::Listed { first, weights } => *first..first + weights.len() as u64,
        }
    }

    /// The probability that the target is in `batch`.
    pub fn weight(&self, batch: u64) -> f64 {
        let range = self.range();
        match self {
            _ if !range.contains(&batch) => 0.0,
            Weights::Uniform(_) => 1.0 / (range.end - range.start) as f64,
            Weights::Listed { first, weights } => weights[(batch - first) as usize],
        }
    }
}
