//! Theory's bounds, scheme by scheme.

use crate::Result;
use crate::accounted::{Accounted, PoissonSampling};
use crate::run::check_claim;
use misdeal_core::{Error, SchemeName, Setting};
use misdeal_results::request::{self, AccountRequest, CountedSteps};
use misdeal_results::{Account, RunShape, Theory};
use misdeal_theory::work::Work;
use std::collections::BTreeMap;

/// The subject of an account: schemes of a setting, or Poisson sampling.
#[derive(Debug, Clone)]
pub(crate) enum AccountSubject<'a> {
    /// The named scheme of a setting, or all schemes. Schemes with a buffer stay unknown under `all` unless `buffer_size` is
    /// given.
    Schemes {
        /// The setting: noise, steps and epochs.
        setting: Setting,
        /// The name of a scheme, or `all`.
        scheme: &'a str,
        /// Buffer size for schemes that have a buffer.
        buffer_size: Option<u64>,
        /// The steps as the request states them.
        counted: CountedSteps,
    },
    /// Poisson sampling with any probability and number of steps.
    Poisson(PoissonSampling),
}

impl<'a> AccountSubject<'a> {
    /// Returns the subject of a request.
    ///
    /// # Errors
    /// The request has a probability without steps, steps without a probability, or a shape beside them.
    fn of(request: &'a AccountRequest) -> Result<Self> {
        let &AccountRequest { noise_multiplier, ref shape, ref scheme, .. } = request;
        let usual = request::ShapeRequest::default();
        let (sampling_probability, steps) = match (request.sampling_probability, shape.steps) {
            (Some(sampling_probability), Some(steps)) => (sampling_probability, steps),
            (None, _) => {
                let counted = shape.counted()?;
                // Poisson sampling has no epochs that could be incomplete.
                let setting = if scheme == "poisson" {
                    counted.with_epochs(counted.epochs)
                } else {
                    counted.whole_epochs()?
                };
                let setting = Setting { noise_multiplier, ..setting };
                return Ok(Self::Schemes { setting, scheme, buffer_size: shape.buffer_size, counted });
            }
            (Some(_), None) => {
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
        let is_usual = [shape.steps_per_epoch, shape.epochs] == [usual.steps_per_epoch, usual.epochs]
            && shape.dataset_size.is_none();
        if !["all", "poisson"].contains(&scheme.as_str()) || !is_usual {
            let hint = "they stand for Poisson sampling, whose `steps` count all epochs together";
            let allowed = "no other scheme and no shape beside it";
            return Err(Error::bad_value("sampling_probability", sampling_probability, allowed, hint).into());
        }
        Ok(Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }))
    }
}

/// The largest share of the remaining work that one part of a command may take.
const SHARE: f64 = 0.8;

/// Returns bounds on epsilon at `delta` for each scheme, and what else the request asks for.
///
/// The command takes at most about 10 s of processor time and 1 GB. If that is not enough, some bounds are wider. A side may also
/// be `None`; then its `method` gives the reason.
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
/// The setting, the scheme's name, delta or epsilon is refused.
pub fn account(request: &AccountRequest) -> Result<Account> {
    let &AccountRequest { delta, epsilon, trade_off, compare, .. } = request;
    check_claim(request.claimed_epsilon)?;
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
    let poisson_epsilon = claim.as_ref().and_then(|claim| claim.epsilon_upper_bound);
    let claimed_epsilon = request.claimed_epsilon.or(poisson_epsilon);
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
            AccountSubject::Schemes { setting, buffer_size, counted, .. } => {
                Some(RunShape { dataset_size: counted.dataset_size, ..RunShape::of(setting, *buffer_size) })
            }
            AccountSubject::Poisson(_) => None,
        },
        delta,
        claimed_epsilon,
        claim_is_given: request.claimed_epsilon.is_some(),
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
