//! Mistakes in real pipelines: logs of batches, and Python sources.

use crate::errors::of_scan;
use crate::jobs;
use crate::reports::Report;
use crate::words::Words;
use misdeal::{DiagnoseRequest, NoiseLevel};
use misdeal_scan::{Error, Settings, render};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

/// Which scheme made the batches of a log, and what that costs.
#[pyfunction]
pub fn diagnose(py: Python<'_>, log: PathBuf, words: Bound<'_, PyDict>) -> PyResult<Report> {
    let words = Words(words);
    let plot = words.plot()?;
    let delta = words.number("delta")?;
    let noise = words.number_if_any("noise_multiplier")?;
    let request = DiagnoseRequest {
        log,
        dataset_size: words.count_if_any("dataset_size")?,
        noise: noise.map(|noise_multiplier| NoiseLevel { noise_multiplier, delta }),
        epochs: words.count_if_any("epochs")?,
    };
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, None, |_| misdeal::diagnose(&request))?;
    Report::with_figure(&found, true).drawn(plot.as_deref())
}

/// Finds sampling mistakes in Python sources, or only counts pipelines.
#[pyfunction]
pub fn scan(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    select: Vec<String>,
    ignore: Vec<String>,
    exclude: Vec<String>,
    words: Bound<'_, PyDict>,
) -> PyResult<Report> {
    let words = Words(words);
    let (survey, assume_private) = (words.switch("survey")?, words.switch("assume_private")?);
    let config = words.path_if_any("config")?;
    let scanned = py.detach(|| {
        let mut settings = match (&config, paths.first()) {
            (Some(file), _) => Settings::from_file(file)?.unwrap_or_default(),
            (None, Some(path)) => Settings::nearest(path)?,
            (None, None) => Settings::default(),
        };
        if !select.is_empty() {
            settings.select = select;
        }
        settings.ignore.extend(ignore);
        settings.exclude.extend(exclude);
        settings.assume_private |= assume_private;
        let report = misdeal_scan::scan(&paths, &settings)?;
        Ok::<_, Error>(if survey { render::survey_json(&report) } else { render::json(&report) })
    });
    scanned.map(Report::of_json).map_err(|error| of_scan(&error))
}
