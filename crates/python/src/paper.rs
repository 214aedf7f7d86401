//! The paper's tables and figures, beside what comes out here.

use crate::errors::refusal;
use crate::jobs;
use crate::reports::Report;
use crate::words::Words;
use misdeal_core::Error;
use misdeal_paper::{ARTEFACTS, ReproduceRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl Words<'_> {
    fn reproduction(&self) -> PyResult<ReproduceRequest> {
        let (store, resume) = (self.path_if_any("store")?, self.switch("resume")?);
        if resume && store.is_none() {
            let hint = "there is nothing to go on from";
            return Err(refusal(Error::bad_value("resume", "True", "False without store", hint)));
        }
        let names: Vec<&'static str> = ARTEFACTS.into_iter().chain(["all"]).collect();
        Ok(ReproduceRequest {
            name: self.one_of("name", &names)?.into(),
            quick: self.switch("quick")?,
            runs: self.count_if_any("runs")?,
            observations: self.count_if_any("observations")?,
            device: self.named()?,
            precision: self.named()?,
            data: self.data()?,
            seed: self.count("seed")?,
            only: self.text_if_any("only")?,
            store,
            resume,
        })
    }
}

/// Plays what the paper played, and sets both side by side.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    words: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let words = Words(words);
    let request = words.reproduction()?;
    let plot = words.plot()?;
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal_paper::reproduce(&request, watch))?;
    Report::with_figure(&found, true).drawn(plot.as_deref())
}
