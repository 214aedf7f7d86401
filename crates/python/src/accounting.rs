//! Accounting: theory's bounds, model cards and calibration.

use crate::calls::{Call, read};
use crate::errors::exception;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::{AccountRequest, CalibrateRequest, CheckRequest, SweepRequest};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns bounds on epsilon, scheme by scheme.
#[pyfunction]
pub fn account(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, plot } = Call::<AccountRequest>::read(&arguments)?;
    let found = jobs::run(py, threads, progress.as_ref(), |_| misdeal::account(&request))?;
    Report::with_figure(found).drawn(plot.as_deref())
}

/// Checks model cards and returns verdicts.
#[pyfunction]
pub fn check(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, plot } = Call::<CheckRequest>::read(&arguments)?;
    let job = |watch: &dyn misdeal::Progress| misdeal::check(&request, watch);
    let found = jobs::run(py, threads, progress.as_ref(), job)?;
    Report::with_figure(found).drawn(plot.as_deref())
}

/// Checks a model card over a range of fields.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, plot } = Call::<SweepRequest>::read(&arguments)?;
    let job = |watch: &dyn misdeal::Progress| misdeal::sweep(&request, watch);
    let found = jobs::run(py, threads, progress.as_ref(), job)?;
    Report::with_figure(found).drawn(plot.as_deref())
}

/// Returns the noise for a target.
#[pyfunction]
pub fn calibrate(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let request: CalibrateRequest = read(&arguments)?;
    Ok(Report::new(py.detach(|| misdeal::calibrate(&request)).map_err(exception)?))
}
