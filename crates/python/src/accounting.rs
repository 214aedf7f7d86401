//! What theory says.

use crate::calls::{Call, read};
use crate::errors::exception;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::{AccountRequest, CalibrateRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Bounds on epsilon, scheme by scheme.
#[pyfunction]
pub fn account(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, .. } = Call::<AccountRequest>::read(&arguments)?;
    Ok(Report::new(jobs::run(py, threads, progress.as_ref(), |_| misdeal::account(&request))?))
}

/// The noise for a target.
#[pyfunction]
pub fn calibrate(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let request: CalibrateRequest = read(&arguments)?;
    Ok(Report::new(py.detach(|| misdeal::calibrate(&request)).map_err(exception)?))
}
