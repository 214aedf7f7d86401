//! What theory says, scheme by scheme, and the noise that a target needs.

use crate::{MonteCarloBound, Result, SCHEMA_VERSION};
use misdeal_core::{BatchScheme, Bounds, Error, Setting};
use misdeal_theory::calibrate::calibrate;
use misdeal_theory::{account, poisson};
use serde::Serialize;
use std::collections::BTreeMap;

/// What theory says about one or more schemes.
#[derive(Debug, Clone, Serialize)]
pub struct AccountReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// The noise multiplier.
    pub noise_multiplier: f64,
    /// Steps in all epochs together.
    pub steps: u64,
    /// The probability with which a record is in a given batch.
    pub sampling_probability: f64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// What a library that assumes Poisson sampling would state, whatever the scheme.
    pub claimed_epsilon: Option<f64>,
    /// Bounds, by scheme.
    pub schemes: BTreeMap<&'static str, Bounds>,
    /// The modelled pair of one scheme by simulation: an independent check of theory, no verdict on an implementation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monte_carlo: Option<MonteCarloBound>,
}

/// Bounds for the named scheme of a setting, or for `all`.
///
/// With `all`, schemes with a buffer are left unknown unless `buffer_size` is given.
///
/// # Errors
/// A setting, a scheme's name or a delta that is refused.
pub fn account_schemes(
    setting: &Setting,
    scheme: &str,
    buffer_size: Option<u64>,
    delta: f64,
) -> Result<AccountReport> {
    let bounds = |scheme| account::bounds(&Setting { scheme, ..setting.clone() }.validated()?, delta);
    let mut schemes = BTreeMap::new();
    if scheme == "all" {
        for name in BatchScheme::NAMES {
            let buffered = BatchScheme::has_buffer(name);
            let found = match BatchScheme::from_name(name, buffer_size.filter(|_| buffered)) {
                Err(_) if buffered => Bounds::unknown("give --buffer-size"),
                scheme => bounds(scheme?)?,
            };
            schemes.insert(name, found);
        }
    } else {
        let scheme = BatchScheme::from_name(scheme, buffer_size)?;
        schemes.insert(scheme.name(), bounds(scheme)?);
    }
    let claimed = match schemes.get("poisson") {
        Some(found) => found.epsilon_upper_bound,
        None => bounds(BatchScheme::Poisson)?.epsilon_upper_bound,
    };
    Ok(report(
        setting.noise_multiplier,
        setting.steps(),
        setting.sampling_probability(),
        delta,
        claimed,
        schemes,
    ))
}

/// Bounds for Poisson sampling with any probability and number of steps.
///
/// # Errors
/// A value that the accountant refuses.
pub fn account_poisson(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
) -> Result<AccountReport> {
    let found = poisson::epsilon(noise_multiplier, sampling_probability, steps, delta)?;
    let bounds = Bounds {
        epsilon_lower_bound: Some(found.epsilon_lower_bound),
        epsilon_upper_bound: Some(found.epsilon_upper_bound),
        method: account::POISSON_METHOD.into(),
    };
    let claimed = bounds.epsilon_upper_bound;
    let schemes = BTreeMap::from([("poisson", bounds)]);
    Ok(report(noise_multiplier, steps, sampling_probability, delta, claimed, schemes))
}

fn report(
    noise_multiplier: f64,
    steps: u64,
    sampling_probability: f64,
    delta: f64,
    claimed_epsilon: Option<f64>,
    schemes: BTreeMap<&'static str, Bounds>,
) -> AccountReport {
    AccountReport {
        schema_version: SCHEMA_VERSION,
        command: "account",
        version: env!("CARGO_PKG_VERSION"),
        noise_multiplier,
        steps,
        sampling_probability,
        delta,
        claimed_epsilon,
        schemes,
        monte_carlo: None,
    }
}

/// Which side of a scheme's epsilon a calibration goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundSide {
    /// The noise is enough: the upper bound meets the target.
    Upper,
    /// Less noise is known not to be enough: the lower bound meets the target.
    Lower,
}

/// A calibrated noise multiplier.
#[derive(Debug, Clone, Serialize)]
pub struct CalibrateReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// The noise, to 1e-6 relatively.
    pub noise_multiplier: f64,
    /// The bound on epsilon at that noise.
    pub epsilon: f64,
    /// What was asked for.
    pub target_epsilon: f64,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// The scheme.
    #[serde(flatten)]
    pub scheme: BatchScheme,
    /// The side of the bound that meets the target.
    pub bound: BoundSide,
}

/// The smallest noise with which a bound on the setting's scheme is at most `target_epsilon`.
///
/// # Errors
/// A value that is refused, a scheme of which this side is not known, or a target that no noise meets.
pub fn calibrate_noise(
    setting: &Setting,
    target_epsilon: f64,
    delta: f64,
    side: BoundSide,
) -> Result<CalibrateReport> {
    let found = calibrate(target_epsilon, |noise_multiplier| {
        let setting = Setting { noise_multiplier, ..setting.clone() }.validated()?;
        let bounds = account::bounds(&setting, delta)?;
        let (name, bound) = match side {
            BoundSide::Upper => ("upper", bounds.epsilon_upper_bound),
            BoundSide::Lower => ("lower", bounds.epsilon_lower_bound),
        };
        bound.ok_or_else(|| {
            let hint = format!("for {} it is not known: {}", setting.scheme, bounds.method);
            Error::bad_value("bound", name, "a side that is known", hint)
        })
    })?;
    Ok(CalibrateReport {
        schema_version: SCHEMA_VERSION,
        command: "calibrate",
        version: env!("CARGO_PKG_VERSION"),
        noise_multiplier: found.noise_multiplier,
        epsilon: found.epsilon,
        target_epsilon,
        delta,
        scheme: setting.scheme,
        bound: side,
    })
}
