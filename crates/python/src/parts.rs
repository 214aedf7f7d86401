//! Plays parts of an audit on any machine of a cluster, and audits the merged parts.

use crate::audits::{mechanism, report};
use crate::calls::Call;
use crate::errors::exception;
use crate::jobs;
use crate::reports::Report;
use crate::stores::Store;
use misdeal_statistics::Look;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Plays trials `first` to `last` (exclusive) of a mechanism's audit into a store of their own.
#[pyfunction]
pub fn play_part(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    first: u64,
    last: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Store> {
    let call = Call::read(&arguments)?;
    let request = mechanism(&call)?;
    let played = jobs::run(py, call.threads, progress.as_ref(), |watch| {
        misdeal::play_part(&request, first..last, watch)
    })?;
    Ok(Store::new(played))
}

/// Returns the audit of trials that are already played. The store records that they were judged.
#[pyfunction]
pub fn audit_played(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    store: &Bound<'_, Store>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let call = Call::read(&arguments)?;
    let request = mechanism(&call)?;
    let played = store.get().copy();
    let found = jobs::run(py, call.threads, progress.as_ref(), |watch| {
        misdeal::audit_played(&request, played, watch)
    })?;
    store.get().update(|store| request.run.record_judgement(store)).map_err(exception)?;
    report(found, call.plot.as_deref())
}

/// Returns whether a run that may stop early stops at the trials played so far.
#[pyfunction]
pub fn is_decided(py: Python<'_>, arguments: Bound<'_, PyDict>, store: &Bound<'_, Store>) -> PyResult<bool> {
    let request = mechanism(&Call::read(&arguments)?)?;
    let played = store.get().copy();
    py.detach(|| misdeal::is_decided(&request, &played)).map_err(exception)
}

/// Refuses a run that cannot be played, before any trial runs.
#[pyfunction]
pub fn check_mechanism(arguments: Bound<'_, PyDict>) -> PyResult<()> {
    let call = Call::read(&arguments)?;
    jobs::check_threads(call.threads)?;
    misdeal::check_mechanism(&mechanism(&call)?).map_err(exception)
}

/// Returns the looks of a confidence sequence within this many trials in each world.
#[pyfunction]
pub fn looks(trials: u64) -> Vec<u64> {
    Look::all().map(Look::trials).take_while(|look| *look <= trials).collect()
}
