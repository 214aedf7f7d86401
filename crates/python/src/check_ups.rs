//! Checks one training for faults.

use crate::calls::read;
use crate::jobs;
use crate::reports::Report;
use misdeal::RunRecord;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The arrays of one run, by the names of [`RunRecord`]. Tables are steps by canaries, or steps by coordinates.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Run<'py> {
    outputs: PyReadonlyArray2<'py, f64>,
    planted: PyReadonlyArray2<'py, f64>,
    placed: PyReadonlyArray2<'py, bool>,
    coins: PyReadonlyArray1<'py, bool>,
    noise_multipliers: PyReadonlyArray1<'py, f64>,
    batch_sizes: PyReadonlyArray1<'py, i64>,
    coordinates: PyReadonlyArray2<'py, f64>,
    coordinate_means: Option<PyReadonlyArray2<'py, f64>>,
    coordinate_tensors: PyReadonlyArray1<'py, i64>,
}

impl Run<'_> {
    fn record(&self) -> RunRecord {
        let table = |array: &PyReadonlyArray2<'_, f64>| array.as_array().iter().copied().collect();
        RunRecord {
            canaries: self.coins.as_array().len(),
            outputs: table(&self.outputs),
            planted: table(&self.planted),
            placed: self.placed.as_array().iter().copied().collect(),
            coins: self.coins.as_array().to_vec(),
            noise_multipliers: self.noise_multipliers.as_array().to_vec(),
            batch_sizes: self.batch_sizes.as_array().iter().map(|&size| size.unsigned_abs()).collect(),
            coordinates: table(&self.coordinates),
            coordinate_means: self.coordinate_means.as_ref().map(table),
            coordinate_tensors: self
                .coordinate_tensors
                .as_array()
                .iter()
                .map(|&at| at.unsigned_abs() as usize)
                .collect(),
        }
    }
}

/// Tests the records of runs for each known fault.
#[pyfunction]
pub fn check_up(
    py: Python<'_>,
    runs: Vec<Run<'_>>,
    claim: Bound<'_, PyDict>,
    tensors: Vec<String>,
) -> PyResult<Report> {
    let claim = read(&claim)?;
    let runs: Vec<RunRecord> = runs.iter().map(Run::record).collect();
    let found = jobs::run(py, None, None, |_| misdeal::check_up(&runs, &claim, &tensors))?;
    Ok(Report::new(found))
}
