//! What theory says, scheme by scheme, and the noise that a target needs.

use crate::Result;
use crate::accounted::{Accounted, PoissonSampling};
use misdeal_core::{ClosedSet, Error, SchemeName, Setting};
use misdeal_results::{Account, BoundSide, Calibration, Shape, Theory};
use misdeal_theory::account;
use misdeal_theory::calibrate::{self, calibrate};
use misdeal_theory::pld::Side;
use misdeal_theory::work::{self, Work};
use std::collections::BTreeMap;

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
pub fn account(subject: &AccountSubject<'_>, delta: f64, extras: AccountExtras) -> Result<Account> {
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
    let mut schemes = Theory::default();
    for (name, accounted) in &settings {
        if let (SchemeName::Poisson, Some(claim)) = (name, &claim) {
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
    let mut report = Account {
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
                report.comparisons.extend(accounted.comparisons(*name, delta, bounds, work));
                Ok(())
            })?;
        }
    }
    Ok(report)
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
) -> Result<Calibration> {
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
    Ok(Calibration {
        noise_multiplier: found.noise_multiplier,
        epsilon: found.epsilon,
        target_epsilon,
        delta,
        scheme: setting.scheme,
        steps_per_epoch: setting.steps_per_epoch,
        epochs: setting.epochs,
        batch_size: setting.batch_size,
        bound: side,
    })
}
