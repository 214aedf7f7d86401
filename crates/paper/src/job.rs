//! The audit behind a number of the paper.

use misdeal_core::ClosedSet;
use misdeal_core::{BatchScheme, Result, Setting, ThreatModel};
use serde::{Deserialize, Serialize};

/// An audit.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Job {
    /// An audit of the batched Gaussian mechanism.
    Mechanism(MechanismJob),
    /// An audit of a training.
    Training(TrainingJob),
}

impl Job {
    /// Whether the noise is computed from an epsilon, so that the audit depends on delta.
    pub fn is_calibrated(&self) -> bool {
        match self {
            Job::Mechanism(job) => job.target_epsilon.is_some(),
            Job::Training(_) => true,
        }
    }

    /// Returns the kind, the fields and their values, in the order of the fields, joined by hyphens.
    pub fn words(&self) -> String {
        let job = toml::to_string(self).expect("names and numbers can be written");
        let words = job.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
        words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    }
}

/// A setting of the batched Gaussian mechanism.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MechanismJob {
    /// The noise multiplier; `None` if `target_epsilon` gives it.
    pub noise_multiplier: Option<f64>,
    /// The epsilon for which the noise is calibrated, under Poisson sampling.
    pub target_epsilon: Option<f64>,
    /// Number of batches in an epoch.
    pub steps_per_epoch: u64,
    /// Number of passes over the data.
    pub epochs: u64,
    /// Number of records in a batch.
    pub batch_size: u64,
    /// The name of the batch scheme.
    pub scheme: String,
    /// Buffer size in records, for schemes that have a buffer.
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
    /// The setting; the noise is 1 if it must be calibrated.
    ///
    /// # Errors
    /// The scheme does not exist.
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

/// A training, whose noise is calibrated so that Poisson sampling has the target epsilon.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingJob {
    /// The data set.
    pub dataset: String,
    /// The model.
    pub model: String,
    /// The epsilon for which the noise is calibrated.
    pub target_epsilon: f64,
    /// The name of the threat model.
    pub threat_model: String,
    /// Number of records in a batch.
    #[serde(default = "usual_batch")]
    pub batch_size: u64,
    /// Number of passes over the data.
    #[serde(default = "one_epoch")]
    pub epochs: u64,
    /// The canary's direction.
    #[serde(default = "usual_canary")]
    pub canary: String,
    /// The name of the batch scheme.
    #[serde(default = "usual_scheme")]
    pub scheme: String,
    /// Buffer size in records, for schemes that have a buffer.
    pub buffer_size: Option<u64>,
    /// Number of canaries in a model, each with a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canaries: Option<u64>,
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
    /// The scheme or the threat model does not exist.
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

    /// These words name the files of scores. Runs of earlier versions can be resumed only if they never change.
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
