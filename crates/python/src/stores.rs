//! Stores of scores for Python.

use crate::calls::read;
use crate::errors::{exception, of_file, refusal};
use crate::reports::Report;
use misdeal::Analysis;
use misdeal::request::MergeRequest;
use misdeal_core::ClosedSet;
use misdeal_core::{ScoreStore, World};
use misdeal_files::stores;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The scores of a set of trials in both worlds. Merging is exact: the order of the parts does not matter.
#[pyclass(frozen, module = "misdeal")]
pub struct Store(Mutex<ScoreStore>);

impl Store {
    /// Wraps a store for Python.
    pub fn new(store: ScoreStore) -> Self {
        Store(Mutex::new(store))
    }

    /// Returns a copy of the current content.
    pub fn copy(&self) -> ScoreStore {
        self.lock().clone()
    }

    /// Changes the content with `change`, and returns its result.
    pub fn update<T>(&self, change: impl FnOnce(&mut ScoreStore) -> T) -> T {
        change(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, ScoreStore> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Store {
    /// Reads a store and checks its seal.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| stores::read(&path)).map(Self::new).map_err(|error| of_file(&error))
    }

    /// Writes the store to a file, completely or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| stores::write(&path, &self.lock())).map_err(|error| of_file(&error))
    }

    /// Adds the trials of other stores. A store that does not belong here is refused, and none of its trials is added.
    #[pyo3(signature = (*others))]
    fn merge(&self, py: Python<'_>, others: Vec<Py<Store>>) -> PyResult<()> {
        for other in others {
            let other = other.get().copy();
            py.detach(|| self.lock().merge(other)).map_err(refusal)?;
        }
        Ok(())
    }

    /// Returns the bytes of the store's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.lock().to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// Reads a store from the bytes of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        py.detach(|| ScoreStore::from_bytes(content)).map(Self::new).map_err(refusal)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = slf.get_type().getattr("from_bytes")?;
        Ok((read, (slf.get().to_bytes(slf.py()),)))
    }

    fn __eq__(&self, py: Python<'_>, other: Bound<'_, Store>) -> bool {
        let other = other.get().copy();
        py.detach(|| *self.lock() == other)
    }

    fn __repr__(&self) -> String {
        let store = self.lock();
        let (kind, lineage) = (store.kind().name(), store.lineage());
        format!("Store({} observations, {kind}, {lineage})", 2 * store.observations_per_world())
    }

    /// Returns the number of observations in both worlds together.
    #[getter]
    fn observations(&self) -> u64 {
        2 * self.lock().observations_per_world()
    }

    /// Returns the trials in the store, the same in both worlds. Each pair is the first trial and the one after the last.
    #[getter]
    fn trials(&self) -> Vec<(u64, u64)> {
        self.lock().trials().iter().map(|range| (range.start, range.end)).collect()
    }

    /// Returns the family of engines that made the scores.
    #[getter]
    fn lineage(&self) -> String {
        self.lock().lineage().to_owned()
    }

    /// Returns what is kept of a score: `counts` or `exact`.
    #[getter]
    fn scores(&self) -> &'static str {
        self.lock().kind().name()
    }

    /// Returns the audited setting as JSON.
    #[getter]
    fn setting_json(&self) -> String {
        serde_json::to_string(self.lock().setting()).expect("a setting has only numbers and names")
    }

    /// Returns the exact scores with and without the target, by trial. Both are empty for a store of counts.
    fn exact_scores<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 2] {
        let store = self.lock();
        [World::In, World::Out].map(|world| {
            let scores = store.exact_scores(world).flat_map(|(_, piece)| piece.iter().copied());
            PyArray1::from_iter(py, scores)
        })
    }

    /// Estimates epsilon from the scores. The store records that they were judged.
    fn estimate(&self, py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
        let analysis: Analysis = read(&arguments)?;
        let found = py.detach(|| misdeal::judge_store(&analysis, &mut self.lock())).map_err(exception)?;
        Ok(Report::of_json(serde_json::to_string(&found).expect("estimates have only numbers and names")))
    }
}

/// Reads stores, merges them and writes the result.
#[pyfunction]
pub fn merge(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let request: MergeRequest = read(&arguments)?;
    Ok(Report::new(py.detach(|| misdeal::merge_stores(&request)).map_err(exception)?))
}
