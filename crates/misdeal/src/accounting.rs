//! What theory says, scheme by scheme, and the noise that a target needs.

use crate::Result;
use crate::accounted::{Accounted, PoissonSampling};
use misdeal_core::{BatchScheme, ClosedSet, Error, SchemeName, Setting};
use misdeal_results::request::{self, AccountRequest, BoundSide, CalibrateRequest};
use misdeal_results::{Account, Calibration, RunShape, Theory};
use misdeal_theory::account;
use misdeal_theory::calibrate::{self, calibrate};
use misdeal_theory::pld::Side;
use misdeal_theory::work::Work;
use std::collections::BTreeMap;

/// What is to be accounted for.
#[derive(Debug, Clone)]
pub(crate) enum AccountSubject<'a> {
    /// The named scheme of a setting, or `all`; schemes with a buffer are left unknown by `all` unless `buffer_size` is given.
    Schemes {
        /// Noise, steps and epochs.
        setting: Setting,
        /// A scheme's name, or `all`.
        scheme: &'a str,
        /// The buffer of schemes that have one.
        buffer_size: Option<u64>,
    },
    /// Poisson sampling with any probability and number of steps.
    Poisson(PoissonSampling),
}

impl<'a> AccountSubject<'a> {
    /// What a request is about.
    ///
    /// # Errors
    /// A probability without steps, steps without a probability, or a shape beside them.
    fn of(request: &'a AccountRequest) -> Result<Self> {
        let &AccountRequest { noise_multiplier, ref shape, ref scheme, .. } = request;
        let usual = request::ShapeRequest::default();
        let (sampling_probability, steps) = match (request.sampling_probability, request.steps) {
            (Some(sampling_probability), Some(steps)) => (sampling_probability, steps),
            (None, None) => {
                let setting = Setting { noise_multiplier, ..shape.setting() };
                return Ok(Self::Schemes { setting, scheme, buffer_size: shape.buffer_size });
            }
            _ => {
                let hint = "or give `steps_per_epoch` and `epochs`";
                return Err(Error::bad_value(
                    "steps",
                    "missing",
                    "`sampling_probability` with `steps`",
                    hint,
                )
                .into());
            }
        };
        let is_usual = [shape.steps_per_epoch, shape.epochs] == [usual.steps_per_epoch, usual.epochs];
        if !["all", "poisson"].contains(&scheme.as_str()) || !is_usual {
            let hint = "they stand for Poisson sampling, whose `steps` count all epochs together";
            let allowed = "no other scheme and no shape beside it";
            return Err(Error::bad_value("sampling_probability", sampling_probability, allowed, hint).into());
        }
        Ok(Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }))
    }
}

/// The share of the work that is left which one part of a command may take.
const SHARE: f64 = 0.8;

/// Bounds on epsilon at `delta`, scheme by scheme, and what else is asked for.
///
/// The whole takes at most about 10 s of processor time and 1 GB. Where that is not enough, bounds are wider, or a side is `None` and its
/// `method` says so.
///
/// ```
/// use misdeal::request::AccountRequest;
/// let request = AccountRequest { scheme: "poisson".into(), ..AccountRequest::default() };
/// let found = misdeal::account(&request)?;
/// assert!(found.claimed_epsilon.is_some_and(|claim| claim < 0.72));
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// A setting, a scheme's name, a delta or an epsilon that is refused.
pub fn account(request: &AccountRequest) -> Result<Account> {
    let &AccountRequest { delta, epsilon, trade_off, compare, .. } = request;
    let subject = AccountSubject::of(request)?;
    let settings = subject.settings()?;
    let poisson = subject.poisson()?;
    // All parts share one command's work; none takes so much of it that nothing is left for the others.
    let whole = Work::default();
    let extras_asked = [epsilon.is_some(), trade_off, compare];
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
        request: Some(request.clone()),
        noise_multiplier,
        steps,
        sampling_probability,
        shape: match &subject {
            AccountSubject::Schemes { setting, buffer_size, .. } => Some(RunShape::of(setting, *buffer_size)),
            AccountSubject::Poisson(_) => None,
        },
        delta,
        claimed_epsilon,
        schemes,
        epsilon,
        deltas: BTreeMap::new(),
        trade_offs: BTreeMap::new(),
        comparisons: Vec::new(),
    };
    for (name, accounted) in &settings {
        if let Some(epsilon) = epsilon {
            share(&mut |work| {
                report.deltas.insert(*name, accounted.delta_bounds(epsilon, work)?);
                Ok(())
            })?;
        }
        if trade_off {
            share(&mut |work| {
                report.trade_offs.insert(*name, accounted.trade_off(work)?);
                Ok(())
            })?;
        }
        if compare {
            share(&mut |work| {
                let bounds = &report.schemes[name];
                report.comparisons.extend(accounted.comparisons(*name, delta, bounds, work));
                Ok(())
            })?;
        }
    }
    Ok(report)
}

/// The smallest noise with which a bound on the scheme's epsilon is at most the target.
///
/// ```
/// use misdeal::request::CalibrateRequest;
/// let request = CalibrateRequest { target_epsilon: Some(3.0), ..CalibrateRequest::default() };
/// let found = misdeal::calibrate_noise(&request)?;
/// assert!(found.epsilon <= 3.0);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// A value that is refused, a scheme of which this side is not known, or a target that no noise meets.
pub fn calibrate_noise(request: &CalibrateRequest) -> Result<Calibration> {
    let &CalibrateRequest { delta, bound: side, ref shape, .. } = request;
    let scheme = BatchScheme::from_name(&request.scheme, shape.buffer_size)?;
    let setting = Setting { scheme, ..shape.setting() }.validated()?;
    let target_epsilon = request.target_epsilon.ok_or_else(|| {
        Error::bad_value(
            "target_epsilon",
            "missing",
            "a number",
            "it is the epsilon that the noise must meet",
        )
    })?;
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
        is_out_of_reach |= bounds.method.is_out_of_reach();
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
        request: Some(request.clone()),
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
