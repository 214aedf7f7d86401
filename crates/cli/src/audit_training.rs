//! `misdeal audit training`.

use crate::arguments::{CommonArguments, TrainingArguments};
use crate::failure::{Failure, Success};
use crate::interruption;
use crate::progress::Bar;
use misdeal::{DataRequest, TrainingRequest, audit_training};
use misdeal_core::{Blueprint, Error, Recipe, Setting};
use std::path::{Path, PathBuf};

/// Trains, plays the game and reports.
pub fn run(arguments: &TrainingArguments, common: &CommonArguments) -> Result<Success, Failure> {
    let run = arguments.run.request(arguments.observations)?;
    let data = DataRequest {
        dataset: arguments.dataset.clone(),
        folder: arguments.data.clone().or_else(|| std::env::var_os("MISDEAL_DATA").map(PathBuf::from)),
        size: arguments.dataset_size,
    };
    let setting = Setting {
        noise_multiplier: arguments.noise_multiplier.unwrap_or(1.0),
        epochs: arguments.epochs,
        batch_size: arguments.batch_size,
        seed: common.seed,
        ..Setting::default()
    };
    let request = TrainingRequest {
        setting: arguments.game.applied_to(setting, arguments.buffer_size)?,
        target_epsilon: arguments.target_epsilon,
        recipe: recipe(arguments)?,
        data,
        device: arguments.run.device,
        precision: arguments.precision,
        run,
    };
    interruption::listen(interruption::Patience::Little)?;
    let report = {
        let bar = Bar::new(common);
        audit_training(&request, &bar)?
    };
    arguments.run.deliver(&report, common)
}

fn recipe(arguments: &TrainingArguments) -> Result<Recipe, Failure> {
    let path = Path::new(&arguments.model);
    let model = if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        Blueprint::from_toml(&misdeal_files::text::read(path)?)?
    } else {
        Blueprint::named(&arguments.model)?
    };
    let canaries = usize::try_from(arguments.canaries).unwrap_or(usize::MAX);
    if canaries == 0 {
        let hint = "each is one target with a direction of its own";
        return Err(Error::bad_value("canaries", 0, "a whole number from 1", hint).into());
    }
    Ok(Recipe {
        learning_rate: arguments.learning_rate,
        clip_norm: arguments.clip_norm,
        canary: arguments.canary,
        canaries,
        debias: arguments.debias,
        last_batch: arguments.last_batch,
        ..Recipe::new(model)
    })
}
