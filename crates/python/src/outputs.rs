//! Scores and judges the outputs of a user's own training.

use crate::audits::setting;
use crate::calls::read;
use crate::errors::refusal;
use crate::jobs;
use crate::reports::Report;
use misdeal::{Analysis, CoinAnalysis};
use misdeal_core::{ClosedSet, Error, Setting};
use misdeal_results::OutputScore;
use misdeal_train::Adversary;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

/// Returns the outputs as one slice, if their shape is runs by steps.
fn rows<'a>(
    name: &'static str,
    outputs: &'a PyReadonlyArray2<'_, f64>,
    setting: &Setting,
) -> PyResult<&'a [f64]> {
    let steps = setting.steps() as usize;
    if outputs.shape()[1] != steps {
        let shape = format!("an array of {} by {}", outputs.shape()[0], outputs.shape()[1]);
        let hint = "a row is a run, with an output for each of its steps_per_epoch * epochs steps";
        return Err(refusal(Error::bad_value(name, shape, format!("any number of rows by {steps}"), hint)));
    }
    outputs.as_slice().map_err(|_| {
        let hint = "numpy.ascontiguousarray makes one";
        refusal(Error::bad_value(name, "an array with gaps", "a contiguous array", hint))
    })
}

/// Returns the score of each run.
#[pyfunction]
pub fn score_outputs<'py>(
    py: Python<'py>,
    setting_arguments: Bound<'py, PyDict>,
    outputs: PyReadonlyArray2<'py, f64>,
    score: &str,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let setting = setting(&setting_arguments)?;
    let outputs = rows("outputs", &outputs, &setting)?;
    let scores = jobs::run(py, None, None, |_| {
        misdeal::score_outputs(&setting, outputs, OutputScore::from_name(score)?)
    })?;
    Ok(PyArray1::from_vec(py, scores))
}

/// How to judge runs. If no bound from them is valid, `objection` says why.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Judgement {
    #[serde(flatten)]
    analysis: Analysis,
    claimed_epsilon: Option<f64>,
    objection: Option<String>,
}

/// Judges the runs with and without the target.
#[pyfunction]
pub fn judge_outputs(
    py: Python<'_>,
    setting_arguments: Bound<'_, PyDict>,
    outputs_in: PyReadonlyArray2<'_, f64>,
    outputs_out: PyReadonlyArray2<'_, f64>,
    arguments: Bound<'_, PyDict>,
) -> PyResult<Report> {
    let setting = setting(&setting_arguments)?;
    let Judgement { analysis, claimed_epsilon, objection } = read(&arguments)?;
    let outputs_in = rows("outputs_in", &outputs_in, &setting)?;
    let outputs_out = rows("outputs_out", &outputs_out, &setting)?;
    let found = jobs::run(py, None, None, |_| {
        let objection = objection.as_deref();
        misdeal::judge_outputs_despite(
            &setting,
            outputs_in,
            outputs_out,
            &analysis,
            claimed_epsilon,
            objection,
        )
    })?;
    Ok(Report::new(found))
}

/// Judges runs with a fair coin for each canary. Rows are run after run, canary after canary within a run.
#[pyfunction]
pub fn judge_coins(
    py: Python<'_>,
    setting_arguments: Bound<'_, PyDict>,
    outputs: PyReadonlyArray2<'_, f64>,
    coins: PyReadonlyArray1<'_, bool>,
    canaries: u64,
    arguments: Bound<'_, PyDict>,
) -> PyResult<Report> {
    let setting = setting(&setting_arguments)?;
    let analysis: CoinAnalysis = read(&arguments)?;
    let outputs = rows("outputs", &outputs, &setting)?;
    let coins = coins.as_array().to_vec();
    let found =
        jobs::run(py, None, None, |_| misdeal::judge_coins(&setting, outputs, &coins, canaries, &analysis))?;
    Ok(Report::new(found))
}

/// Returns how many runs refute a claim; None if hardly any number does.
#[pyfunction]
pub fn runs_needed(
    py: Python<'_>,
    setting_arguments: Bound<'_, PyDict>,
    canaries: u64,
    arguments: Bound<'_, PyDict>,
) -> PyResult<Option<u64>> {
    let setting = setting(&setting_arguments)?;
    let claim: CoinAnalysis = read(&arguments)?;
    jobs::run(py, None, None, |_| Ok(misdeal::runs_needed(&setting, canaries, &claim)?.runs))
}

/// Describes a setting's adversary: whether it opposes, whether it floods, and whether natural gradients are kept.
#[pyfunction]
pub fn describe_adversary(setting_arguments: Bound<'_, PyDict>) -> PyResult<(bool, bool, bool)> {
    let adversary = Adversary::new(&setting(&setting_arguments)?, 1);
    Ok((adversary.opposes(), adversary.floods(), adversary.keeps_naturals()))
}
