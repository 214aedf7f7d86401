//! One printed number, played again.

use super::artefact::PaperRow;
use super::job::{Job, TrainingJob};
use super::{Part, ReproduceRequest, Verdict};
use crate::promised::poisson_upper_bound;
use crate::training::calibrated;
use crate::{
    Analysis, AuditReport, DataRequest, Error, Figures, MechanismRequest, Progress, Result, RunRequest,
    TradeOffReport, TrainingRequest, audit_mechanism, audit_training,
};
use misdeal_core::{Bounds, Setting};
use misdeal_train::{Blueprint, CanaryKind, Recipe, data};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A printed number beside ours.
#[derive(Debug, Clone, Serialize)]
pub struct ReproducedRow {
    /// The table or figure.
    pub artefact: &'static str,
    /// What was audited.
    pub name: String,
    /// What it is one point of, in a figure against the number of observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The number in the paper; `None` where a figure shows none.
    pub printed: Option<f64>,
    /// Our mean over the runs of the same estimate, the maximum over all thresholds, which is not a valid bound; `None` where
    /// nothing was played.
    pub ours: Option<f64>,
    /// The standard deviation over the runs; `None` for one run.
    pub standard_deviation: Option<f64>,
    /// That estimate of every run, in the order of their seeds: a maximum's law has a long tail, which a mean and a deviation hide.
    pub estimates: Vec<f64>,
    /// The mean over the runs of a bound that holds as stated, from the same scores.
    pub valid_epsilon: Option<f64>,
    /// How far ours may lie from the print.
    pub tolerance: f64,
    /// Why that far.
    pub tolerance_reason: String,
    /// How ours stands to the print; `None` without a printed number.
    pub verdict: Option<Verdict>,
    /// Why ours differs, or was not played, where that is known.
    pub reason: Option<String>,
    /// The claim in the paper.
    pub printed_claim: Option<f64>,
    /// What theory says at the same setting, by scheme.
    pub theory: BTreeMap<&'static str, Bounds>,
    /// What was played, in the first run.
    pub setting: Option<Setting>,
    /// The delta of all epsilons.
    pub delta: f64,
    /// Observations of each run.
    pub observations: u64,
    /// Observations in the paper.
    pub printed_observations: u64,
    /// Runs that the mean is over.
    pub runs: u64,
    /// The data that models were trained on; made-up data in the place of others say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The share of test records classified correctly, of a training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<Figures>,
    /// The curves of the first run, and what they refute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOffReport>,
    /// The engine that played.
    pub engine: Option<&'static str>,
    /// Time for all runs.
    pub seconds: f64,
}

impl ReproducedRow {
    /// Theory's bounds for the scheme that was played.
    pub fn theory_of_the_scheme(&self) -> Option<&Bounds> {
        self.theory.get(self.setting.as_ref()?.scheme.name())
    }

    /// What could be claimed were batches drawn by Poisson sampling.
    pub fn poisson_upper_bound(&self) -> Option<f64> {
        poisson_upper_bound(&self.theory)
    }
}

impl PaperRow {
    fn runs(&self, request: &ReproduceRequest) -> u64 {
        request.runs.unwrap_or(if request.quick { 1 } else { self.runs }).max(1)
    }

    /// Observations of one run; 0 if it is left out. A point of a figure against observations, without a printed number, is
    /// nothing with fewer.
    fn observations(&self, request: &ReproduceRequest) -> u64 {
        let all = (if request.quick { self.quick_observations } else { self.observations }) as u64;
        match request.observations {
            Some(most) if most < all && self.series.is_some() && self.printed.is_none() => 0,
            Some(most) => most.min(all),
            None => all,
        }
    }

    /// How far the mean over some runs may lie from the print, and why: where they are fewer than the paper's, three standard errors
    /// of ours are added.
    fn tolerance(&self, runs: u64) -> (f64, String) {
        if !(1..self.runs).contains(&runs) || self.deviation == 0.0 {
            return (self.tolerance, self.tolerance_reason.clone());
        }
        let more = 3.0 * self.deviation / (runs as f64).sqrt();
        let runs = if runs == 1 { "one run".into() } else { format!("{runs} runs") };
        let deviations = more / self.deviation;
        let reason = format!(
            "{}; {runs} for the paper's {} add {deviations:.1} of a run's standard deviations",
            self.tolerance_reason, self.runs
        );
        (self.tolerance + more, reason)
    }

    /// Whether models are trained for it.
    pub(super) fn trains(&self, request: &ReproduceRequest) -> bool {
        matches!(self.job, Job::Training(_)) && self.work(request) > 0
    }

    /// Observations of all runs together.
    pub(super) fn work(&self, request: &ReproduceRequest) -> u64 {
        self.runs(request) * self.observations(request)
    }

    /// Plays the row's audit once for each run, and compares; beside it, which data are missing for that.
    ///
    /// # Errors
    /// As [`super::reproduce`].
    pub(super) fn reproduced(
        &self,
        artefact: &'static str,
        request: &ReproduceRequest,
        progress: &Part<'_>,
    ) -> Result<(ReproducedRow, Option<data::Error>)> {
        let observations = self.observations(request);
        let mut reports: Vec<AuditReport> = Vec::new();
        let mut missing = None;
        for run in 0..if observations == 0 { 0 } else { self.runs(request) } {
            let part = Part { done: progress.done + run * observations, ..*progress };
            match self.play(request, request.seed.wrapping_add(run), reports.first(), &part) {
                Ok(report) => reports.push(report),
                // The other rows may need no data.
                Err(Error::Data(error)) => {
                    missing = Some(error);
                    break;
                }
                Err(Error::Interrupted { observations, .. }) => {
                    let observations = part.done + observations;
                    return Err(Error::Interrupted { observations, store: request.store.clone() });
                }
                Err(error) => return Err(error),
            }
        }
        let ours = figures(reports.iter().map(|report| report.estimate.empirical_epsilon));
        let second = reports.iter().filter_map(|report| report.second_estimate.as_ref());
        let valid = figures(second.map(|estimate| estimate.empirical_epsilon));
        let enough = observations >= self.observations as u64;
        let (tolerance, tolerance_reason) = self.tolerance(reports.len() as u64);
        let verdict = match (self.printed, ours) {
            (Some(printed), Some(ours)) => Some(Verdict::of(ours.mean, printed, tolerance, enough)),
            (Some(_), None) if missing.is_some() => Some(Verdict::NotPlayed),
            (Some(_), None) => Some(Verdict::TooFewObservations),
            (None, _) => None,
        };
        let differs = matches!(verdict, Some(Verdict::Exceeded | Verdict::Differs));
        let first = reports.first();
        let reason = missing.as_ref().map(ToString::to_string);
        let standard_deviation = ours.filter(|_| reports.len() > 1).map(|ours| ours.standard_deviation);
        let difference = || {
            let distance = (ours?.mean - self.printed?).abs();
            let deviation = standard_deviation.or(Some(self.deviation).filter(|&known| known > 0.0))?;
            let of_difference = (1.0 / reports.len() as f64 + 1.0 / self.runs as f64).sqrt();
            Some(in_standard_errors(distance / (deviation * of_difference), self.difference.as_deref()))
        };
        let row = ReproducedRow {
            artefact,
            name: self.name.clone(),
            series: self.series.clone(),
            printed: self.printed,
            ours: ours.map(|ours| ours.mean),
            standard_deviation,
            estimates: reports.iter().map(|report| report.estimate.empirical_epsilon).collect(),
            valid_epsilon: valid.map(|valid| valid.mean),
            tolerance,
            tolerance_reason,
            verdict,
            reason: reason.or_else(|| difference().or(self.difference.clone()).filter(|_| differs)),
            printed_claim: self.printed_claim,
            theory: first.map(|report| report.theory.clone()).unwrap_or_default(),
            setting: first.map(|report| report.setting.clone()),
            delta: self.delta,
            observations,
            printed_observations: self.observations as u64,
            runs: reports.len() as u64,
            dataset: first.and_then(|report| Some(report.training.as_ref()?.dataset.clone())),
            test_accuracy: first.and_then(|report| report.training.as_ref()?.test_accuracy),
            trade_off: first.and_then(|report| report.trade_off.clone()),
            engine: first.map(|report| report.engine),
            seconds: reports.iter().fold(0.0, |sum, report| sum + report.seconds),
        };
        Ok((row, missing))
    }

    /// The file that keeps a run's scores, named after what is played: figures that show the same audit share it.
    fn store(&self, request: &ReproduceRequest, seed: u64) -> Option<PathBuf> {
        let folder = request.store.as_ref()?;
        let delta = if self.job.is_calibrated() { format!("-delta-{}", self.delta) } else { String::new() };
        let file = format!("{}{delta}_{}_seed-{seed}.scores", self.job.words(), self.observations(request));
        Some(folder.join(file))
    }

    /// The files of all its runs.
    pub(super) fn stores(&self, request: &ReproduceRequest) -> impl Iterator<Item = PathBuf> {
        let runs = if self.observations(request) == 0 { 0 } else { self.runs(request) };
        (0..runs).filter_map(|run| self.store(request, request.seed.wrapping_add(run)))
    }

    /// One run. What the first one found that no seed changes, noise and theory, is taken over.
    fn play(
        &self,
        request: &ReproduceRequest,
        seed: u64,
        first: Option<&AuditReport>,
        progress: &dyn Progress,
    ) -> Result<AuditReport> {
        let store = self.store(request, seed);
        let analysis = |threshold_choice: &str| Analysis {
            delta: self.delta,
            threshold_choice: threshold_choice.into(),
            ..Analysis::default()
        };
        let run = RunRequest {
            analysis: analysis("max"),
            second_analysis: Some(analysis("band")),
            claimed_epsilon: self.printed_claim,
            trade_off: self.curves,
            // What was there before is to be gone on from; else another row has just played the same.
            resume: store.as_ref().is_some_and(|file| request.resume || file.exists()),
            store,
            theory: first.map(|first| first.theory.clone()),
            ..RunRequest::new(self.observations(request))
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
                let engine = crate::engine_on(&request.device, None);
                audit_mechanism(&MechanismRequest { setting, engine, run }, progress)
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

/// How far apart two means are, in words, and what else is known about it.
fn in_standard_errors(errors: f64, known: Option<&str>) -> String {
    let chance = if errors < 2.0 { ", which chance explains" } else { "" };
    let known = known.map_or(String::new(), |known| format!("; {known}"));
    format!("{errors:.1} standard errors from the print, if the paper's runs spread as ours{chance}{known}")
}

fn play_training(
    job: &TrainingJob,
    request: &ReproduceRequest,
    setting: Setting,
    target_epsilon: Option<f64>,
    run: RunRequest,
    progress: &dyn Progress,
) -> Result<AuditReport> {
    let recipe =
        Recipe { canary: CanaryKind::from_name(&job.canary)?, ..Recipe::new(Blueprint::named(&job.model)?) };
    let training = TrainingRequest {
        setting,
        target_epsilon,
        recipe,
        data: DataRequest { dataset: job.dataset.clone(), folder: request.data.clone(), size: None },
        device: request.device.clone(),
        precision: request.precision.clone(),
        run,
    };
    audit_training(&training, progress)
}

/// The mean and the standard deviation of some numbers, if there are any.
fn figures(values: impl Iterator<Item = f64> + Clone) -> Option<Figures> {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
    (count > 0.0).then(|| Figures { mean, standard_deviation: libm::sqrt(squares / (count - 1.0).max(1.0)) })
}
