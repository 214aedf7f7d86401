//! What theory says, scheme by scheme, and the noise that a target needs.

use crate::accounted::{Accounted, Comparison, PoissonSampling};
use crate::{Result, SCHEMA_VERSION};
use misdeal_core::{BatchScheme, Bounds, ClosedSet, DeltaBounds, Error, Setting, TradeOffBounds};
use misdeal_theory::account;
use misdeal_theory::calibrate::{self, calibrate};
use misdeal_theory::pld::Side;
use misdeal_theory::work::{self, Work};
use serde::Serialize;
use std::collections::BTreeMap;
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

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
    /// The shape of the run that schemes were accounted for with; none for Poisson sampling by its probability.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Shape>,
    /// The delta at which epsilon is meant.
    pub delta: f64,
    /// What a library that assumes Poisson sampling would state, whatever the scheme.
    pub claimed_epsilon: Option<f64>,
    /// Bounds, by scheme.
    pub schemes: BTreeMap<&'static str, Bounds>,
    /// The epsilon at which `deltas` are meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    /// Bounds on delta at `epsilon`, by scheme.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub deltas: BTreeMap<&'static str, DeltaBounds>,
    /// Bounds on the whole trade-off curve, by scheme.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub trade_offs: BTreeMap<&'static str, TradeOffBounds>,
    /// What other methods of the field say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
}

/// Batches and epochs of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Passes over the data.
    pub epochs: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// The buffer of schemes that have one, if it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_size: Option<u64>,
}

impl Shape {
    fn of(setting: &Setting, buffer_size: Option<u64>) -> Self {
        let &Setting { steps_per_epoch, epochs, batch_size, .. } = setting;
        Shape { steps_per_epoch, epochs, batch_size, buffer_size }
    }
}

/// What is to be accounted for.
#[derive(Debug, Clone)]
pub enum AccountSubject<'a> {
    /// The named scheme of a setting, or `all`; schemes with a buffer are left unknown by `all` unless `buffer_size` is given.
    Schemes {
        /// Noise, steps and epochs.
        setting: &'a Setting,
        /// A scheme's name, or `all`.
        scheme: &'a str,
        /// The buffer of schemes that have one.
        buffer_size: Option<u64>,
    },
    /// Poisson sampling with any probability and number of steps.
    Poisson(PoissonSampling),
}

/// What to say beside epsilon.
#[derive(Debug, Clone, Copy, Default)]
pub struct AccountExtras {
    /// Delta at this epsilon.
    pub epsilon: Option<f64>,
    /// The trade-off curves.
    pub trade_off: bool,
    /// Other methods of the field.
    pub compare: bool,
}

/// The share of the work that is left which one part of a command may take.
const SHARE: f64 = 0.8;

/// Bounds on epsilon at `delta`, scheme by scheme, and what else is asked for.
///
/// The whole takes at most about 10 s of processor time and 1 GB. Where that is not enough, bounds are wider, or a side is `None` and its
/// `method` says so.
///
/// # Errors
/// A setting, a scheme's name, a delta or an epsilon that is refused.
pub fn account(subject: &AccountSubject<'_>, delta: f64, extras: AccountExtras) -> Result<AccountReport> {
    let settings = subject.settings()?;
    let poisson = subject.poisson()?;
    // All parts share one command's work; none takes so much of it that nothing is left for the others.
    let whole = Work::default();
    let extras_asked = [extras.epsilon.is_some(), extras.trade_off, extras.compare];
    let mut parts = 1 + settings.len() * (1 + extras_asked.into_iter().filter(|&asked| asked).count());
    let mut share = |answer: &mut dyn FnMut(&Work) -> Result<()>| {
        parts -= 1;
        whole.part(if parts == 0 { 1.0 } else { SHARE } * whole.left(), answer)
    };
    let mut claim = None;
    share(&mut |work| {
        claim = Some(Accounted::Poisson(poisson).bounds(delta, work)?);
        Ok(())
    })?;
    let claimed_epsilon = claim.as_ref().and_then(|claim| claim.epsilon_upper_bound);
    let mut schemes = BTreeMap::new();
    for (name, accounted) in &settings {
        if let (&"poisson", Some(claim)) = (name, &claim) {
            schemes.insert(*name, claim.clone());
            share(&mut |_| Ok(()))?;
            continue;
        }
        share(&mut |work| {
            schemes.insert(*name, accounted.bounds(delta, work)?);
            Ok(())
        })?;
    }
    let PoissonSampling { noise_multiplier, sampling_probability, steps } = poisson;
    let mut report = AccountReport {
        schema_version: SCHEMA_VERSION,
        command: "account",
        version: env!("CARGO_PKG_VERSION"),
        noise_multiplier,
        steps,
        sampling_probability,
        shape: match subject {
            AccountSubject::Schemes { setting, buffer_size, .. } => Some(Shape::of(setting, *buffer_size)),
            AccountSubject::Poisson(_) => None,
        },
        delta,
        claimed_epsilon,
        schemes,
        epsilon: extras.epsilon,
        deltas: BTreeMap::new(),
        trade_offs: BTreeMap::new(),
        comparisons: Vec::new(),
    };
    for (name, accounted) in &settings {
        if let Some(epsilon) = extras.epsilon {
            share(&mut |work| {
                report.deltas.insert(*name, accounted.delta_bounds(epsilon, work)?);
                Ok(())
            })?;
        }
        if extras.trade_off {
            share(&mut |work| {
                report.trade_offs.insert(*name, accounted.trade_off(work)?);
                Ok(())
            })?;
        }
        if extras.compare {
            share(&mut |work| {
                let bounds = &report.schemes[name];
                report.comparisons.extend(accounted.comparisons(name, delta, bounds, work));
                Ok(())
            })?;
        }
    }
    Ok(report)
}

/// Which side of a scheme's epsilon a calibration goes by.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, IntoStaticStr, VariantArray, VariantNames,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BoundSide {
    /// The noise is enough: the upper bound meets the target.
    Upper,
    /// Less noise is known not to be enough: the lower bound meets the target.
    Lower,
}

impl ClosedSet for BoundSide {
    const FIELD: &'static str = "bound";
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
    /// Batches and epochs; the buffer belongs to the scheme.
    #[serde(flatten)]
    pub shape: Shape,
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
    let work = Work::default();
    let (mut evaluations, mut is_out_of_reach) = (0, false);
    let found = calibrate(target_epsilon, |noise_multiplier| {
        let setting = Setting { noise_multiplier, ..setting.clone() }.validated()?;
        let share = calibrate::share_of_work(evaluations);
        evaluations += 1;
        let one = match side {
            BoundSide::Upper => Side::Upper,
            BoundSide::Lower => Side::Lower,
        };
        let bounds =
            work.part(share * work.left(), |work| account::side_within(&setting, delta, one, work))?;
        is_out_of_reach |= bounds.method.contains(work::REASON);
        let bound = match side {
            BoundSide::Upper => bounds.epsilon_upper_bound,
            BoundSide::Lower => bounds.epsilon_lower_bound,
        };
        bound.ok_or_else(|| {
            let hint = format!("for {} it is not known: {}", setting.scheme, bounds.method);
            Error::bad_value("bound", side.name(), "a side that is known", hint)
        })
    });
    let found = found.map_err(|error| match error {
        // The target is fine: what failed is the search for its noise.
        Error::BadValue { field: "bound" | "target_epsilon", .. } if is_out_of_reach => {
            let (field, value) = if setting.epochs > 1 {
                ("epochs", setting.epochs)
            } else {
                ("steps_per_epoch", setting.steps_per_epoch)
            };
            let allowed = "fewer, for which noise is found with 1 GB and 10 s";
            let hint = format!("the bound of {} is out of reach on the way", setting.scheme);
            Error::bad_value(field, value, allowed, hint)
        }
        error => error,
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
        shape: Shape::of(setting, None),
        bound: side,
    })
}
