//! Runs audits from Python arguments and returns their reports.

use crate::calls::{Call, read};
use crate::errors::{exception, refusal};
use crate::jobs;
use crate::reports::Report;
use misdeal::MechanismAudit;
use misdeal::request::{AuditMechanismRequest, AuditTrainingRequest};
use misdeal_core::Setting;
use misdeal_results::Audit;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// Returns an audit's report, and draws its figure if the call gives a file.
pub fn report(audit: Audit, plot: Option<&Path>) -> PyResult<Report> {
    let report = if audit.trade_off.is_some() { Report::with_figure(audit) } else { Report::new(audit) };
    report.drawn(plot)
}

/// Plays the game on the batched Gaussian mechanism.
#[pyfunction]
pub fn audit_mechanism(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { mut request, threads, plot } = Call::<AuditMechanismRequest>::read(&arguments)?;
    request.run.trade_off |= plot.is_some();
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::audit_mechanism(&request, watch))?;
    report(found, plot.as_deref())
}

/// Plays the game on DP-SGD with real data and models.
#[pyfunction]
pub fn audit_training(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { mut request, threads, plot } = Call::<AuditTrainingRequest>::read(&arguments)?;
    request.run.trade_off |= plot.is_some();
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::audit_training(&request, watch))?;
    report(found, plot.as_deref())
}

/// Returns the audit of the mechanism that a call asks for, ready to run.
pub fn mechanism(call: &Call<AuditMechanismRequest>) -> PyResult<MechanismAudit> {
    MechanismAudit::try_from(&call.request).map_err(exception)
}

/// Returns the validated setting that the arguments describe.
pub fn setting(arguments: &Bound<'_, PyDict>) -> PyResult<Setting> {
    let request: AuditMechanismRequest = read(arguments)?;
    request.setting().and_then(Setting::validated).map_err(refusal)
}

/// Returns a setting's hash and its JSON, if every argument is in its range.
#[pyfunction]
pub fn describe_setting(arguments: Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let setting = setting(&arguments)?;
    let json = serde_json::to_string(&setting).expect("a setting has only numbers and names");
    Ok((setting.hash().to_string(), json))
}
