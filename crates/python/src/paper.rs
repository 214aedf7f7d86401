//! Compares the paper's tables and figures with our results.

use crate::calls::Call;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::ReproduceRequest;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Re-runs the paper's experiments and compares the numbers.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, plot } = Call::<ReproduceRequest>::read(&arguments)?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal_paper::reproduce(&request, watch))?;
    Report::with_figure(found).drawn(plot.as_deref())
}
