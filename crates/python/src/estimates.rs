//! Estimates epsilon from scores of any source.

use crate::calls::Call;
use crate::errors::{exception, of_file, refusal};
use crate::jobs;
use crate::reports::Report;
use misdeal::estimate_arrays;
use misdeal::request::EstimateRequest;
use misdeal_core::Error;
use misdeal_statistics::binomial::upper_bound;
use misdeal_statistics::{
    ERROR_ESTIMATORS, ErrorCounts, ErrorEstimator, OneSided, check_levels, epsilon_of_split,
};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;

/// The scores of one world: an array, used without a copy, or the name of a file.
#[derive(FromPyObject)]
pub enum Scores<'py> {
    Array(PyReadonlyArray1<'py, f64>),
    File(PathBuf),
}

impl Scores<'_> {
    fn read(&self, name: &'static str) -> PyResult<Cow<'_, [f64]>> {
        match self {
            Self::Array(array) => array.as_slice().map(Cow::Borrowed).map_err(|_| {
                let hint = "numpy.ascontiguousarray makes one";
                refusal(Error::bad_value(name, "an array with gaps", "a contiguous array", hint))
            }),
            Self::File(path) => {
                misdeal_files::scores::read(path).map(Cow::Owned).map_err(|error| of_file(&error))
            }
        }
    }
}

/// Estimates epsilon from scores.
#[pyfunction]
pub fn estimate(
    py: Python<'_>,
    scores_in: Scores<'_>,
    scores_out: Scores<'_>,
    arguments: Bound<'_, PyDict>,
) -> PyResult<Report> {
    let Call { mut request, threads, plot } = Call::<EstimateRequest>::read(&arguments)?;
    request.trade_off |= plot.is_some();
    if let (Scores::File(one), Scores::File(other)) = (&scores_in, &scores_out) {
        misdeal::check_apart(one, other).map_err(exception)?;
    }
    let (scores_in, scores_out) = (scores_in.read("scores_in")?, scores_out.read("scores_out")?);
    let found = jobs::run(py, threads, None, |_| estimate_arrays(&scores_in, &scores_out, &request))?;
    let report = if found.trade_off.is_some() { Report::with_figure(found) } else { Report::new(found) };
    report.drawn(plot.as_deref())
}

/// Estimates epsilon from one file with the scores of both worlds.
#[pyfunction]
pub fn estimate_file(py: Python<'_>, arguments: Bound<'_, PyDict>) -> PyResult<Report> {
    let Call { mut request, threads, plot } = Call::<EstimateRequest>::read(&arguments)?;
    request.trade_off |= plot.is_some();
    let found = jobs::run(py, threads, None, |_| misdeal::estimate_scores(&request))?;
    let report = if found.trade_off.is_some() { Report::with_figure(found) } else { Report::new(found) };
    report.drawn(plot.as_deref())
}

/// Returns the estimator with this name, among those that need the errors at one threshold only.
fn error_estimator(name: &str) -> PyResult<&'static dyn ErrorEstimator> {
    if let Some(found) = ERROR_ESTIMATORS.iter().find(|one| one.name() == name) {
        return Ok(*found);
    }
    let names: Vec<_> = ERROR_ESTIMATORS.iter().map(|one| one.name()).collect();
    let allowed = format!("one of {}", names.join(", "));
    Err(refusal(Error::bad_value("estimator", name, allowed, "check the spelling")))
}

/// Returns the epsilon of one part of the scores, at the best threshold for the other. `orders` begin with the part that chooses.
#[pyfunction]
pub fn epsilon_of_parts(
    py: Python<'_>,
    estimator: Option<&str>,
    scores: (PyReadonlyArray1<'_, f64>, PyReadonlyArray1<'_, f64>),
    orders: (PyReadonlyArray1<'_, i64>, PyReadonlyArray1<'_, i64>),
    cuts: (usize, usize),
    delta: f64,
    significance: f64,
) -> PyResult<f64> {
    let estimator = estimator.map_or(Ok(&OneSided as &dyn ErrorEstimator), error_estimator)?;
    let part = |scores: &PyReadonlyArray1<'_, f64>, order: &PyReadonlyArray1<'_, i64>| -> Option<Vec<f64>> {
        let scores = scores.as_array();
        order.as_array().iter().map(|&place| scores.get(usize::try_from(place).ok()?).copied()).collect()
    };
    let ordered = part(&scores.0, &orders.0).zip(part(&scores.1, &orders.1));
    let split = ordered.as_ref().and_then(|(inside, outside)| {
        Some([inside.split_at_checked(cuts.0)?, outside.split_at_checked(cuts.1)?])
    });
    let Some([inside, outside]) = split else {
        return Err(refusal(Error::bad_value("orders", "out of range", "places of scores", "permute them")));
    };
    py.detach(|| {
        epsilon_of_split([inside.0, outside.0], [inside.1, outside.1], estimator, delta, significance)
    })
    .map_err(refusal)
}

/// Returns the epsilon that the errors at one threshold show.
#[pyfunction]
pub fn epsilon_of_errors(
    estimator: &str,
    false_positives: u64,
    false_negatives: u64,
    observations_in: u64,
    observations_out: u64,
    delta: f64,
    significance: f64,
) -> PyResult<f64> {
    check_levels(delta, significance).map_err(refusal)?;
    let found = error_estimator(estimator)?;
    for (name, errors, most) in [
        ("false_positives", false_positives, observations_out),
        ("false_negatives", false_negatives, observations_in),
    ] {
        if errors > most || most == 0 {
            let allowed = format!("a whole number from 0 to {most}, of at least one");
            return Err(refusal(Error::bad_value(
                name,
                errors,
                allowed,
                "errors are some of the observations",
            )));
        }
    }
    let counts = ErrorCounts { false_positives, false_negatives, observations_in, observations_out };
    Ok(found.epsilon(&counts, delta, significance))
}

/// Returns upper Clopper-Pearson bounds. At such a rate, so few counts occur with probability `tail_probability`.
#[pyfunction]
pub fn clopper_pearson_upper<'py>(
    py: Python<'py>,
    counts: PyReadonlyArray1<'py, i64>,
    trials: u64,
    tail_probability: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    check_levels(0.0, tail_probability).map_err(refusal)?;
    let counts: Vec<i64> = counts.as_array().iter().copied().collect();
    if let Some(count) = counts.iter().find(|count| **count < 0 || count.unsigned_abs() > trials) {
        let allowed = format!("whole numbers from 0 to {trials}");
        return Err(refusal(Error::bad_value("counts", count, allowed, "they are some of the trials")));
    }
    let bounds = jobs::run(py, None, None, |_| {
        Ok(counts
            .par_iter()
            .map(|count| upper_bound(*count as u64, trials, tail_probability).value)
            .collect())
    })?;
    Ok(PyArray1::from_vec(py, bounds))
}
