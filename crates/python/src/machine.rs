//! What there is to compute on, and whether it computes right.

use crate::calls::Call;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::SelfTestRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What there is to compute on.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Report> {
    Ok(Report::new(jobs::run(py, None, None, |_| Ok(misdeal::devices()))?))
}

/// Checks every part against something known.
#[pyfunction]
pub fn self_test(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, .. } = Call::<SelfTestRequest>::read(&arguments)?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::self_test(&request, watch))?;
    Ok(Report::new(found))
}
