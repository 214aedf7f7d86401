//! The results of jobs: the documents that the command line prints, with their figures.
//!
//! # Why JSON?
//! The module returns the text that the command line prints, and Python parses it. Both give the same document, and no field is
//! defined twice.

use crate::errors::{of_file, refusal};
use crate::pages::unreadable;
use misdeal_files::atomic::write_atomically;
use misdeal_report::{Figure, Format, figure};
use misdeal_results::Document;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// The result of a finished job.
#[pyclass(frozen, module = "misdeal._native")]
pub struct Report {
    json: String,
    /// The document behind the figure, if there is one.
    drawn: Option<Document>,
}

impl Report {
    /// Returns a report without a figure.
    pub fn new(document: impl Into<Document>) -> Self {
        Report { json: document.into().to_json(), drawn: None }
    }

    /// Returns a report with its figure.
    pub fn with_figure(document: impl Into<Document>) -> Self {
        let document = document.into();
        Report { json: document.to_json(), drawn: Some(document) }
    }

    /// Returns a report of a single estimate, which has no document.
    pub fn of_json(json: String) -> Self {
        Report { json, drawn: None }
    }

    /// Draws the figure into `plot`, if there are both. Without `plot`, nothing is drawn and nothing can fail.
    pub fn drawn(self, plot: Option<&Path>) -> PyResult<Self> {
        plot.map_or(Ok(()), |path| self.draw(path)).map(|()| self)
    }

    fn draw(&self, path: &Path) -> PyResult<()> {
        if let Some(figure) = self.figure()? {
            let bytes = figure.to_bytes(Format::of(path).map_err(refusal)?).map_err(refusal)?;
            write_atomically(path, |sink| sink.write_all(&bytes)).map_err(|error| of_file(&error))?;
        }
        Ok(())
    }

    /// Returns the figure of the document.
    fn figure(&self) -> PyResult<Option<Figure>> {
        self.drawn
            .as_ref()
            .map(|document| figure("this result", document))
            .transpose()
            .map_err(|error| unreadable(&error))
    }
}

#[pymethods]
impl Report {
    /// Returns the JSON document.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// Returns the figure as SVG, if there is one.
    fn svg(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| Ok(self.figure()?.map(|figure| figure.to_svg())))
    }

    /// Draws the figure into a file that ends in .svg or .png.
    fn save_plot(&self, path: PathBuf) -> PyResult<()> {
        self.draw(&path)
    }
}
