//! What is audited, as a front for the jobs.

use crate::{MechanismAudit, Result};
use misdeal_core::{Adjacency, BatchScheme, Bounds, ThreatModel};
use misdeal_theory::{account, check_delta};
use std::ops::Deref;

/// A training that is audited or accounted for: noise, batches, epochs, target and adversary.
///
/// Values are checked where a job begins. This builder has the name of the record in it, [`misdeal_core::Setting`], because readers
/// of this crate mean the same thing by both; the record's fields are read through it.
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
    /// One epoch of a hundred shuffled batches of a hundred records, with this noise standard deviation / clipping norm.
    pub fn new(noise_multiplier: f64) -> Self {
        Setting(misdeal_core::Setting { noise_multiplier, ..misdeal_core::Setting::default() })
    }

    /// How batches are made.
    #[must_use]
    pub fn scheme(self, scheme: BatchScheme) -> Self {
        Setting(misdeal_core::Setting { scheme, ..self.0 })
    }

    /// Batches of an epoch.
    #[must_use]
    pub fn steps_per_epoch(self, steps_per_epoch: u64) -> Self {
        Setting(misdeal_core::Setting { steps_per_epoch, ..self.0 })
    }

    /// Passes over the data.
    #[must_use]
    pub fn epochs(self, epochs: u64) -> Self {
        Setting(misdeal_core::Setting { epochs, ..self.0 })
    }

    /// Records of a batch; expected where that varies.
    #[must_use]
    pub fn batch_size(self, batch_size: u64) -> Self {
        Setting(misdeal_core::Setting { batch_size, ..self.0 })
    }

    /// What the adversary may choose.
    #[must_use]
    pub fn threat_model(self, threat_model: ThreatModel) -> Self {
        Setting(misdeal_core::Setting { threat_model, ..self.0 })
    }

    /// How neighbouring data sets differ.
    #[must_use]
    pub fn adjacency(self, adjacency: Adjacency) -> Self {
        Setting(misdeal_core::Setting { adjacency, ..self.0 })
    }

    /// The scheme that the adversary believes in, if not the one that runs.
    #[must_use]
    pub fn adversary_scheme(self, scheme: BatchScheme) -> Self {
        Setting(misdeal_core::Setting { adversary_scheme: Some(scheme), ..self.0 })
    }

    /// The seed of all randomness.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Setting(misdeal_core::Setting { seed, ..self.0 })
    }

    /// An audit of it, to be changed and run.
    pub fn audit(&self) -> MechanismAudit {
        MechanismAudit { setting: self.0.clone(), ..MechanismAudit::default() }
    }

    /// Bounds on its epsilon at `delta`, proven by theory.
    ///
    /// ```
    /// use misdeal::{BatchScheme, Setting};
    /// let bounds = Setting::new(0.79).scheme(BatchScheme::Poisson).account(1e-5)?;
    /// assert!(bounds.epsilon_upper_bound.is_some_and(|epsilon| epsilon < 3.0));
    /// # Ok::<(), misdeal::Error>(())
    /// ```
    ///
    /// # Errors
    /// A value out of range.
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
