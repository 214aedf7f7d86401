//! The training that a model card states, checked and completed.

use misdeal_core::{BatchScheme, Error, MOST_STEPS, Result, SchemeName, Setting, check_noise_multiplier};
use misdeal_results::CardSetting;
use misdeal_results::numbers::{count, probability};
use misdeal_results::request::Card;
use misdeal_theory::check_delta;

use crate::run::check_claim;

/// The training of a card. Every field is in its range.
#[derive(Debug, Clone)]
pub struct Training {
    /// The numbers of the card.
    pub setting: CardSetting,
    /// How batches are made; `None` if the card does not say.
    pub scheme: Option<BatchScheme>,
    /// The delta at which epsilon is claimed.
    pub delta: f64,
    /// The claimed epsilon, if the card claims one.
    pub claimed_epsilon: Option<f64>,
    /// Assumptions, and other remarks for readers.
    pub remarks: Vec<String>,
}

impl Training {
    /// Checks and completes a card.
    ///
    /// # Errors
    /// A field is missing or out of range. The message names the first such field.
    pub fn of(card: &Card) -> Result<Self> {
        let dataset_size = needed("dataset_size", card.dataset_size, "records in the training data")?;
        let batch_size = needed("batch_size", card.batch_size, "records in a batch")?;
        let noise_multiplier = card.noise_multiplier.ok_or_else(|| {
            missing("noise_multiplier", "a number", "noise standard deviation divided by the clipping norm")
        })?;
        check_noise_multiplier(noise_multiplier)?;
        check_range("dataset_size", dataset_size, 1 << 53, "it counts the records in the training data")?;
        check_range("batch_size", batch_size, dataset_size, "a batch has at most all records")?;
        let steps_per_epoch = card.steps_per_epoch.unwrap_or(dataset_size / batch_size);
        if steps_per_epoch > MOST_STEPS {
            let hint = "an epoch has dataset_size / batch_size steps";
            let allowed = format!("fewer than {MOST_STEPS} batches");
            return Err(Error::bad_value("dataset_size", dataset_size, allowed, hint));
        }
        check_range("steps_per_epoch", steps_per_epoch, 1 << 31, "it counts the batches in an epoch")?;
        if let Some(rate) = card.sampling_probability.filter(|rate| !(*rate > 0.0 && *rate <= 1.0)) {
            let hint = "a record is in a batch with it";
            return Err(Error::bad_value("sampling_probability", rate, "a number above 0, at most 1", hint));
        }
        let (steps, epochs) = match (card.steps, card.epochs) {
            (Some(_), Some(epochs)) => {
                let hint = "steps count all epochs together, so leave out one of the two";
                return Err(Error::bad_value("epochs", epochs, "none beside `steps`", hint));
            }
            (None, None) => {
                return Err(missing("epochs", "a whole number", "or give `steps`, of all epochs together"));
            }
            (Some(steps), None) => (steps, steps.div_ceil(steps_per_epoch)),
            (None, Some(epochs)) => (epochs.saturating_mul(steps_per_epoch), epochs),
        };
        if card.steps == Some(0) {
            return Err(Error::bad_value("steps", 0, "a whole number from 1", "counts start at 1"));
        }
        let delta = card.delta.unwrap_or(1.0 / dataset_size as f64);
        check_delta(delta)?;
        check_claim(card.claimed_epsilon)?;
        let scheme =
            card.scheme.as_deref().map(|name| BatchScheme::from_name(name, card.buffer_size)).transpose()?;
        if let (None, Some(size)) = (scheme, card.buffer_size) {
            let hint = "partial-shuffle and stream-shuffle have a buffer";
            return Err(Error::bad_value("buffer_size", size, "none without `scheme`", hint));
        }
        let setting = CardSetting {
            dataset_size,
            batch_size,
            steps_per_epoch,
            epochs,
            steps,
            noise_multiplier,
            scheme: scheme.map(SchemeName::from),
            buffer_size: card.buffer_size,
            sampling_probability: card.sampling_probability,
        };
        let training = Training {
            remarks: remarks(card, &setting, delta),
            setting,
            scheme,
            delta,
            claimed_epsilon: card.claimed_epsilon,
        };
        // Refuses what games and accountants refuse: too many steps, or a buffer larger than the data.
        training.with_epochs(scheme.unwrap_or(BatchScheme::Shuffle), epochs).validated()?;
        Ok(training)
    }

    /// Returns a setting of the mechanism with `epochs` complete epochs.
    pub fn with_epochs(&self, scheme: BatchScheme, epochs: u64) -> Setting {
        let &CardSetting { noise_multiplier, steps_per_epoch, batch_size, .. } = &self.setting;
        Setting { noise_multiplier, steps_per_epoch, epochs, batch_size, scheme, ..Setting::default() }
    }

    /// Like `with_epochs`, but counts only the full batches of an epoch.
    ///
    /// Upper bounds use this setting. Consider a uniform place among all batches, where the last batch is small. It is a mixture
    /// of a uniform place among the full batches and a uniform place among all. A mixture tells no more than its worse part, and
    /// fewer places hide less.
    pub fn with_full_batches(&self, scheme: BatchScheme, epochs: u64) -> Setting {
        let steps_per_epoch = self.setting.steps_per_epoch.min(self.setting.full_batches());
        Setting { steps_per_epoch, ..self.with_epochs(scheme, epochs) }
    }

    /// Returns the setting of the complete epochs only, or `None` if no epoch is complete.
    ///
    /// Every lower bound for these epochs also holds for the whole training.
    pub fn whole_epochs(&self, scheme: BatchScheme) -> Option<Setting> {
        let whole = self.setting.steps / self.setting.steps_per_epoch;
        (whole > 0).then(|| self.with_epochs(scheme, whole))
    }
}

fn missing(field: &'static str, allowed: &str, hint: &str) -> Error {
    Error::bad_value(field, "missing", allowed, hint)
}

fn needed(field: &'static str, value: Option<u64>, hint: &str) -> Result<u64> {
    value.ok_or_else(|| missing(field, "a whole number", hint))
}

fn check_range(field: &'static str, value: u64, most: u64, hint: &str) -> Result<()> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::bad_value(field, value, format!("a whole number from 1 to {most}"), hint))
}

/// Returns the assumptions, and other remarks about the numbers.
fn remarks(card: &Card, setting: &CardSetting, delta: f64) -> Vec<String> {
    let mut remarks = card.remarks.clone();
    let unused = setting.unused_records();
    if unused > 0 && card.steps_per_epoch.is_none() {
        remarks.push(format!(
            "{} of {} records fill no batch and are dropped: an epoch has {} full batches. Bounds are for a record that every epoch uses.",
            count(unused),
            count(setting.dataset_size),
            count(setting.steps_per_epoch)
        ));
    }
    if card.delta.is_none() {
        remarks.push(format!("The card states no delta; 1 / dataset_size is taken, {}.", probability(delta)));
    }
    if card.scheme.is_none() {
        remarks.push(
            "The card does not state how batches were made; it is judged as shuffle and as poisson.".into(),
        );
    }
    let whole = setting.steps / setting.steps_per_epoch;
    if whole * setting.steps_per_epoch != setting.steps {
        remarks.push(format!(
            "{} steps are {} complete epochs and a part: lower bounds of shuffling schemes are for the complete ones, upper \
             bounds for one more.",
            count(setting.steps),
            count(whole)
        ));
    }
    if matches!(setting.scheme, None | Some(SchemeName::Poisson)) && card.sampling_probability.is_none() {
        let (steps, rate) = (setting.steps_per_epoch, setting.sampling_probability());
        // What Opacus computes from the rate, which rounds down.
        let by_rate = (1.0 / rate) as u64;
        if by_rate != steps {
            remarks.push(format!(
                "A library that takes int(1 / rate) for the steps of an epoch counts {by_rate} of {steps}."
            ));
        }
    }
    remarks
}
