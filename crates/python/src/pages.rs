//! Puts stored results on one page, or draws one of them.

use crate::errors::{of_file, refusal};
use misdeal_files::atomic::{Named, check_apart, check_place, write_atomically};
use misdeal_files::stores::check_is_no_store;
use misdeal_files::text;
use misdeal_report::{Layout, PageHead};
use misdeal_results::{Stored, Unreadable, verdict_of_estimate};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// Writes results to one HTML page, or draws one of them. The output's ending decides which.
///
/// Each result has a name. It also has its document, unless the name is that of a file.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    results: Vec<(String, Option<String>)>,
    output: PathBuf,
    title: Option<String>,
    name: Option<String>,
    date: Option<String>,
) -> PyResult<()> {
    let head = PageHead { title, name, date };
    check_place(&output).and_then(|()| check_is_no_store(&output)).map_err(|error| of_file(&error))?;
    let files = results.iter().filter(|(_, document)| document.is_none());
    let files: Vec<Named> = files.map(|(name, _)| ("result", Path::new(name))).collect();
    check_apart(&files, &[("output", &output)]).map_err(refusal)?;
    let layout = Layout::of(&output).map_err(refusal)?;
    py.detach(|| {
        let read = results.iter().map(|(name, document)| {
            let document = match document {
                Some(document) => document.clone(),
                None => text::read_result(Path::new(name)).map_err(|error| of_file(&error))?,
            };
            Stored::parse(name, &document).map_err(|error| unreadable(&error))
        });
        let results = read.collect::<PyResult<Vec<_>>>()?;
        let bytes = layout.bytes(&results, &head).map_err(|error| unreadable(&error))?;
        write_atomically(&output, |sink| sink.write_all(&bytes)).map_err(|error| of_file(&error))
    })
}

/// Returns the verdict of an estimate that is not part of a document.
#[pyfunction]
pub fn verdict(estimate: &str) -> PyResult<String> {
    let verdict = verdict_of_estimate(estimate).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(verdict.sentence)
}

pub fn unreadable(error: &Unreadable) -> PyErr {
    PyValueError::new_err(error.to_string())
}
