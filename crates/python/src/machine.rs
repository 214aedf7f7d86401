//! What there is to compute on, and whether it computes right.

use crate::jobs;
use crate::reports::Report;
use crate::words::Words;
use misdeal::SelfTestRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What there is to compute on.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Report> {
    Ok(Report::new(&jobs::run(py, None, None, |_| Ok(misdeal::devices()))?))
}

/// Checks every part against something known.
#[pyfunction]
pub fn self_test(
    py: Python<'_>,
    words: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let words = Words(words);
    let request = SelfTestRequest { device: words.named()?, seed: words.count("seed")? };
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::self_test(&request, watch))?;
    Ok(Report::new(&found))
}
