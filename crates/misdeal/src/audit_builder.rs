//! An audit of the mechanism, changed value by value and run.

use crate::{Audit, EngineChoice, MechanismAudit, Result, Unwatched};
use misdeal_core::{ClosedSet, Device, EngineName};
use misdeal_statistics::ThresholdChoice;
use std::path::PathBuf;

/// ```
/// use misdeal::{Setting, ThresholdChoice};
/// let audit = Setting::new(1.0).audit().claimed_epsilon(0.72).observations(100_000);
/// let found = audit.threshold_choice(ThresholdChoice::Band).run()?;
/// assert!(found.estimate.valid && found.estimate.empirical_epsilon > 0.72);
/// # Ok::<(), misdeal::Error>(())
/// ```
impl MechanismAudit {
    /// The epsilon to test; theory's upper bound for Poisson sampling if none is given.
    #[must_use]
    pub fn claimed_epsilon(mut self, epsilon: f64) -> Self {
        self.run.claimed_epsilon = Some(epsilon);
        self
    }

    /// Outputs to observe in both worlds together, half in each; ten million if not given.
    #[must_use]
    pub fn observations(mut self, observations: u64) -> Self {
        self.run.observations = observations;
        self
    }

    /// The delta at which epsilon is meant; 1e-5 if not given.
    #[must_use]
    pub fn delta(mut self, delta: f64) -> Self {
        self.run.analysis.delta = delta;
        self
    }

    /// The probability of a wrong bound; 0.05 if not given.
    #[must_use]
    pub fn significance(mut self, significance: f64) -> Self {
        self.run.analysis.significance = significance;
        self
    }

    /// The estimator, one of [`ESTIMATORS`](misdeal_statistics::ESTIMATORS) by its name; `clopper-pearson` if not given.
    #[must_use]
    pub fn estimator(mut self, name: impl Into<String>) -> Self {
        self.run.analysis.estimator = name.into();
        self
    }

    /// How the threshold is chosen; on one half of the scores if not given.
    #[must_use]
    pub fn threshold_choice(mut self, choice: ThresholdChoice) -> Self {
        self.run.analysis.threshold_choice = choice;
        self
    }

    /// Where to play; a CUDA device for long runs, where there is one, if not given.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.engine = EngineChoice::on(device);
        self
    }

    /// What plays; the fastest if not given.
    #[must_use]
    pub fn engine(mut self, engine: EngineName) -> Self {
        self.engine = EngineChoice::named(engine.name());
        self
    }

    /// The file in which scores are saved, at intervals and at the end.
    #[must_use]
    pub fn store(mut self, file: impl Into<PathBuf>) -> Self {
        self.run.store = Some(file.into());
        self
    }

    /// Goes on from what the store holds, if it is there.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.run.resume = true;
        self
    }

    /// Plays the game on all cores of the current thread pool, and sets what it shows beside theory.
    ///
    /// [`play`](Self::play) does the same for somebody who watches.
    ///
    /// # Errors
    /// As [`play`](Self::play).
    pub fn run(&self) -> Result<Audit> {
        self.play(&Unwatched)
    }
}
