//! What jobs hand back: the same documents that the command line prints, and the figure that belongs to them.
//!
//! # Why JSON?
//! The module hands over the text that the command line prints, and Python parses it. Both give the same document,
//! and no field is named twice.

use crate::errors::{of_file, refusal};
use crate::pages::unreadable;
use misdeal_files::atomic::write_atomically;
use misdeal_report::{Drawing, Format, StoredResult};
use pyo3::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A finished job's result.
#[pyclass(frozen, module = "misdeal._native")]
pub struct Report {
    json: String,
    has_figure: bool,
}

impl Report {
    /// A report without a figure.
    pub fn new(report: &impl Serialize) -> Self {
        let json = serde_json::to_string(report).expect("reports have only numbers, names and lists of them");
        Report { json, has_figure: false }
    }

    /// A report with the figure that belongs to it, if it is worth drawing.
    pub fn with_figure(report: &impl Serialize, has_figure: bool) -> Self {
        Report { has_figure, ..Self::new(report) }
    }

    /// A document that is JSON already.
    pub fn of_json(json: String) -> Self {
        Report { json, has_figure: false }
    }

    /// Draws the figure, if both it and a place for it are there; without a place nothing is laid out, and nothing can fail.
    pub fn drawn(self, plot: Option<&Path>) -> PyResult<Self> {
        let Some(path) = plot else { return Ok(self) };
        if let Some(drawing) = self.drawing()? {
            let bytes = drawing.to_bytes(Format::of(path).map_err(refusal)?).map_err(refusal)?;
            write_atomically(path, |sink| sink.write_all(&bytes)).map_err(|error| of_file(&error))?;
        }
        Ok(self)
    }

    /// The figure that is made of the document.
    fn drawing(&self) -> PyResult<Option<Drawing>> {
        if !self.has_figure {
            return Ok(None);
        }
        let result = StoredResult::parse("this result", &self.json).map_err(|error| unreadable(&error))?;
        result.draw().map(Some).map_err(|error| unreadable(&error))
    }
}

#[pymethods]
impl Report {
    /// The JSON document.
    #[getter]
    fn json(&self) -> &str {
        &self.json
    }

    /// The figure as SVG, where there is one.
    fn svg(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| Ok(self.drawing()?.map(|drawing| drawing.to_svg())))
    }

    /// Draws the figure into a file that ends in .svg or .png.
    fn save_plot(&self, path: PathBuf) -> PyResult<()> {
        let Report { json, has_figure } = self;
        Report { json: json.clone(), has_figure: *has_figure }.drawn(Some(&path)).map(drop)
    }
}
