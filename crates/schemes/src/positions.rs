//! Draws the target's batches from their position law.

use crate::position_law::{PositionLaw, Weights};
use misdeal_core::{Purpose, Stream, World};

/// A [`PositionLaw`], prepared for drawing by inversion of 64 random bits.
#[derive(Debug, Clone)]
pub enum Positions {
    /// One batch, uniform on consecutive batches.
    Uniform {
        /// The first batch.
        first: u64,
        /// The number of batches.
        count: u64,
    },
    /// One batch by inversion: the offset is the number of thresholds that the random bits reach.
    Listed {
        /// The first batch.
        first: u64,
        /// The distribution function times 2^64.
        thresholds: Vec<u64>,
    },
    /// The target joins each batch independently. The number of its batches in an epoch is drawn first.
    EachStep {
        /// The distribution function of the number of the target's batches, times 2^64.
        thresholds: Vec<u64>,
    },
}

impl Positions {
    /// Prepares `law` for epochs of `steps_per_epoch` steps.
    pub fn new(law: &PositionLaw, steps_per_epoch: u64) -> Self {
        match law {
            PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights) => match weights {
                Weights::Uniform(range) => {
                    Self::Uniform { first: range.start, count: range.end - range.start }
                }
                Weights::Listed { first, weights } => {
                    Self::Listed { first: *first, thresholds: thresholds(weights.iter().copied()) }
                }
            },
            PositionLaw::EachStep { probability } => Self::EachStep {
                thresholds: thresholds(binomial_masses(steps_per_epoch, *probability).into_iter()),
            },
        }
    }

    /// The target's batch, in a scheme that uses the target once per epoch.
    pub fn batch(&self, bits: u64) -> u64 {
        match self {
            Self::Uniform { first, count } => first + scaled(bits, *count),
            Self::Listed { first, thresholds } => first + rank(thresholds, bits),
            Self::EachStep { .. } => unreachable!("a target in each step has no single batch"),
        }
    }

    /// The number of batches of an epoch that hold the target.
    pub fn inclusions(&self, bits: u64) -> u64 {
        match self {
            Self::EachStep { thresholds } => rank(thresholds, bits),
            Self::Uniform { .. } | Self::Listed { .. } => 1,
        }
    }

    /// The target's batches in one epoch, ascending.
    ///
    /// Draw `decided_by` of the trial's position bits decides the batch, or the number of batches. Further draws, with
    /// indices beyond the last epoch's, decide which batches these are. They use Floyd's method for a uniform subset.
    pub fn in_epoch(&self, stream: &Stream, world: World, trial: u64, epoch: Epoch) -> Vec<u64> {
        let bits = |draw: u64| stream.uniform(Purpose::Position, world, trial, draw as u32);
        let first = bits(epoch.decided_by);
        if !matches!(self, Self::EachStep { .. }) {
            return vec![self.batch(first)];
        }
        let count = self.inclusions(first);
        let mut chosen: Vec<u64> = Vec::with_capacity(count as usize);
        for i in 0..count {
            let last = epoch.steps - count + i;
            let more = bits(epoch.of + epoch.decided_by * epoch.steps + i);
            let candidate = scaled(more, last + 1);
            chosen.push(if chosen.contains(&candidate) { last } else { candidate });
        }
        chosen.sort_unstable();
        chosen
    }
}

/// The epoch of a run for which positions are drawn.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// The epoch's index, or zero if the first epoch decides for all epochs.
    pub decided_by: u64,
    /// The number of epochs in the run.
    pub of: u64,
    /// The number of steps in an epoch.
    pub steps: u64,
}

/// A uniform number below `count` from 64 random bits; the bias is below `count` / 2^64.
fn scaled(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

/// The number of thresholds that `bits` reaches, at most the last index.
fn rank(thresholds: &[u64], bits: u64) -> u64 {
    thresholds.partition_point(|&threshold| threshold <= bits).min(thresholds.len() - 1) as u64
}

/// 2^64 times the running sums of `masses`.
fn thresholds(masses: impl Iterator<Item = f64>) -> Vec<u64> {
    let mut sum = 0.0;
    masses
        .map(|mass| {
            sum += mass;
            (sum * 2.0_f64.powi(64)) as u64
        })
        .collect()
}

/// The probabilities P(Binomial(n, p) = k) for k = 0, 1, ..., for means of about one.
///
/// The list ends when a probability beyond the mean is below 2^-70.
fn binomial_masses(n: u64, p: f64) -> Vec<f64> {
    if p >= 1.0 {
        let mut certain = vec![0.0; n as usize];
        certain.push(1.0);
        return certain;
    }
    let mut mass = libm::exp(n as f64 * libm::log1p(-p));
    let mut masses = Vec::new();
    for k in 0..=n {
        if k as f64 > n as f64 * p && mass < 2.0_f64.powi(-70) {
            break;
        }
        masses.push(mass);
        mass *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
    }
    masses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_masses_are_the_law() {
        for (n, p) in [(1, 1.0), (1, 0.5), (2, 0.5), (100, 0.01), (10_000, 1e-4)] {
            let masses = binomial_masses(n, p);
            let total: f64 = masses.iter().sum();
            let mean: f64 = masses.iter().enumerate().map(|(k, m)| k as f64 * m).sum();
            assert!((total - 1.0).abs() < 1e-12 && (mean - n as f64 * p).abs() < 1e-9, "{n} {p}: {masses:?}");
        }
    }

    #[test]
    fn inversion_covers_every_batch_in_order() {
        let law = PositionLaw::OnceAnEpoch(Weights::new(5, vec![0.25, 0.5, 0.25]));
        let positions = Positions::new(&law, 10);
        let quarter = 1_u64 << 62;
        assert_eq!([0, quarter, 3 * quarter, u64::MAX].map(|bits| positions.batch(bits)), [5, 6, 7, 7]);
    }
}
