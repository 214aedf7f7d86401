//! Scores of trained models.

use crate::plan::TrainingPlan;
use crate::reference::ModelOutputs;
use misdeal_core::{BatchScheme, Setting};
use misdeal_game::{TargetModel, log_likelihood_ratio, log_likelihood_ratio_with_variances};

/// The adversary's model of each target: the law of its position, and the shifts that it causes.
pub(crate) fn target_models(setting: &Setting, canaries: usize) -> Vec<TargetModel> {
    believing(setting, setting.scoring_scheme(), canaries)
}

/// The target models of an adversary that assumes `scheme`.
pub(crate) fn believing(setting: &Setting, scheme: BatchScheme, canaries: usize) -> Vec<TargetModel> {
    (0..canaries as u64)
        .map(|k| {
            let of_target = Setting { target_index: setting.target_index + k, ..setting.clone() };
            TargetModel::new(scheme, &of_target)
        })
        .collect()
}

/// The score of every canary: the log-likelihood ratio of its outputs.
///
/// Outputs are recentred, so that a batch without the target has mean zero. If the adversary debiases, it also subtracts the
/// expected bias of natural records.
pub fn scores(plan: &TrainingPlan, outputs: &ModelOutputs) -> Vec<f64> {
    scores_of_models(plan, plan.target_models(), outputs)
}

/// Like [`scores`], with other target models.
pub(crate) fn scores_of_models(
    plan: &TrainingPlan,
    models: &[TargetModel],
    outputs: &ModelOutputs,
) -> Vec<f64> {
    let setting = plan.setting();
    let (noise, steps_per_epoch) = (setting.noise_multiplier, setting.steps_per_epoch);
    let recentring = plan.adversary().recentring();
    models
        .iter()
        .zip(&outputs.projections)
        .enumerate()
        .map(|(k, (model, projections))| match outputs.expected.get(k) {
            None => {
                let recentred: Vec<f64> = projections.iter().map(|o| o + recentring).collect();
                log_likelihood_ratio(model, noise, &(0..steps_per_epoch), &recentred)
            }
            Some(expected) => {
                let pairs = projections.iter().zip(expected);
                let reduced: Vec<f64> = pairs.map(|(o, bias)| o + recentring - bias.mean).collect();
                let variances: Vec<f64> = expected.iter().map(|bias| noise * noise + bias.variance).collect();
                log_likelihood_ratio_with_variances(model, steps_per_epoch, &variances, &reduced)
            }
        })
        .collect()
}
