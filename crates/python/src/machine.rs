//! Lists this machine's devices and checks their results.

use crate::calls::Call;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::SelfTestRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the devices and engines that can compute here.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<Report> {
    Ok(Report::new(jobs::run(py, None, None, |_| Ok(misdeal::devices()))?))
}

/// Checks this machine's results against known values.
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
