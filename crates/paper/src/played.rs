//! Runs the audit behind a printed number, once for each run.

use crate::Part;
use crate::artefact::PaperRow;
use crate::job::{Job, TrainingJob};
use misdeal::request::ReproduceRequest;
use misdeal::{
    Analysis, ClaimedCurve, DataRequest, Error, MechanismAudit, Progress, Result, RunOptions, TrainingAudit,
    calibrated,
};
use misdeal_core::{Blueprint, CanaryKind, ClosedSet, Recipe, Setting};
use misdeal_results::Audit;
use misdeal_statistics::ThresholdChoice;
use std::path::PathBuf;

/// The results of a row's runs.
pub struct Played {
    /// The report of each run, in the order of their seeds.
    pub reports: Vec<Audit>,
    /// The missing data, if they ended the runs.
    pub missing_data: Option<Error>,
}

impl Played {
    /// The paper's estimate, for every run.
    pub fn estimates(&self) -> Vec<f64> {
        self.reports.iter().map(|report| *report.estimate.empirical_epsilon).collect()
    }

    /// A valid lower bound for every run, from the same scores.
    pub fn valid_bounds(&self) -> Vec<f64> {
        let bounds = self.reports.iter().filter_map(|report| report.second_estimate.as_ref());
        bounds.map(|estimate| *estimate.empirical_epsilon).collect()
    }

    /// Seconds for all runs together.
    pub fn seconds(&self) -> f64 {
        self.reports.iter().fold(0.0, |sum, report| sum + report.seconds)
    }
}

impl PaperRow {
    fn runs(&self, request: &ReproduceRequest) -> u64 {
        request.runs.unwrap_or(if request.quick { 1 } else { self.runs }).max(1)
    }

    /// Number of observations of one run; 0 if the row is left out.
    ///
    /// A point of a figure against observations, without a printed number, is left out if the request allows fewer observations.
    pub(crate) fn observations(&self, request: &ReproduceRequest) -> u64 {
        let all = (if request.quick { self.quick_observations } else { self.observations }) as u64;
        match request.observations {
            Some(most) if most < all && self.series.is_some() && self.printed.is_none() => 0,
            Some(most) => most.min(all),
            None => all,
        }
    }

    /// Whether models are trained for this row.
    pub(crate) fn trains(&self, request: &ReproduceRequest) -> bool {
        matches!(self.job, Job::Training(_)) && self.work(request) > 0
    }

    /// Number of observations of all runs together.
    pub(crate) fn work(&self, request: &ReproduceRequest) -> u64 {
        self.runs(request) * self.observations(request)
    }

    /// The seeds of the runs; none if the row is left out.
    fn seeds(&self, request: &ReproduceRequest) -> impl Iterator<Item = u64> {
        let runs = if self.observations(request) == 0 { 0 } else { self.runs(request) };
        let first = request.seed;
        (0..runs).map(move |run| first.wrapping_add(run))
    }

    /// Runs the row's audit once for each run. Missing data end the runs without an error, because other rows may need no data.
    ///
    /// # Errors
    /// As for [`crate::reproduce`].
    pub(crate) fn played(&self, request: &ReproduceRequest, progress: &Part<'_>) -> Result<Played> {
        let mut played = Played { reports: Vec::new(), missing_data: None };
        for seed in self.seeds(request) {
            let before = progress.done + played.reports.len() as u64 * self.observations(request);
            let part = Part { done: before, ..*progress };
            match self.play(request, seed, played.reports.first(), &part) {
                Ok(report) => played.reports.push(report),
                Err(error) if error.is_bad_data() => {
                    played.missing_data = Some(error);
                    break;
                }
                Err(error) => {
                    let interrupted =
                        |observations| Error::interrupted(before + observations, request.store.clone());
                    return Err(error.observations().map_or(error, interrupted));
                }
            }
        }
        Ok(played)
    }

    /// The file for a run's scores, named after its audit. Figures that show the same audit share the file.
    fn store(&self, request: &ReproduceRequest, seed: u64) -> Option<PathBuf> {
        let folder = request.store.as_ref()?;
        let delta = if self.job.is_calibrated() { format!("-delta-{}", self.delta) } else { String::new() };
        let file = format!("{}{delta}_{}_seed-{seed}.scores", self.job.words(), self.observations(request));
        Some(folder.join(file))
    }

    /// The files for the scores of all runs.
    pub(crate) fn stores(&self, request: &ReproduceRequest) -> impl Iterator<Item = PathBuf> {
        self.seeds(request).filter_map(|seed| self.store(request, seed))
    }

    /// Runs one audit. Noise and theory do not depend on the seed, so they are copied from the first run.
    fn play(
        &self,
        request: &ReproduceRequest,
        seed: u64,
        first: Option<&Audit>,
        progress: &dyn Progress,
    ) -> Result<Audit> {
        let store = self.store(request, seed);
        let analysis =
            |threshold_choice| Analysis { delta: self.delta, threshold_choice, ..Analysis::default() };
        let run = RunOptions {
            analysis: analysis(ThresholdChoice::Max),
            second_analysis: Some(analysis(ThresholdChoice::Band)),
            claimed_epsilon: self.printed_claim,
            trade_off: self.curves,
            // The paper claims the curve of Poisson sampling.
            claimed_curve: self.curves.then_some(ClaimedCurve::Poisson),
            // An existing file is resumed: either the user asked for it, or another row has just run the same audit.
            resume: store.as_ref().is_some_and(|file| request.resume || file.exists()),
            store,
            theory: first.map(|first| first.theory.clone()),
            ..RunOptions::new(self.observations(request))
        };
        let noise = first.map(|first| first.setting.noise_multiplier);
        match &self.job {
            Job::Mechanism(job) => {
                let setting = job.setting(seed)?;
                let setting = match (noise, job.target_epsilon) {
                    (Some(noise_multiplier), _) => Setting { noise_multiplier, ..setting },
                    (None, Some(target)) => calibrated(&setting, target, self.delta)?,
                    (None, None) => setting,
                };
                let engine = misdeal::EngineChoice::on(request.device);
                MechanismAudit { setting, engine, run }.play(progress)
            }
            Job::Training(job) => {
                let setting = job.setting(seed)?;
                let (setting, target_epsilon) = match noise {
                    Some(noise_multiplier) => (Setting { noise_multiplier, ..setting }, None),
                    None => (setting, Some(job.target_epsilon)),
                };
                play_training(job, request, setting, target_epsilon, run, progress)
            }
        }
    }
}

fn play_training(
    job: &TrainingJob,
    request: &ReproduceRequest,
    setting: Setting,
    target_epsilon: Option<f64>,
    run: RunOptions,
    progress: &dyn Progress,
) -> Result<Audit> {
    let canaries = job.canaries.unwrap_or(1).max(1);
    let recipe = Recipe {
        canary: CanaryKind::from_name(&job.canary)?,
        canaries: canaries as usize,
        ..Recipe::new(Blueprint::named(&job.model)?)
    };
    // A row counts scores. Half of the models are the first of a pair.
    let run = RunOptions { observations: (run.observations / canaries).next_multiple_of(2), ..run };
    let training = TrainingAudit {
        setting,
        target_epsilon,
        recipe,
        data: DataRequest { dataset: job.dataset.clone(), folder: request.data.clone(), size: None },
        device: request.device,
        precision: request.precision,
        run,
    };
    training.play(progress)
}
