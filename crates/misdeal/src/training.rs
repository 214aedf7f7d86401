//! Audits of DP-SGD on real data and models.

use crate::audit_report::audit;
use crate::blind_training::BlindTraining;
use crate::buffer_search::audit_blindly;
use crate::checkpoints::Checkpoints;
use crate::measurement::Player;
use crate::training_device::{TrainingBackend, ready};
use crate::{Error, Progress, Result, RunOptions};
use misdeal_core::{BatchScheme, Blueprint, Device, Precision, Recipe, ScoreStore, Setting};
use misdeal_game::{Outcome, Watch, missing_trials};
use misdeal_results::request::{AuditRequest, AuditTrainingRequest};
use misdeal_results::{Audit, Training};
use misdeal_theory::account;
use misdeal_theory::calibrate::{self, calibrate};
use misdeal_theory::work::Work;
use misdeal_train::Utility;
use misdeal_train::data::{self, Dataset, Shape, Synthetic};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// An audit of training, ready to run.
///
/// [`audit_training`] has an example.
#[derive(Debug, Clone)]
pub struct TrainingAudit {
    /// The setting: noise, batches and adversary.
    pub setting: Setting,
    /// Replaces the noise if given. The noise is then calibrated so that Poisson sampling has this epsilon, as in the paper.
    pub target_epsilon: Option<f64>,
    /// The model, the learning rate and the canaries.
    pub recipe: Recipe,
    /// The training data.
    pub data: DataRequest,
    /// The device that trains.
    pub device: Device,
    /// The precision of the arithmetic.
    pub precision: Precision,
    /// The number of models, their analysis and their store.
    pub run: RunOptions,
}

/// The data set to load.
///
/// [`audit_training`] has an example of a data set by its name.
#[derive(Debug, Clone)]
pub struct DataRequest {
    /// One of [`data::NAMES`], or the path of a `.npz` file.
    pub dataset: String,
    /// The folder of named data sets. The default is the variable `MISDEAL_DATA`.
    pub folder: Option<PathBuf>,
    /// Number of records to train on. The default is the paper's number.
    pub size: Option<u64>,
}

impl DataRequest {
    /// Loads the data. Synthetic data has the shape that the paper's models expect.
    fn load(&self, model: &str, seed: u64) -> Result<Dataset> {
        let folder = self.folder.clone().or_else(|| std::env::var_os("MISDEAL_DATA").map(PathBuf::from));
        let size = self.size.unwrap_or(if self.dataset == "location-30" { 5_000 } else { 10_000 });
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if self.dataset != "synthetic" || size == 0 {
            return Ok(data::load(&self.dataset, folder.as_deref(), size, seed)?);
        }
        let (shape, classes) = match model {
            "mlp" => (Shape::flat(600), 100),
            "cnn" => (Shape { channels: 3, height: 32, width: 32 }, 2),
            _ => (Shape { channels: 1, height: 28, width: 28 }, 2),
        };
        Ok(Synthetic { shape, classes, size, test_size: size / 5, seed }.make()?)
    }
}

impl TryFrom<&AuditTrainingRequest> for TrainingAudit {
    type Error = Error;

    fn try_from(request: &AuditTrainingRequest) -> Result<Self> {
        let AuditTrainingRequest { game, observations, analysis, run, .. } = request;
        let path = Path::new(&request.model);
        let model = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            Blueprint::from_toml(&misdeal_files::text::read(path)?)?
        } else {
            Blueprint::named(&request.model)?
        };
        let canaries = usize::try_from(request.canaries).unwrap_or(usize::MAX);
        if canaries == 0 {
            let hint = "each is one target with a direction of its own";
            return Err(misdeal_core::Error::bad_value("canaries", 0, "a whole number from 1", hint).into());
        }
        Ok(TrainingAudit {
            run: RunOptions::of(*observations, analysis, run, game)?,
            setting: request.setting()?,
            target_epsilon: request.target_epsilon,
            recipe: Recipe {
                model,
                learning_rate: request.learning_rate,
                clip_norm: request.clip_norm,
                canary: request.canary,
                canaries,
                debias: request.debias,
                last_batch: request.last_batch,
            },
            data: DataRequest {
                dataset: request.dataset.clone(),
                folder: request.data.clone(),
                size: request.dataset_size,
            },
            device: run.device,
            precision: request.precision,
        })
    }
}

/// Trains models with and without the targets, scores them, estimates epsilon and compares it with theory. Uses all cores of the
/// current thread pool.
///
/// ```no_run
/// use misdeal::{Unwatched, audit_training, request::AuditTrainingRequest};
/// let request = AuditTrainingRequest { dataset: "synthetic".into(), observations: 200, ..AuditTrainingRequest::default() };
/// println!("{}", audit_training(&request, &Unwatched)?.verdict());
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The request is refused before anything is trained or written. A store cannot be read, written or continued. The run is
/// interrupted.
pub fn audit_training(request: &AuditTrainingRequest, progress: &dyn Progress) -> Result<Audit> {
    let audit = TrainingAudit::try_from(request)?.play(progress)?;
    Ok(Audit { request: Some(AuditRequest::Training(request.clone().into())), ..audit })
}

impl TrainingAudit {
    /// Runs the audit like [`audit_training`].
    ///
    /// # Errors
    /// The same as for [`audit_training`].
    pub fn play(&self, progress: &dyn Progress) -> Result<Audit> {
        self.run.check()?;
        let dataset = Arc::new(self.data.load(&self.recipe.model.name, self.setting.seed)?);
        let records = dataset.train.len() as u64;
        let batch_size = self.setting.batch_size;
        if batch_size == 0 || batch_size > records {
            let hint = "a batch cannot have more records than there are";
            let allowed = format!("a whole number from 1 to {records}");
            return Err(misdeal_core::Error::bad_value("batch_size", batch_size, allowed, hint).into());
        }
        let setting = Setting { steps_per_epoch: records / batch_size, ..self.setting.clone() };
        let setting = match self.target_epsilon {
            None => setting,
            Some(target) => calibrated(&setting, target, self.run.analysis.delta)?,
        };
        let place = self.run.claim_store()?;
        let backend = ready(self, &setting, &dataset, place.is_of_a_device())?;
        let player = TrainingPlayer { backend, utility: Mutex::default() };
        let mut report = match self.run.search_buffer {
            None => audit(&player, &self.run, place, progress)?,
            Some(correction) => {
                let start = Instant::now();
                let (rungs, blind) = BlindTraining::train(&player, &self.run, progress)?;
                audit_blindly(&blind, &rungs, &self.run, correction, start)?
            }
        };
        let TrainingPlayer { backend, utility } = player;
        let utility = utility.into_inner().unwrap_or_default();
        let plan = &backend.plan;
        report.training = Some(Training {
            dataset: dataset.name.clone(),
            dataset_size: plan.setting().dataset_size(),
            model: self.recipe.model.name.clone(),
            parameters: plan.model().parameters as u64,
            recipe: self.recipe.clone(),
            independence: plan.independence(),
            target_epsilon: self.target_epsilon,
            models_per_second: report.observations_per_second,
            gigaflop_per_model: 1e-9 * plan.operations_per_model(),
            workspace_bytes: plan.workspace_bytes() as u64,
            train_accuracy: utility.train_accuracy(),
            test_accuracy: utility.test_accuracy(),
            bias: utility.bias(),
        });
        Ok(report)
    }
}

/// Returns the setting with the noise that Poisson sampling needs for `target_epsilon`.
///
/// The noise is rounded up to seven digits. The reason is that Fourier transforms differ in their last bits between processors,
/// but a setting must be the same on all of them.
///
/// ```
/// let setting = misdeal::calibrated(&misdeal::Setting::new(1.0), 3.0, 1e-5)?;
/// assert!(setting.noise_multiplier < 1.0);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// No noise reaches the target, or the setting is refused.
pub fn calibrated(setting: &Setting, target_epsilon: f64, delta: f64) -> Result<Setting> {
    let poisson = Setting { scheme: BatchScheme::Poisson, ..setting.clone() };
    let work = Work::default();
    let mut evaluations = 0;
    let found = calibrate(target_epsilon, |noise_multiplier| {
        let setting = Setting { noise_multiplier, ..poisson.clone() }.validated()?;
        let share = calibrate::share_of_work(evaluations);
        evaluations += 1;
        let bounds = work.part(share * work.left(), |work| account::bounds_within(&setting, delta, work))?;
        Ok(bounds.epsilon_upper_bound.unwrap_or(f64::INFINITY))
    })?;
    Ok(Setting { noise_multiplier: rounded_up(found.noise_multiplier), ..setting.clone() })
}

/// Returns a positive number rounded up to seven significant digits.
fn rounded_up(value: f64) -> f64 {
    let scale = 10_f64.powi(6 - libm::log10(value).floor() as i32);
    (value * scale).ceil() / scale
}

/// The backend that trains models, and the models' utility.
pub(crate) struct TrainingPlayer {
    pub(crate) backend: TrainingBackend,
    pub(crate) utility: Mutex<Utility>,
}

impl Player for TrainingPlayer {
    fn setting(&self) -> &Setting {
        self.backend.plan.setting()
    }

    fn engine(&self) -> &'static str {
        self.backend.engine()
    }

    fn lineage(&self) -> &str {
        self.backend.engine()
    }

    fn stream(&self) -> &'static str {
        self.backend.plan.stream().name()
    }

    fn scores_per_observation(&self) -> u64 {
        self.backend.plan.recipe().canaries as u64
    }

    fn scores_are_independent(&self) -> bool {
        self.backend.plan.independence().is_some()
    }

    fn play(
        &self,
        store: &mut ScoreStore,
        trials: Range<u64>,
        checkpoints: &Checkpoints<'_>,
    ) -> Result<Outcome> {
        let each = self.scores_per_observation();
        let stretch = self.backend.trials_per_checkpoint();
        for gap in missing_trials(trials, store.trials()) {
            let models = gap.start / each..gap.end / each;
            let mut next = models.start;
            while next < models.end {
                let part = next..models.end.min(next + stretch);
                let scored = self
                    .backend
                    .score(part.clone(), &|| checkpoints.is_cancelled(), &|| checkpoints.observed(1))?;
                let Some(scored) = scored else { return Ok(Outcome::Cancelled) };
                store.insert(part.start * each..part.end * each, &scored.scores_in, &scored.scores_out)?;
                scored.utility.keep_in(store);
                checkpoints.rest(store)?;
                next = part.end;
            }
        }
        if let Ok(mut utility) = self.utility.lock() {
            *utility = self.backend.plan.utility_in(store);
        }
        Ok(if checkpoints.is_cancelled() { Outcome::Cancelled } else { Outcome::Finished })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unwatched;
    use misdeal_results::Correction;

    #[test]
    fn the_speed_of_a_buffer_search_counts_its_trainings() {
        let request = TrainingAudit {
            setting: Setting {
                scheme: BatchScheme::PartialShuffle { buffer_size: 20 },
                batch_size: 10,
                ..Setting::default()
            },
            target_epsilon: None,
            recipe: Recipe::new(Blueprint::named("mlp").unwrap()),
            data: DataRequest { dataset: "synthetic".into(), folder: None, size: Some(40) },
            device: Device::Cpu,
            precision: Precision::F32,
            run: RunOptions { search_buffer: Some(Correction::Bonferroni), ..RunOptions::new(40) },
        };
        let report = request.play(&Unwatched).unwrap();
        let speed = report.training.unwrap().models_per_second;
        assert!((speed * report.seconds / 40.0 - 1.0).abs() < 1e-9, "{speed}");
    }

    #[test]
    fn noise_is_rounded_up_and_little() {
        for value in [0.850_083_474_853_217_2, 1.0, 3.301_958_658_467_072, 0.012_345_678_9, 9_999.999_999] {
            let rounded = rounded_up(value);
            assert!((value..value * 1.000_001).contains(&rounded), "{value}: {rounded}");
            assert!(rounded.to_string().trim_start_matches(['0', '.']).len() <= 8, "{value}: {rounded}");
        }
    }
}
