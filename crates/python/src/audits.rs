//! Audits, from words to reports.

use crate::errors::{exception, of_file, refusal};
use crate::jobs;
use crate::reports::Report;
use crate::words::Words;
use misdeal::{
    Analysis, AuditReport, ClaimedCurve, Correction, DataRequest, EngineChoice, MechanismRequest, RunRequest,
    Shard, StopWhen, TrainingRequest,
};
use misdeal_core::{Blueprint, Error, Recipe, Setting};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

impl Words<'_> {
    /// How scores become an epsilon.
    pub fn analysis(&self) -> PyResult<Analysis> {
        Ok(Analysis {
            delta: self.number("delta")?,
            significance: self.number("significance")?,
            estimator: self.text("estimator")?,
            threshold_choice: self.named()?,
        })
    }

    /// How much is played, and what becomes of it.
    fn run(&self) -> PyResult<RunRequest> {
        let stop_when = self.text_if_any("stop_when")?;
        let shard = self.text_if_any("shard")?;
        let observations = self.count("observations")?;
        Ok(RunRequest {
            analysis: self.analysis()?,
            scores: self.named()?,
            stop_when: stop_when.as_deref().map(StopWhen::parse).transpose().map_err(exception)?,
            claimed_epsilon: self.number_if_any("claimed_epsilon")?,
            claimed_curve: self.claimed_curve()?,
            trade_off: self.switch("trade_off")? || self.claimed_curve()?.is_some() || self.plot()?.is_some(),
            store: self.path_if_any("store")?,
            save_every: self.number("save_every")?,
            resume: self.switch("resume")?,
            shard: shard.as_deref().map_or(Ok(Shard::WHOLE), Shard::parse).map_err(refusal)?,
            search_buffer: self.search_buffer()?,
            ..RunRequest::new(observations)
        })
    }

    /// The whole curve that is claimed.
    pub fn claimed_curve(&self) -> PyResult<Option<ClaimedCurve>> {
        let curve = self.text_if_mentioned("claimed_curve")?;
        curve.as_deref().map(ClaimedCurve::parse).transpose().map_err(exception)
    }

    fn search_buffer(&self) -> PyResult<Option<Correction>> {
        let (search, uncorrected) = (self.switch("search_buffer")?, self.switch("uncorrected")?);
        if uncorrected && !search {
            let hint = "only a search has levels to correct";
            return Err(refusal(Error::bad_value(
                "uncorrected",
                "True",
                "False without search_buffer",
                hint,
            )));
        }
        Ok(search.then_some(if uncorrected { Correction::None } else { Correction::Bonferroni }))
    }

    /// The audit of the mechanism that the words ask for.
    pub fn mechanism(&self) -> PyResult<MechanismRequest> {
        Ok(MechanismRequest {
            setting: self.setting()?,
            engine: EngineChoice { device: self.named()?, engine: self.text_if_any("engine")? },
            run: self.run()?,
        })
    }

    /// The audit of training that the words ask for.
    fn training(&self) -> PyResult<TrainingRequest> {
        let noise_multiplier = self.number_if_any("noise_multiplier")?;
        let target_epsilon = self.number_if_any("target_epsilon")?;
        if let (Some(noise), Some(_)) = (noise_multiplier, target_epsilon) {
            let hint = "a target takes the noise's place";
            return Err(refusal(Error::bad_value(
                "noise_multiplier",
                noise,
                "None with target_epsilon",
                hint,
            )));
        }
        let setting = Setting {
            noise_multiplier: noise_multiplier.unwrap_or(1.0),
            epochs: self.count("epochs")?,
            batch_size: self.count("batch_size")?,
            ..Setting::default()
        };
        Ok(TrainingRequest {
            setting: self.game(setting)?,
            target_epsilon,
            recipe: self.recipe()?,
            data: DataRequest {
                dataset: self.text("dataset")?,
                folder: self.data()?,
                size: self.count_if_any("dataset_size")?,
            },
            device: self.named()?,
            precision: self.named()?,
            run: self.run()?,
        })
    }

    /// The folder that holds data sets.
    pub fn data(&self) -> PyResult<Option<PathBuf>> {
        let folder = self.path_if_any("data")?;
        Ok(folder.or_else(|| std::env::var_os("MISDEAL_DATA").map(PathBuf::from)))
    }

    fn recipe(&self) -> PyResult<Recipe> {
        let name = self.text("model")?;
        let path = Path::new(&name);
        let model = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            Blueprint::from_toml(&misdeal_files::text::read(path).map_err(|error| of_file(&error))?)
        } else {
            Blueprint::named(&name)
        };
        let canaries = usize::try_from(self.count("canaries")?).unwrap_or(usize::MAX);
        if canaries == 0 {
            let hint = "each is one target with a direction of its own";
            return Err(refusal(Error::bad_value("canaries", 0, "a whole number from 1", hint)));
        }
        Ok(Recipe {
            learning_rate: self.number("learning_rate")?,
            clip_norm: self.number("clip_norm")?,
            canary: self.named()?,
            canaries,
            debias: self.switch("debias")?,
            last_batch: self.named()?,
            ..Recipe::new(model.map_err(refusal)?)
        })
    }
}

/// An audit's result with its figure, drawn where the words say.
pub fn report(audit: &AuditReport, words: &Words<'_>) -> PyResult<Report> {
    Report::with_figure(audit, audit.trade_off.is_some()).drawn(words.plot()?.as_deref())
}

/// Plays the game on the batched Gaussian mechanism.
#[pyfunction]
pub fn audit_mechanism(
    py: Python<'_>,
    words: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let words = Words(words);
    let request = words.mechanism()?;
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::audit_mechanism(&request, watch))?;
    report(&found, &words)
}

/// Plays the game on DP-SGD with real data and models.
#[pyfunction]
pub fn audit_training(
    py: Python<'_>,
    words: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let words = Words(words);
    let request = words.training()?;
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::audit_training(&request, watch))?;
    report(&found, &words)
}
