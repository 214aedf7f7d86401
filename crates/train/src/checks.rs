//! Checks that setting, recipe and data fit together.

use crate::data::Dataset;
use misdeal_core::{BatchScheme, Error, LastBatch, Recipe, Result, Setting, ThreatModel};

/// # Errors
/// There are too few records, or the data set is inconsistent, or the recipe keeps a last batch that is incomplete.
pub(crate) fn check_data(setting: &Setting, recipe: &Recipe, dataset: &Dataset) -> Result<()> {
    let (needed, present) = (setting.dataset_size(), dataset.train.labels.len() as u64);
    if needed > present {
        let hint = "take fewer or smaller batches: every epoch uses steps_per_epoch * batch_size records";
        return Err(Error::bad_value(
            "dataset_size",
            needed,
            format!("at most {present}, the records of {}", dataset.name),
            hint,
        ));
    }
    if recipe.last_batch == LastBatch::Keep
        && present % setting.batch_size != 0
        && present / setting.batch_size == setting.steps_per_epoch
    {
        let hint =
            "choose a batch_size that divides the number of records, or drop the records that are left over";
        let allowed = format!("drop for {present} records in batches of {}", setting.batch_size);
        return Err(Error::bad_value("last_batch", "keep", allowed, hint));
    }
    for examples in [Some(&dataset.train), dataset.test.as_ref()].into_iter().flatten() {
        let fits = examples.shape == dataset.train.shape
            && examples.features.len() == examples.labels.len() * examples.shape.features()
            && examples.labels.iter().all(|&label| usize::from(label) < dataset.classes)
            && examples.features.iter().all(|feature| feature.is_finite());
        if !fits {
            let hint = "shapes, numbers of features and labels must agree, and features must be finite";
            return Err(Error::bad_value("dataset", &dataset.name, "a data set that is whole", hint));
        }
    }
    Ok(())
}

/// # Errors
/// There are more targets than records, than places in a batch, or than the threat model allows.
pub(crate) fn check_targets(setting: &Setting, recipe: &Recipe) -> Result<()> {
    let targets = recipe.canaries as u64;
    let most = setting.batch_size.min(setting.dataset_size() - setting.target_index);
    if !(1..=most).contains(&targets) {
        let hint = "each canary needs a record from target_index on, and a place in every batch";
        return Err(Error::bad_value("canaries", targets, format!("a whole number from 1 to {most}"), hint));
    }
    let floods =
        setting.threat_model == ThreatModel::WorstCase && setting.scheme == BatchScheme::BatchThenShuffle;
    if targets > 1 && floods {
        let hint = "the worst case against batch-then-shuffle gives every record the gradient of one target";
        return Err(Error::bad_value("canaries", targets, "1", hint));
    }
    Ok(())
}
