//! What theory says.

use crate::errors::{exception, refusal};
use crate::jobs;
use crate::reports::Report;
use crate::words::Words;
use misdeal::{AccountExtras, AccountSubject, BoundSide, PoissonSampling, calibrate_noise};
use misdeal_core::{BatchScheme, Error, Setting};
use pyo3::prelude::*;
use pyo3::types::PyDict;

impl Words<'_> {
    fn shape(&self) -> PyResult<Setting> {
        Ok(Setting {
            steps_per_epoch: self.count("steps_per_epoch")?,
            epochs: self.count("epochs")?,
            batch_size: self.count("batch_size")?,
            ..Setting::default()
        })
    }
}

/// Bounds on epsilon, scheme by scheme.
#[pyfunction]
pub fn account(
    py: Python<'_>,
    words: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let words = Words(words);
    let noise_multiplier = words.number("noise_multiplier")?;
    let (delta, scheme) = (words.number("delta")?, words.text("scheme")?);
    let buffer_size = words.count_if_any("buffer_size")?;
    let setting = Setting { noise_multiplier, seed: words.count("seed")?, ..words.shape()? };
    let subject = match (words.number_if_any("sampling_probability")?, words.count_if_any("steps")?) {
        (Some(sampling_probability), Some(steps)) => {
            AccountSubject::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps })
        }
        (None, None) => AccountSubject::Schemes { setting: &setting, scheme: &scheme, buffer_size },
        _ => {
            let hint = "or give steps_per_epoch and epochs";
            return Err(refusal(Error::bad_value("steps", "None", "sampling_probability with steps", hint)));
        }
    };
    let extras = AccountExtras {
        epsilon: words.number_if_any("epsilon")?,
        trade_off: words.switch("trade_off")?,
        compare: words.switch("compare")?,
    };
    let threads = words.count_if_any("threads")?;
    let found = jobs::run(py, threads, progress.as_ref(), |_| misdeal::account(&subject, delta, extras))?;
    Ok(Report::new(&found))
}

/// The noise for a target.
#[pyfunction]
pub fn calibrate(py: Python<'_>, words: Bound<'_, PyDict>) -> PyResult<Report> {
    let words = Words(words);
    let scheme = BatchScheme::from_name(&words.text("scheme")?, words.count_if_any("buffer_size")?);
    let setting = Setting { scheme: scheme.map_err(refusal)?, ..words.shape()? };
    let setting = setting.validated().map_err(refusal)?;
    let (target_epsilon, delta) = (words.number("target_epsilon")?, words.number("delta")?);
    let side = match words.one_of("bound", &["upper", "lower"])? {
        "lower" => BoundSide::Lower,
        _ => BoundSide::Upper,
    };
    let found = py.detach(|| calibrate_noise(&setting, target_epsilon, delta, side)).map_err(exception)?;
    Ok(Report::new(&found))
}
