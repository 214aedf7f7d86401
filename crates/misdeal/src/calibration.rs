//! The noise that a target epsilon needs, under one scheme or under each scheme.

use crate::{Error, Result};
use misdeal_core::{BatchScheme, Bounds, ClosedSet, SchemeName, Setting};
use misdeal_results::request::{BoundSide, CalibrateRequest, CountedSteps};
use misdeal_results::{CalibratedScheme, Calibration, Calibrations, Document};
use misdeal_theory::account::{poisson_bounds_within, side_within};
use misdeal_theory::calibrate::{self, RELATIVE_WIDTH, calibrate_by};
use misdeal_theory::check_delta;
use misdeal_theory::pld::Side;
use misdeal_theory::work::{self, Work};
use rayon::prelude::*;

/// Returns the noise for a target under one scheme, or under each scheme if the scheme is `all`.
///
/// ```
/// use misdeal::request::CalibrateRequest;
/// let request = CalibrateRequest { target_epsilon: Some(3.0), scheme: "poisson".into(), ..CalibrateRequest::default() };
/// assert!(misdeal::calibrate_noise(&request)?.epsilon <= 3.0);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The same as for [`calibrate_noise`] and [`calibrate_all`].
pub fn calibrate(request: &CalibrateRequest) -> Result<Document> {
    Ok(if request.scheme == ALL { calibrate_all(request)?.into() } else { calibrate_noise(request)?.into() })
}

/// The name that selects every scheme.
const ALL: &str = "all";

/// Returns the smallest noise for which a bound on the scheme's epsilon is at most the target.
///
/// # Errors
/// A value is refused, this side of the scheme's bounds is unknown, or no noise reaches the target.
pub fn calibrate_noise(request: &CalibrateRequest) -> Result<Calibration> {
    let scheme = BatchScheme::from_name(&request.scheme, request.shape.buffer_size)?;
    let found = Search::of(request)?.noise_for(scheme, RELATIVE_WIDTH, &Work::default())?;
    Ok(Calibration { request: Some(request.clone()), ..found })
}

/// Returns the smallest noise for the target under each scheme.
///
/// Each scheme has its share of the work, so the whole takes seconds. A scheme whose noise is unknown gives the reason.
///
/// # Errors
/// A value is refused.
pub fn calibrate_all(request: &CalibrateRequest) -> Result<Calibrations> {
    let search = Search::of(request)?;
    let buffer_size = request.shape.buffer_size;
    // Refuses what every scheme refuses, and a buffer larger than the data.
    let buffered = buffer_size.map(|buffer_size| BatchScheme::StreamShuffle { buffer_size });
    search.setting(buffered.unwrap_or(BatchScheme::FixedOrder)).validated()?;
    search.noise_for(BatchScheme::FixedOrder, WIDTH, &Work::of(SHARE))?;
    let one = |&name: &SchemeName| {
        let has_buffer = BatchScheme::has_buffer(name.name());
        if has_buffer && buffer_size.is_none() {
            return (name, CalibratedScheme::unknown(name, "it needs --buffer-size".into()));
        }
        let found = BatchScheme::from_name(name.name(), buffer_size.filter(|_| has_buffer))
            .map_err(Error::from)
            .and_then(|scheme| search.noise_for(scheme, WIDTH, &Work::of(SHARE)));
        let scheme = match found {
            Ok(found) => CalibratedScheme::found(&found),
            Err(error) => CalibratedScheme::unknown(name, reason(&error)),
        };
        (name, scheme)
    };
    let &CountedSteps { steps_per_epoch, epochs, batch_size, dataset_size, .. } = &search.counted;
    Ok(Calibrations {
        request: Some(request.clone()),
        target_epsilon: search.target_epsilon,
        delta: search.delta,
        steps_per_epoch,
        epochs,
        batch_size,
        dataset_size,
        buffer_size,
        bound: search.side,
        schemes: SchemeName::all().par_iter().map(one).collect(),
    })
}

/// Units of work for one of several schemes. Most schemes have a closed form and need almost none.
const SHARE: f64 = work::COMMAND;

/// Relative accuracy of the noise for one of several schemes. It is coarse, so fewer evaluations are needed, each on a finer grid.
const WIDTH: f64 = 1e-4;

/// Returns why a scheme has no noise. The message does not begin with the name of a flag.
fn reason(error: &Error) -> String {
    match error.refusal() {
        Some(misdeal_core::Error::BadValue { hint, .. }) => hint.clone(),
        _ => error.to_string(),
    }
}

/// A checked request for a calibration.
struct Search {
    counted: CountedSteps,
    target_epsilon: f64,
    delta: f64,
    side: BoundSide,
}

impl Search {
    fn of(request: &CalibrateRequest) -> Result<Self> {
        let counted = request.shape.counted()?;
        if request.scheme != BatchScheme::Poisson.name() {
            counted.whole_epochs()?;
        }
        let target_epsilon = request.target_epsilon.ok_or_else(|| {
            let hint = "it is the epsilon that the noise must meet";
            misdeal_core::Error::bad_value("target_epsilon", "missing", "a number", hint)
        })?;
        check_delta(request.delta)?;
        Ok(Search { counted, target_epsilon, delta: request.delta, side: request.bound })
    }

    fn setting(&self, scheme: BatchScheme) -> Setting {
        Setting { scheme, ..self.counted.with_epochs(self.counted.epochs) }
    }

    /// Returns a scheme's bounds at some noise. The wanted side is among them.
    fn bounds(&self, setting: &Setting, work: &Work) -> misdeal_core::Result<Bounds> {
        if setting.scheme == BatchScheme::Poisson {
            let (rate, steps) = (self.counted.sampling_probability(), self.counted.steps);
            return poisson_bounds_within(setting.noise_multiplier, rate, steps, self.delta, work);
        }
        let side = match self.side {
            BoundSide::Upper => Side::Upper,
            BoundSide::Lower => Side::Lower,
        };
        side_within(setting, self.delta, side, work)
    }

    fn noise_for(&self, scheme: BatchScheme, width: f64, work: &Work) -> Result<Calibration> {
        let setting = self.setting(scheme).validated()?;
        let (mut evaluations, mut is_out_of_reach) = (0, false);
        let search = calibrate::Search { relative_width: width, ..calibrate::Search::default() };
        let found = calibrate_by(self.target_epsilon, &search, |noise_multiplier| {
            let setting = Setting { noise_multiplier, ..setting.clone() }.validated()?;
            let share = calibrate::share_of_work(evaluations);
            evaluations += 1;
            let bounds = work.part(share * work.left(), |work| self.bounds(&setting, work))?;
            is_out_of_reach |= bounds.method.is_out_of_reach();
            let bound = match self.side {
                BoundSide::Upper => bounds.epsilon_upper_bound,
                BoundSide::Lower => bounds.epsilon_lower_bound,
            };
            bound.ok_or_else(|| {
                let hint = format!("for {} it is not known: {}", setting.scheme, bounds.method);
                misdeal_core::Error::bad_value("bound", self.side.name(), "a side that is known", hint)
            })
        });
        let found = found.map_err(|error| match error {
            // The target is fine: what failed is the search for its noise.
            misdeal_core::Error::BadValue { field: "bound" | "target_epsilon", .. } if is_out_of_reach => {
                let (field, value) = if setting.epochs > 1 {
                    ("epochs", setting.epochs)
                } else {
                    ("steps_per_epoch", setting.steps_per_epoch)
                };
                let allowed = "fewer, for which noise is found with 1 GB and 10 s";
                let hint = format!("the bound of {} is out of reach on the way", setting.scheme);
                misdeal_core::Error::bad_value(field, value, allowed, hint)
            }
            error => error,
        })?;
        Ok(Calibration {
            request: None,
            noise_multiplier: found.noise_multiplier,
            epsilon: found.epsilon,
            target_epsilon: self.target_epsilon,
            delta: self.delta,
            scheme: setting.scheme,
            steps_per_epoch: setting.steps_per_epoch,
            epochs: setting.epochs,
            batch_size: setting.batch_size,
            dataset_size: self.counted.dataset_size,
            bound: self.side,
        })
    }
}
