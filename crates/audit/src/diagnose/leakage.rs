//! What leaks under the scheme that was found.

use super::deal::Deal;
use super::empirical_law;
use super::orders::Orders;
use crate::{Analysis, DiagnoseRequest, MechanismRequest, Result, RunRequest, Unwatched, measure_mechanism};
use misdeal_core::{BatchScheme, Bounds, Diagnosis, Error, Setting};
use misdeal_theory::account;
use serde::Serialize;
use std::collections::BTreeMap;

/// Observations with which a scheme without a formula is audited.
const OBSERVATIONS: u64 = 1_000_000;

/// Noise and delta.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseLevel {
    /// Noise standard deviation divided by the clipping norm.
    pub noise_multiplier: f64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
}

/// What leaks, from both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leakage {
    /// Some adversary learns this much.
    pub epsilon_lower_bound: Option<f64>,
    /// None learns more.
    pub epsilon_upper_bound: Option<f64>,
    /// Whether the lower bound rests on a law that was estimated from the log, and is no bound on anything else.
    pub is_estimate: bool,
    /// How both sides were found.
    pub method: String,
    /// The noise at which they are meant.
    pub noise_multiplier: f64,
    /// The delta at which they are meant.
    pub delta: f64,
    /// Epochs that they are about.
    pub epochs: u64,
}

/// What was found, and what theory says of other schemes with as many steps.
pub struct Costs {
    pub leakage: Leakage,
    pub beside: BTreeMap<&'static str, Bounds>,
}

/// Refuses what can be refused before the log is read.
pub fn check(request: &DiagnoseRequest) -> Result<()> {
    if let Some(NoiseLevel { noise_multiplier, delta }) = request.noise {
        let epochs = request.epochs.unwrap_or(1);
        Setting { noise_multiplier, epochs, ..Setting::default() }.validated()?;
        if !(1e-300..1.0).contains(&delta) {
            let hint = "it is a probability, usually below one over the number of records";
            return Err(Error::bad_value("delta", delta, "a number from 1e-300 to below 1", hint).into());
        }
    }
    Ok(())
}

/// Bounds on what the diagnosed scheme leaks over `epochs` epochs, those of the log if not given.
///
/// Defects are on the safe side: they do not enter the lower bound, and in the upper bound every record is used as often as the most
/// used one.
///
/// # Errors
/// A noise or a number of epochs that is refused.
pub fn of(
    diagnosis: &Diagnosis,
    deal: &Deal,
    orders: Option<&Orders>,
    noise: NoiseLevel,
    epochs: Option<u64>,
) -> Result<Costs> {
    let NoiseLevel { noise_multiplier, delta } = noise;
    let epochs = epochs.unwrap_or(deal.epochs.len() as u64);
    let setting = Setting {
        noise_multiplier,
        steps_per_epoch: deal.epochs.iter().map(|epoch| epoch.ends.len()).max().unwrap_or(1) as u64,
        epochs,
        batch_size: deal.batch_size as u64,
        ..Setting::default()
    }
    .validated()?;
    let bounds = |setting: &Setting| {
        account::bounds(setting, delta).unwrap_or_else(|error| Bounds::unknown(error.to_string()))
    };
    let beside = [BatchScheme::Shuffle, BatchScheme::Poisson].map(|scheme| {
        let setting = Setting { scheme, ..setting.clone() };
        (scheme.name(), bounds(&setting))
    });
    let buffer = diagnosis.parameters.buffer_size.map(|size| size.min(setting.dataset_size()));
    let mut is_estimate = false;
    let mut found = match BatchScheme::from_name(diagnosis.scheme, buffer) {
        Err(_) => {
            is_estimate = true;
            of_unknown(orders, &setting, delta)?
        }
        Ok(_) if diagnosis.parameters.refilled_by.is_some() => {
            is_estimate = true;
            of_unknown(orders, &setting, delta)?
        }
        Ok(BatchScheme::Poisson) => {
            let share = diagnosis.parameters.sampling_probability.unwrap_or(setting.sampling_probability());
            account::poisson_bounds(noise_multiplier, share, setting.steps(), delta)
                .unwrap_or_else(|error| Bounds::unknown(error.to_string()))
        }
        Ok(BatchScheme::WithoutReplacement) => {
            by_audit(&Setting { scheme: BatchScheme::WithoutReplacement, ..setting.clone() }, delta)?
        }
        // A reused order is one epoch at less noise, because the sums over epochs are sufficient.
        Ok(scheme) if diagnosis.parameters.order_is_reused == Some(true) => {
            let noise_multiplier = noise_multiplier / (epochs as f64).sqrt();
            bounds(&Setting { scheme, noise_multiplier, epochs: 1, ..setting.clone() })
        }
        Ok(scheme) => bounds(&Setting { scheme, ..setting.clone() }),
    };
    if let Some((uses, why)) = uses(deal, diagnosis) {
        let used_more = Setting {
            noise_multiplier: noise_multiplier / uses.sqrt(),
            scheme: BatchScheme::FixedOrder,
            ..setting
        };
        found.epsilon_upper_bound =
            used_more.validated().ok().and_then(|setting| bounds(&setting).epsilon_upper_bound);
        found.method = format!("{}; {why}", found.method);
    }
    let Bounds { epsilon_lower_bound, epsilon_upper_bound, method } = found;
    let leakage = Leakage {
        epsilon_lower_bound,
        epsilon_upper_bound,
        is_estimate,
        method,
        noise_multiplier,
        delta,
        epochs,
    };
    Ok(Costs { leakage, beside: beside.into() })
}

/// By how much defects multiply the square of a record's effect, and why.
fn uses(deal: &Deal, diagnosis: &Diagnosis) -> Option<(f64, &'static str)> {
    let twice = |name: &str| diagnosis.defects.iter().any(|defect| defect.defect == name);
    let ranks = deal.uses.by_ranks as f64;
    let copies = deal.uses.by_workers as f64;
    if ranks > 1.0 {
        // Copies may meet in one step, where effects add up before they are squared.
        return Some((ranks * ranks * copies, "upper: all ranks' copies of a record in one step"));
    }
    if copies > 1.0 {
        return Some((copies, "upper: all workers' copies of a record, in fixed order"));
    }
    let is_repeated = twice("padded-with-duplicates") || twice("records-duplicated");
    is_repeated.then_some((4.0, "upper: a record that is dealt twice in an epoch"))
}

/// A lower bound by simulation with the scheme's exact likelihood ratio, for a scheme that theory does not bound.
fn by_audit(setting: &Setting, delta: f64) -> Result<Bounds> {
    let analysis = Analysis { delta, threshold_choice: "band".into(), ..Analysis::default() };
    let run = RunRequest { analysis, ..RunRequest::new(OBSERVATIONS) };
    let request = MechanismRequest { setting: setting.clone(), engine: "cpu".into(), run };
    let measured = measure_mechanism(&request, &Unwatched)?;
    Ok(Bounds {
        epsilon_lower_bound: Some(measured.estimate.empirical_epsilon),
        epsilon_upper_bound: None,
        method: format!(
            "lower: audit with {OBSERVATIONS} observations, 95 % confidence; upper: nobody has proven one"
        ),
    })
}

/// The empirical law where each record is dealt once an epoch; else nothing is known.
fn of_unknown(orders: Option<&Orders>, setting: &Setting, delta: f64) -> Result<Bounds> {
    let Some(orders) = orders else {
        return Ok(Bounds::unknown(
            "records are dealt several times in an epoch, by a law that is not known",
        ));
    };
    let fixed = account::bounds(&Setting { scheme: BatchScheme::FixedOrder, ..setting.clone() }, delta)?;
    let lower = empirical_law::audited(orders, setting, delta)?;
    Ok(Bounds {
        epsilon_lower_bound: lower.map(|lower| lower.min(fixed.epsilon_upper_bound.unwrap_or(lower))),
        epsilon_upper_bound: fixed.epsilon_upper_bound,
        method: format!("{}; upper: fixed order", empirical_law::METHOD),
    })
}
