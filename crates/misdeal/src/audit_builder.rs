//! Builder methods for an audit of the mechanism.

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
    /// Sets the epsilon to test. The default is theory's upper bound for Poisson sampling.
    #[must_use]
    pub fn claimed_epsilon(mut self, epsilon: f64) -> Self {
        self.run.claimed_epsilon = Some(epsilon);
        self
    }

    /// Sets the number of outputs to observe, half in each world. The default is ten million.
    #[must_use]
    pub fn observations(mut self, observations: u64) -> Self {
        self.run.observations = observations;
        self
    }

    /// Sets the delta that belongs to epsilon. The default is 1e-5.
    #[must_use]
    pub fn delta(mut self, delta: f64) -> Self {
        self.run.analysis.delta = delta;
        self
    }

    /// Sets the probability of a wrong bound. The default is 0.05.
    #[must_use]
    pub fn significance(mut self, significance: f64) -> Self {
        self.run.analysis.significance = significance;
        self
    }

    /// Sets the estimator by its name in [`ESTIMATORS`](misdeal_statistics::ESTIMATORS). The default is `clopper-pearson`.
    #[must_use]
    pub fn estimator(mut self, name: impl Into<String>) -> Self {
        self.run.analysis.estimator = name.into();
        self
    }

    /// Sets how the threshold is chosen. The default chooses it on one half of the scores.
    #[must_use]
    pub fn threshold_choice(mut self, choice: ThresholdChoice) -> Self {
        self.run.analysis.threshold_choice = choice;
        self
    }

    /// Sets the device that runs the audit. By default, long runs use a CUDA device if there is one.
    #[must_use]
    pub fn device(mut self, device: Device) -> Self {
        self.engine = EngineChoice::on(device);
        self
    }

    /// Sets the engine that runs the audit. The default is the fastest.
    #[must_use]
    pub fn engine(mut self, engine: EngineName) -> Self {
        self.engine = EngineChoice::named(engine.name());
        self
    }

    /// Sets the file that keeps the scores. It is saved at intervals and at the end.
    #[must_use]
    pub fn store(mut self, file: impl Into<PathBuf>) -> Self {
        self.run.store = Some(file.into());
        self
    }

    /// Resumes from the store if its file exists.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.run.resume = true;
        self
    }

    /// Runs the audit on all cores of the current thread pool and compares the result with theory.
    ///
    /// Use [`play`](Self::play) to watch the run.
    ///
    /// # Errors
    /// The same as for [`play`](Self::play).
    pub fn run(&self) -> Result<Audit> {
        self.play(&Unwatched)
    }
}
