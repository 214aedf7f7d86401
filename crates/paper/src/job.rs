//! What is audited for a number of the paper.

use misdeal_core::ClosedSet;
use misdeal_core::{BatchScheme, Result, Setting, ThreatModel};
use serde::{Deserialize, Serialize};

/// An audit.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Job {
    /// The batched Gaussian mechanism.
    Mechanism(MechanismJob),
    /// A training.
    Training(TrainingJob),
}

impl Job {
    /// Whether its noise is computed from an epsilon, so that delta has a part in what is played.
    pub fn is_calibrated(&self) -> bool {
        match self {
            Job::Mechanism(job) => job.target_epsilon.is_some(),
            Job::Training(_) => true,
        }
    }

    /// Its kind, its fields and their values, in the order of the fields and joined by hyphens.
    pub fn words(&self) -> String {
        let job = toml::to_string(self).expect("names and numbers can be written");
        let words = job.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }
}

/// The game, apart from its noise.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MechanismJob {
    /// The noise, or
    pub noise_multiplier: Option<f64>,
    /// the epsilon for which Poisson sampling needs it.
    pub target_epsilon: Option<f64>,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// How batches are made.
    pub scheme: String,
    /// Records in a buffer, for schemes that have one.
    pub buffer_size: Option<u64>,
}

impl Default for MechanismJob {
    fn default() -> Self {
        let Setting { steps_per_epoch, epochs, batch_size, .. } = Setting::default();
        MechanismJob {
            noise_multiplier: None,
            target_epsilon: None,
            steps_per_epoch,
            epochs,
            batch_size,
            scheme: "shuffle".into(),
            buffer_size: None,
        }
    }
}

impl MechanismJob {
    /// The setting, with noise 1 where the noise is to be calibrated.
    ///
    /// # Errors
    /// A scheme that there is not.
    pub fn setting(&self, seed: u64) -> Result<Setting> {
        Ok(Setting {
            noise_multiplier: self.noise_multiplier.unwrap_or(1.0),
            steps_per_epoch: self.steps_per_epoch,
            epochs: self.epochs,
            batch_size: self.batch_size,
            scheme: BatchScheme::from_name(&self.scheme, self.buffer_size)?,
            seed,
            ..Setting::default()
        })
    }
}

/// A training, with the noise for which Poisson sampling has the target epsilon.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingJob {
    /// The data set.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// The epsilon that the noise is calibrated to.
    pub target_epsilon: f64,
    /// What the adversary may do.
    pub threat_model: String,
    /// Records in a batch.
    #[serde(default = "usual_batch")]
    pub batch_size: u64,
    /// Passes over the data.
    #[serde(default = "one_epoch")]
    pub epochs: u64,
    /// The canary's direction.
    #[serde(default = "usual_canary")]
    pub canary: String,
    /// How batches are made.
    #[serde(default = "usual_scheme")]
    pub scheme: String,
    /// Records in a buffer, for schemes that have one.
    pub buffer_size: Option<u64>,
}

fn usual_batch() -> u64 {
    100
}

fn one_epoch() -> u64 {
    1
}

fn usual_canary() -> String {
    "random".into()
}

fn usual_scheme() -> String {
    "shuffle".into()
}

impl TrainingJob {
    /// The setting, before the noise is calibrated and the steps are counted.
    ///
    /// # Errors
    /// A scheme or a threat model that there is not.
    pub fn setting(&self, seed: u64) -> Result<Setting> {
        Ok(Setting {
            epochs: self.epochs,
            batch_size: self.batch_size,
            scheme: BatchScheme::from_name(&self.scheme, self.buffer_size)?,
            threat_model: ThreatModel::from_name(&self.threat_model)?,
            seed,
            ..Setting::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files of scores are named by them, and runs are resumed from those of earlier versions.
    #[test]
    fn words_are_those_of_earlier_versions() {
        let mechanism = MechanismJob { noise_multiplier: Some(0.5), ..MechanismJob::default() };
        let words =
            "mechanism-noise-multiplier-0.5-steps-per-epoch-100-epochs-1-batch-size-100-scheme-shuffle";
        assert_eq!(Job::Mechanism(mechanism).words(), words);
        let training = "training = { dataset = 'purchase-100', model = 'mlp', target_epsilon = 4.0, threat_model = 'worst-case' }";
        let words = "training-dataset-purchase-100-model-mlp-target-epsilon-4.0-threat-model-worst-case-batch-size-100-epochs-1-canary-random-scheme-shuffle";
        assert_eq!(toml::from_str::<Job>(training).unwrap().words(), words);
    }
}
