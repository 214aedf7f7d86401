//! The setting of an audit: validated once, hashed and seeded.

use crate::{Adjacency, BatchScheme, Error, Result, ThreatModel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// The largest number of steps of a run. It keeps the index of a draw within the stream's counter.
pub const MOST_STEPS: u64 = 1 << 31;

/// The allowed noise multipliers, for games and for accounting.
pub const NOISE_MULTIPLIERS: RangeInclusive<f64> = 0.01..=10_000.0;

/// The largest number of records of a data set. It is the largest at which every count is exact as a float.
const MOST_RECORDS: u64 = 1 << 53;

/// Everything that decides the outcome of a trial, apart from its world and its index.
///
/// Call [`Setting::validated`] before you run a setting or compute bounds for it. The number of observations, delta and
/// the estimator are not part of a setting, because they do not change a trial.
///
/// ```
/// use misdeal_core::{BatchScheme, Setting};
/// let setting = Setting { epochs: 3, ..Setting::default() }.validated()?;
/// assert_eq!(setting.steps(), 300);
/// assert!(Setting { noise_multiplier: f64::NAN, ..Setting::default() }.validated().is_err());
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Noise standard deviation divided by `clip_norm` (the paper's sigma).
    pub noise_multiplier: f64,
    /// Steps, and so batches, in one epoch (T).
    pub steps_per_epoch: u64,
    /// Passes over the data (E).
    pub epochs: u64,
    /// Records in a batch, or their average number if batch sizes are random (B).
    pub batch_size: u64,
    /// How batches are made.
    #[serde(flatten)]
    pub scheme: BatchScheme,
    /// The adversary's powers.
    pub threat_model: ThreatModel,
    /// Which data sets are neighbours.
    pub adjacency: Adjacency,
    /// The target's index in the data set.
    pub target_index: u64,
    /// The scheme that the adversary assumes, if it differs from the real one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversary_scheme: Option<BatchScheme>,
    /// A digest of data, model and recipe, as 64 hexadecimal digits; absent for the mechanism alone.
    ///
    /// If absent, it is not part of the hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<String>,
    /// The seed of all randomness.
    pub seed: u64,
}

impl Default for Setting {
    /// The default audit: shuffle, noise multiplier 1, 100 steps, one epoch.
    fn default() -> Self {
        Setting {
            noise_multiplier: 1.0,
            steps_per_epoch: 100,
            epochs: 1,
            batch_size: 100,
            scheme: BatchScheme::Shuffle,
            threat_model: ThreatModel::WorstCase,
            adjacency: Adjacency::ZeroOut,
            target_index: 0,
            adversary_scheme: None,
            training: None,
            seed: 0,
        }
    }
}

impl Setting {
    /// This setting, if every field is in its range.
    ///
    /// # Errors
    /// Names the first field that is out of range, its value and the range.
    pub fn validated(self) -> Result<Self> {
        check_noise_multiplier(self.noise_multiplier)?;
        let counts = [
            ("steps_per_epoch", self.steps_per_epoch, MOST_STEPS),
            ("epochs", self.epochs, MOST_STEPS),
            ("batch_size", self.batch_size, 1 << 40),
        ];
        for (field, value, most) in counts {
            if value == 0 || value > most {
                return Err(Error::bad_value(
                    field,
                    value,
                    format!("a whole number from 1 to {most}"),
                    "counts start at 1",
                ));
            }
        }
        if self.steps_per_epoch.saturating_mul(self.epochs) > MOST_STEPS {
            let hint = format!("steps_per_epoch * epochs may be at most {MOST_STEPS}");
            return Err(Error::bad_value(
                "epochs",
                self.epochs,
                format!("at most {}", MOST_STEPS / self.steps_per_epoch),
                hint,
            ));
        }
        if self.steps_per_epoch.saturating_mul(self.batch_size) > MOST_RECORDS {
            let hint = format!("steps_per_epoch * batch_size may be at most {MOST_RECORDS}");
            let allowed = format!("at most {}", MOST_RECORDS / self.steps_per_epoch);
            return Err(Error::bad_value("batch_size", self.batch_size, allowed, hint));
        }
        let schemes = [("buffer_size", Some(self.scheme)), ("adversary_buffer_size", self.adversary_scheme)];
        for (field, scheme) in schemes {
            if let Some(size) = scheme.and_then(|scheme| scheme.buffer_size())
                && !(1..=self.dataset_size()).contains(&size)
            {
                let allowed = format!("a whole number from 1 to {}", self.dataset_size());
                let hint =
                    "a buffer holds at most the data set, which has steps_per_epoch * batch_size records";
                return Err(Error::bad_value(field, size, allowed, hint));
            }
        }
        if self.target_index >= self.dataset_size() {
            let allowed = format!("a whole number from 0 to {}", self.dataset_size() - 1);
            let hint = "the data set has steps_per_epoch * batch_size records";
            return Err(Error::bad_value("target_index", self.target_index, allowed, hint));
        }
        if let Some(digest) = &self.training
            && !(digest.len() == 64 && digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
        {
            let hint = "it is the digest that a training plan makes of its data, model and recipe";
            return Err(Error::bad_value("training", digest, "64 hexadecimal digits", hint));
        }
        Ok(self)
    }

    /// Refuses every adjacency except zero-out, the only one that games run.
    ///
    /// # Errors
    /// An adjacency other than [`Adjacency::ZeroOut`].
    pub fn check_is_played(&self) -> Result<()> {
        if self.adjacency == Adjacency::ZeroOut {
            return Ok(());
        }
        let found = format!("{:?}", self.adjacency);
        Err(Error::bad_value(
            "adjacency",
            found,
            "ZeroOut",
            "games compare a record with one whose gradient is zero",
        ))
    }

    /// The number of steps in all epochs together.
    pub fn steps(&self) -> u64 {
        self.steps_per_epoch * self.epochs
    }

    /// The number of records: `steps_per_epoch` batches of `batch_size`.
    pub fn dataset_size(&self) -> u64 {
        self.steps_per_epoch * self.batch_size
    }

    /// The probability that a record is in a given batch.
    pub fn sampling_probability(&self) -> f64 {
        1.0 / self.steps_per_epoch as f64
    }

    /// The scheme whose likelihood ratio is the score: the adversary's if given, otherwise the real one.
    pub fn scoring_scheme(&self) -> BatchScheme {
        self.adversary_scheme.unwrap_or(self.scheme)
    }

    /// A hash of every field, including the seed.
    ///
    /// Two settings have the same hash if and only if they describe the same trials. Stores and random streams use the
    /// hash as their key.
    ///
    /// # Panics
    /// Never: a setting has only numbers and names, which JSON can write.
    pub fn hash(&self) -> SettingHash {
        let canonical = serde_json::to_vec(self).expect("a setting has only numbers and names");
        let mut hasher = blake3::Hasher::new_derive_key("misdeal setting 1");
        hasher.update(&canonical);
        SettingHash(*hasher.finalize().as_bytes())
    }
}

/// Refuses noise outside [`NOISE_MULTIPLIERS`].
///
/// # Errors
/// Names the value and the range.
pub fn check_noise_multiplier(noise_multiplier: f64) -> Result<()> {
    if NOISE_MULTIPLIERS.contains(&noise_multiplier) {
        return Ok(());
    }
    let allowed = format!("a number from {} to {}", NOISE_MULTIPLIERS.start(), NOISE_MULTIPLIERS.end());
    let hint = "it is the noise's standard deviation divided by the clipping norm";
    Err(Error::bad_value("noise_multiplier", noise_multiplier, allowed, hint))
}

/// The identity of a [`Setting`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SettingHash(pub [u8; 32]);

impl std::fmt::Display for SettingHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl std::fmt::Debug for SettingHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_zero_the_target_out_and_nothing_else() {
        Setting::default().check_is_played().unwrap();
        for adjacency in [Adjacency::AddRemove, Adjacency::ReplaceOne] {
            let error = Setting { adjacency, ..Setting::default() }.check_is_played().unwrap_err();
            assert!(error.to_string().contains("adjacency"), "{error}");
        }
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        let bad = |change: fn(&mut Setting)| {
            let mut setting = Setting::default();
            change(&mut setting);
            setting.validated().unwrap_err().to_string()
        };
        for noise in [f64::NAN, 0.0, -1.0, f64::INFINITY, 1e300] {
            assert!(
                Setting { noise_multiplier: noise, ..Setting::default() }.validated().is_err(),
                "{noise}"
            );
        }
        assert!(bad(|s| s.steps_per_epoch = 0).contains("steps_per_epoch is 0"));
        assert!(bad(|s| s.epochs = u64::MAX).contains("epochs"));
        assert!(bad(|s| s.batch_size = 0).contains("batch_size"));
        let huge = Setting { steps_per_epoch: MOST_STEPS, batch_size: 1 << 40, ..Setting::default() };
        assert!(huge.validated().unwrap_err().to_string().contains("batch_size"));
        assert!(
            bad(|s| s.scheme = BatchScheme::StreamShuffle { buffer_size: 10_001 })
                .contains("buffer_size is 10001")
        );
        assert!(
            bad(|s| s.scheme = BatchScheme::PartialShuffle { buffer_size: 0 }).contains("buffer_size is 0")
        );
        assert!(bad(|s| s.target_index = 10_000).contains("from 0 to 9999"));
        assert!(bad(|s| s.training = Some("mlp".into())).contains("training is mlp"));
    }

    /// These hashes identify the stores of earlier versions, so they must not change.
    #[test]
    fn hashes_never_change() {
        let buffer_size = 1000;
        let base = Setting::default();
        let schemes = BatchScheme::NAMES.iter().map(|name| {
            let scheme =
                BatchScheme::from_name(name, BatchScheme::has_buffer(name).then_some(buffer_size)).unwrap();
            Setting { scheme, ..base.clone() }
        });
        let others = [
            Setting { threat_model: ThreatModel::TargetCanary, ..base.clone() },
            Setting { threat_model: ThreatModel::PartiallyInformed, ..base.clone() },
            Setting { adversary_scheme: Some(BatchScheme::PartialShuffle { buffer_size }), ..base.clone() },
            Setting { adversary_scheme: Some(BatchScheme::Poisson), noise_multiplier: 0.79, ..base.clone() },
            Setting { adjacency: Adjacency::AddRemove, target_index: 9_999, ..base.clone() },
            Setting { training: Some("0123456789abcdef".repeat(4)), epochs: 10, seed: u64::MAX, ..base },
        ];
        let hashes: Vec<String> = schemes.chain(others).map(|setting| setting.hash().to_string()).collect();
        let kept = include_str!("../../../testdata/setting_hashes.txt");
        assert_eq!(hashes, kept.lines().collect::<Vec<_>>());
    }

    #[test]
    fn the_hash_sees_every_field_and_survives_json() {
        let base = Setting::default();
        // If this list fails to compile, add the new field to `changes` below.
        let Setting {
            noise_multiplier: _,
            steps_per_epoch: _,
            epochs: _,
            batch_size: _,
            scheme: _,
            threat_model: _,
            adjacency: _,
            target_index: _,
            adversary_scheme: _,
            training: _,
            seed: _,
        } = base;
        let changes: [fn(&mut Setting); 13] = [
            |s| s.noise_multiplier = 1.0 + f64::EPSILON,
            |s| s.steps_per_epoch = 101,
            |s| s.epochs = 2,
            |s| s.batch_size = 99,
            |s| s.scheme = BatchScheme::ShuffleOnce,
            |s| s.scheme = BatchScheme::StreamShuffle { buffer_size: 70 },
            |s| s.scheme = BatchScheme::StreamShuffle { buffer_size: 71 },
            |s| s.threat_model = ThreatModel::TargetCanary,
            |s| s.adjacency = Adjacency::ReplaceOne,
            |s| s.target_index = 1,
            |s| s.adversary_scheme = Some(BatchScheme::Shuffle),
            |s| s.training = Some("0".repeat(64)),
            |s| s.seed = 1,
        ];
        let mut hashes = vec![base.hash().to_string()];
        for change in changes {
            let mut other = base.clone();
            change(&mut other);
            let hash = other.hash().to_string();
            assert!(!hashes.contains(&hash), "{other:?}");
            hashes.push(hash);
            let back: Setting = serde_json::from_str(&serde_json::to_string(&other).unwrap()).unwrap();
            assert_eq!(back.hash(), other.hash());
        }
    }
}
