//! The audited setting, with methods that start jobs.

use crate::{MechanismAudit, Result};
use misdeal_core::{Adjacency, BatchScheme, Bounds, ThreatModel};
use misdeal_theory::{account, check_delta};
use std::ops::Deref;

/// A training to audit or account for: noise, batches, epochs, target and adversary.
///
/// Values are checked when a job begins. This builder wraps the record [`misdeal_core::Setting`]. Both have the same name because
/// both mean the same thing. You can read the record's fields through the builder.
///
/// ```
/// use misdeal::{BatchScheme, Setting, ThreatModel};
/// let setting = Setting::new(0.5).scheme(BatchScheme::Poisson).threat_model(ThreatModel::TargetCanary);
/// assert_eq!(setting.noise_multiplier, 0.5);
/// assert_eq!(setting.epochs(3).steps(), 300);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Setting(misdeal_core::Setting);

impl Setting {
    /// Returns one epoch of a hundred shuffled batches of a hundred records, with this noise multiplier (noise standard deviation
    /// / clipping norm).
    pub fn new(noise_multiplier: f64) -> Self {
        Setting(misdeal_core::Setting { noise_multiplier, ..misdeal_core::Setting::default() })
    }

    /// Sets how batches are made.
    #[must_use]
    pub fn scheme(self, scheme: BatchScheme) -> Self {
        Setting(misdeal_core::Setting { scheme, ..self.0 })
    }

    /// Sets the number of batches in an epoch.
    #[must_use]
    pub fn steps_per_epoch(self, steps_per_epoch: u64) -> Self {
        Setting(misdeal_core::Setting { steps_per_epoch, ..self.0 })
    }

    /// Sets the number of passes over the data.
    #[must_use]
    pub fn epochs(self, epochs: u64) -> Self {
        Setting(misdeal_core::Setting { epochs, ..self.0 })
    }

    /// Sets the number of records in a batch, or the expected number if it varies.
    #[must_use]
    pub fn batch_size(self, batch_size: u64) -> Self {
        Setting(misdeal_core::Setting { batch_size, ..self.0 })
    }

    /// Sets what the adversary may choose.
    #[must_use]
    pub fn threat_model(self, threat_model: ThreatModel) -> Self {
        Setting(misdeal_core::Setting { threat_model, ..self.0 })
    }

    /// Sets how neighbouring data sets differ.
    #[must_use]
    pub fn adjacency(self, adjacency: Adjacency) -> Self {
        Setting(misdeal_core::Setting { adjacency, ..self.0 })
    }

    /// Sets the scheme that the adversary assumes, if it differs from the one that runs.
    #[must_use]
    pub fn adversary_scheme(self, scheme: BatchScheme) -> Self {
        Setting(misdeal_core::Setting { adversary_scheme: Some(scheme), ..self.0 })
    }

    /// Sets the seed of all randomness.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Setting(misdeal_core::Setting { seed, ..self.0 })
    }

    /// Returns an audit of this setting, which you can change and run.
    pub fn audit(&self) -> MechanismAudit {
        MechanismAudit { setting: self.0.clone(), ..MechanismAudit::default() }
    }

    /// Returns theory's proven bounds on the setting's epsilon at `delta`.
    ///
    /// ```
    /// use misdeal::{BatchScheme, Setting};
    /// let bounds = Setting::new(0.79).scheme(BatchScheme::Poisson).account(1e-5)?;
    /// assert!(bounds.epsilon_upper_bound.is_some_and(|epsilon| epsilon < 3.0));
    /// # Ok::<(), misdeal::Error>(())
    /// ```
    ///
    /// # Errors
    /// A value is out of range.
    pub fn account(&self, delta: f64) -> Result<Bounds> {
        check_delta(delta)?;
        Ok(account::bounds(&self.0.clone().validated()?, delta)?)
    }
}

impl Deref for Setting {
    type Target = misdeal_core::Setting;

    fn deref(&self) -> &misdeal_core::Setting {
        &self.0
    }
}

impl From<misdeal_core::Setting> for Setting {
    fn from(setting: misdeal_core::Setting) -> Self {
        Setting(setting)
    }
}

impl From<Setting> for misdeal_core::Setting {
    fn from(setting: Setting) -> Self {
        setting.0
    }
}
