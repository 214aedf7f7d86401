//! The pair of laws that a setting stands for.

use misdeal_core::{Adjacency, Error, Result, Setting};
use misdeal_game::{Game, PositionLaw, Weights};

/// The most batches of an epoch: every sample draws all of them.
const MOST_BATCHES: u64 = 1 << 24;

/// The modelled pair: in each of `epochs` independent epochs every batch is N(0, s^2), save for the target's, whose
/// mean is `present` (a) under P and `absent` (b) under Q and which is batch t with probability w_t. Its exact log
/// likelihood ratio is
///
/// ```text
/// L = sum over epochs of ln S_a - ln S_b,    S_c = sum_t w_t e^((c y_t - c^2/2) / s^2).
/// ```
#[derive(Debug, Clone)]
pub(super) struct ModelledPair {
    pub noise_multiplier: f64,
    pub present: f64,
    pub absent: f64,
    pub epochs: u64,
    /// Positive; they sum to one.
    pub weights: Vec<f64>,
    /// Their distribution function, on the scale of 2^64.
    thresholds: Vec<u64>,
}

impl ModelledPair {
    /// The pair of a validated setting whose target is in one batch of each epoch; a position that is kept for all
    /// epochs is one epoch of averages.
    ///
    /// # Errors
    /// Schemes that may use the target several times an epoch, more than [`MOST_BATCHES`], an adversary that does not score with the exact ratio, and
    /// adjacencies other than zero-out.
    pub fn new(setting: &Setting) -> Result<Self> {
        let hint =
            "the likelihood ratio would not be that of a pair in which the target is used once an epoch";
        let refuse = |field, value: &dyn std::fmt::Display, allowed: &str| {
            Err(Error::bad_value(field, value, allowed, hint))
        };
        if setting.adjacency != Adjacency::ZeroOut {
            return refuse("adjacency", &format!("{:?}", setting.adjacency), "zero-out");
        }
        if setting.scoring_scheme() != setting.scheme {
            return refuse("adversary_scheme", &setting.scoring_scheme(), "the scheme that runs");
        }
        let game = Game::new(setting);
        let (PositionLaw::OnceAnEpoch(weights) | PositionLaw::KeptForAllEpochs(weights)) =
            &game.mechanism.law
        else {
            return refuse("scheme", &setting.scheme, "one that uses each record once an epoch");
        };
        if game.batches_per_epoch() > MOST_BATCHES {
            let allowed = format!("at most {MOST_BATCHES} for Monte Carlo");
            let hint = "theory's bounds have no such limit";
            return Err(Error::bad_value("steps_per_epoch", setting.steps_per_epoch, allowed, hint));
        }
        let weights = match weights {
            Weights::Uniform(range) => {
                let batches = range.end - range.start;
                vec![1.0 / batches as f64; batches as usize]
            }
            Weights::Listed { weights, .. } => weights.iter().copied().filter(|&w| w > 0.0).collect(),
        };
        Ok(Self::with_weights(
            game.noise_multiplier,
            [game.mechanism.shifts.present, game.mechanism.shifts.zeroed],
            game.epochs,
            weights,
        ))
    }

    fn with_weights(noise_multiplier: f64, shifts: [f64; 2], epochs: u64, weights: Vec<f64>) -> Self {
        let mut sum = 0.0;
        let thresholds = weights
            .iter()
            .map(|weight| {
                sum += weight;
                (sum * 2.0_f64.powi(64)) as u64
            })
            .collect();
        let [present, absent] = shifts;
        ModelledPair { noise_multiplier, present, absent, epochs, weights, thresholds }
    }

    /// Batches that an epoch draws.
    pub fn batches(&self) -> usize {
        self.weights.len()
    }

    /// The batch that 64 random bits choose for the target.
    pub fn position(&self, bits: u64) -> usize {
        self.thresholds.partition_point(|&threshold| threshold <= bits).min(self.batches() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::BatchScheme;

    #[test]
    fn refuses_what_has_another_ratio() {
        let base = Setting::default();
        for bad in [
            Setting { scheme: BatchScheme::Poisson, ..base.clone() },
            Setting { scheme: BatchScheme::WithoutReplacement, ..base.clone() },
            Setting { adversary_scheme: Some(BatchScheme::FixedOrder), ..base.clone() },
            Setting { adjacency: Adjacency::ReplaceOne, ..base.clone() },
        ] {
            assert!(ModelledPair::new(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_kept_position_is_one_epoch_at_less_noise() {
        let setting = Setting { scheme: BatchScheme::ShuffleOnce, epochs: 4, ..Setting::default() };
        let pair = ModelledPair::new(&setting).unwrap();
        assert_eq!((pair.noise_multiplier, pair.epochs, pair.batches()), (0.5, 1, 100));
        assert_eq!([0, u64::MAX / 2, u64::MAX].map(|bits| pair.position(bits)), [0, 49, 99]);
    }
}
