//! Theory's bounds for the audited scheme, and for Poisson sampling, which is claimed in its place.
//!
//! # Why apart from the measurement?
//! An audit does not wait for a complete theory. A bound without a proof is `null`, with the reason. Also, thousands of audits of
//! one setting need theory only once.

use misdeal_core::{BatchScheme, Bounds, Setting};
use misdeal_results::Theory;
use misdeal_theory::account;
use misdeal_theory::work::Work;

/// Returns bounds on epsilon under the setting's scheme and under Poisson sampling, by scheme name.
///
/// If an accountant refuses a setting, the bounds are unknown, with the reason. A missing theory does not make an audit fail.
///
/// ```
/// let theory = misdeal::promised(&misdeal::Setting::new(1.0), 1e-5);
/// assert!(theory.poisson_upper_bound().is_some_and(|claim| claim < 0.72));
/// ```
pub fn promised(setting: &Setting, delta: f64) -> Theory {
    promised_within(setting, None, delta, &Work::default())
}

/// Like [`promised`], with at most the rest of `work`. Poisson's rate is batch_size / dataset_size if `dataset_size` is known.
pub(crate) fn promised_within(
    setting: &Setting,
    dataset_size: Option<u64>,
    delta: f64,
    work: &Work,
) -> Theory {
    [BatchScheme::Poisson, setting.scheme]
        .into_iter()
        .map(|scheme| {
            let setting = Setting { scheme, ..setting.clone() };
            let bounds = match dataset_size {
                Some(records) if scheme == BatchScheme::Poisson => {
                    let rate = setting.batch_size as f64 / records as f64;
                    let (noise, steps) = (setting.noise_multiplier, setting.steps());
                    account::poisson_bounds_within(noise, rate, steps, delta, work)
                }
                _ => account::bounds_within(&setting, delta, work),
            };
            let bounds = bounds.unwrap_or_else(|error| Bounds::unknown(error.to_string()));
            (scheme.into(), bounds)
        })
        .collect()
}

/// Returns the default claim to test: the upper bound for Poisson sampling.
pub(crate) fn poisson_claim(setting: &Setting, delta: f64) -> Option<f64> {
    let poisson = Setting { scheme: BatchScheme::Poisson, ..setting.clone() };
    account::bounds(&poisson, delta).ok().and_then(|bounds| bounds.epsilon_upper_bound)
}
