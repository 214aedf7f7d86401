//! Finds mistakes in real pipelines, from batch logs and Python sources.

use crate::calls::{Call, read};
use crate::errors::of_scan;
use crate::jobs;
use crate::reports::Report;
use misdeal::request::{DiagnoseRequest, ScanRequest};
use misdeal_scan::{Error, Settings, render};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Finds which scheme made the batches of a log, and how much it leaks.
#[pyfunction]
pub fn diagnose(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let Call { request, threads, plot } = Call::<DiagnoseRequest>::read(&arguments)?;
    let found = jobs::run(py, threads, None, |_| misdeal::diagnose(&request))?;
    Report::with_figure(found).drawn(plot.as_deref())
}

/// Finds sampling mistakes in Python sources, or only counts pipelines.
#[pyfunction]
pub fn scan(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let request: ScanRequest = read(&arguments)?;
    let scanned = py.detach(|| {
        let report = misdeal_scan::scan(&request.paths, &Settings::of(&request)?)?;
        Ok::<_, Error>(if request.survey {
            render::survey_document(report)
        } else {
            render::document(report)
        })
    });
    scanned.map(Report::new).map_err(|error| of_scan(&error))
}
