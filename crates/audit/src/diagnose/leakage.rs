//! What leaks under the scheme that was found.

use super::deal::Deal;
use super::orders::Orders;
use super::{dropped, empirical_law};
use crate::{
    Analysis, DiagnoseRequest, MechanismRequest, Result, RunRequest, Unwatched, engine_on, measure_mechanism,
};
use misdeal_core::{BatchScheme, Bounds, Diagnosis, Setting, binomial};
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::{account, check_delta};
use serde::Serialize;
use std::collections::BTreeMap;

/// Observations with which a scheme without a formula is audited.
const OBSERVATIONS: u64 = 1_000_000;

/// The confidence of intervals and simulations.
const CONFIDENCE: f64 = 0.95;

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
    /// The confidence with which the bounds hold where they rest on a simulation or on what the log shows of the scheme's parameters;
    /// `None` where theory proves them of the scheme that was found.
    pub confidence: Option<f64>,
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
        check_delta(delta)?;
    }
    Ok(())
}

/// Bounds on what the diagnosed scheme leaks over `epochs` epochs, those of the log if not given.
///
/// Defects are on the safe side: in the upper bound every record is used as often as the most used one, and all its uses in an epoch
/// meet in one step; in the lower bound a record is missing as often as the scheme leaves one out. What was
/// estimated from the log is taken at the end of its 95 % interval that errs on the safe side.
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
    let mut confidence = None;
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
            confidence = Some(CONFIDENCE);
            of_poisson(deal, &setting, delta)
        }
        Ok(BatchScheme::WithoutReplacement) => {
            confidence = Some(CONFIDENCE);
            by_audit(&Setting { scheme: BatchScheme::WithoutReplacement, ..setting.clone() }, delta)?
        }
        Ok(scheme) => {
            let (scheme, at_most) = with_the_largest_buffer(scheme, diagnosis, &setting);
            // A reused order is one epoch at less noise, because the sums over epochs are sufficient.
            let is_reused = diagnosis.parameters.order_is_reused == Some(true);
            let noise_multiplier =
                if is_reused { noise_multiplier / (epochs as f64).sqrt() } else { noise_multiplier };
            let epochs = if is_reused { 1 } else { epochs };
            let setting = Setting { scheme, noise_multiplier, epochs, ..setting.clone() };
            let mut found = dropped::allowing_for(bounds(&setting), &setting, orders, delta);
            if let Some(words) = at_most {
                confidence = Some(CONFIDENCE);
                found.method.push_str(&words);
            }
            found
        }
    };
    if let Some((uses, why)) = uses(deal, orders) {
        let is_once_an_epoch =
            orders.is_some() && !["poisson", "without-replacement"].contains(&diagnosis.scheme);
        let fixed_order = Gaussian::fixed_order(noise_multiplier / uses.sqrt(), epochs);
        found.epsilon_upper_bound = is_once_an_epoch.then(|| fixed_order.epsilon_upper_bound(delta));
        found.method = format!("{}; {why}", found.method);
    }
    let Bounds { epsilon_lower_bound, epsilon_upper_bound, method } = found;
    let leakage = Leakage {
        epsilon_lower_bound,
        epsilon_upper_bound,
        is_estimate,
        confidence,
        method,
        noise_multiplier,
        delta,
        epochs,
    };
    Ok(Costs { leakage, beside: beside.into() })
}

/// By how much defects multiply the square of a record's effect, and why.
///
/// Copies by workers are in other steps, so that their squares add up; copies by ranks and repeats within an epoch may meet in one step,
/// where effects add up before they are squared.
fn uses(deal: &Deal, orders: Option<&Orders>) -> Option<(f64, String)> {
    let ranks = deal.uses.by_ranks as f64;
    let workers = deal.uses.by_workers as f64;
    let repeats = orders.map_or(1, |orders| orders.most_uses.max(1)) as f64;
    let mut why = Vec::new();
    if ranks > 1.0 {
        why.push("all ranks' copies of a record in one step".to_owned());
    }
    if workers > 1.0 {
        why.push("all workers' copies of a record".to_owned());
    }
    if repeats > 1.0 {
        why.push(format!("a record that an epoch deals {repeats} times, in one step"));
    }
    let all = (ranks * repeats).powi(2) * workers;
    (!why.is_empty()).then(|| (all, format!("upper: {}, in fixed order", why.join(" and "))))
}

/// Every record in every batch with a probability that the log shows up to a 95 % interval.
fn of_poisson(deal: &Deal, setting: &Setting, delta: f64) -> Bounds {
    let steps: usize = deal.epochs.iter().map(|epoch| epoch.ends.len()).sum();
    let entries: usize = deal.epochs.iter().map(|epoch| epoch.records.len()).sum();
    let chances = steps as u64 * deal.dataset_size as u64;
    let least = binomial::lower_bound(entries as u64, chances, 0.5 * (1.0 - CONFIDENCE)).value;
    let most = binomial::upper_bound(entries as u64, chances, 0.5 * (1.0 - CONFIDENCE)).value;
    let at = |probability: f64| {
        account::poisson_bounds(setting.noise_multiplier, probability, setting.steps(), delta)
    };
    match (at(least), at(most)) {
        (Ok(least), Ok(most)) => Bounds {
            epsilon_lower_bound: least.epsilon_lower_bound,
            epsilon_upper_bound: most.epsilon_upper_bound,
            method: format!("{}, at both ends of the sampling probability's 95 % interval", least.method),
        },
        (Err(error), _) | (_, Err(error)) => Bounds::unknown(error.to_string()),
    }
}

/// A sliding buffer of the largest size that the log allows, and the words for it: a smaller one leaks at least as much.
fn with_the_largest_buffer(
    scheme: BatchScheme,
    diagnosis: &Diagnosis,
    setting: &Setting,
) -> (BatchScheme, Option<String>) {
    match (scheme, diagnosis.parameters.buffer_size_upper_bound) {
        (BatchScheme::StreamShuffle { buffer_size: likeliest }, Some(most)) if most > likeliest => {
            let buffer_size = most.min(setting.dataset_size());
            let words = format!("; lower: at a buffer of {buffer_size}, the end of its 95 % interval");
            (BatchScheme::StreamShuffle { buffer_size }, Some(words))
        }
        _ => (scheme, None),
    }
}

/// A lower bound by simulation with the scheme's exact likelihood ratio, where theory's is far from what leaks.
fn by_audit(setting: &Setting, delta: f64) -> Result<Bounds> {
    let analysis = Analysis { delta, threshold_choice: "band".into(), ..Analysis::default() };
    let run = RunRequest { analysis, ..RunRequest::new(OBSERVATIONS) };
    let request = MechanismRequest { setting: setting.clone(), engine: engine_on("cpu", None), run };
    let measured = measure_mechanism(&request, &Unwatched)?.estimate.empirical_epsilon;
    let known = account::bounds(setting, delta)?;
    let (proven, upper) = (known.epsilon_lower_bound.unwrap_or(0.0), known.epsilon_upper_bound);
    if proven >= measured {
        return Ok(known);
    }
    let how = known.method.split_once("upper: ").map_or("none", |(_, upper)| upper);
    Ok(Bounds {
        epsilon_lower_bound: Some(upper.map_or(measured, |upper| measured.min(upper))),
        epsilon_upper_bound: upper,
        method: format!("lower: audit with {OBSERVATIONS} observations, 95 % confidence; upper: {how}"),
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
