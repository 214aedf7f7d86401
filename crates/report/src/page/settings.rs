//! Describes settings in words.

use super::section::Fact;
use misdeal_core::ClosedSet;
use misdeal_core::{Setting, ThreatModel};
use misdeal_results::Training;
use misdeal_results::numbers::{count, probability, significant};
use misdeal_statistics::EpsilonEstimate;

/// The audited setting, on one line.
pub fn title(setting: &Setting) -> String {
    let epochs =
        if setting.epochs == 1 { "1 epoch".into() } else { format!("{} epochs", count(setting.epochs)) };
    format!(
        "{}, {} steps an epoch, {epochs}, noise multiplier {}",
        setting.scheme,
        count(setting.steps_per_epoch),
        significant(setting.noise_multiplier)
    )
}

/// One sentence on what an adversary may do.
pub fn threat(model: ThreatModel) -> &'static str {
    match model {
        ThreatModel::TargetCanary => "The adversary chooses the record that it looks for, and nothing else.",
        ThreatModel::PartiallyInformed => {
            "The adversary chooses the record that it looks for and one other in each batch."
        }
        ThreatModel::WorstCase => {
            "The adversary chooses all records, as the definition of differential privacy lets it."
        }
    }
}

/// All settings, as facts.
pub fn facts(
    setting: &Setting,
    training: Option<&Training>,
    estimate: Option<&EpsilonEstimate>,
) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("batch scheme", setting.scheme.to_string()),
        Fact::new("noise multiplier", setting.noise_multiplier.to_string()),
        Fact::new("steps per epoch", count(setting.steps_per_epoch)),
        Fact::new("epochs", count(setting.epochs)),
        Fact::new("batch size", count(setting.batch_size)),
        Fact::new("threat model", setting.threat_model.name()),
        Fact::new("target's position in the file", count(setting.target_index)),
    ];
    facts.extend(setting.adversary_scheme.map(|scheme| Fact::new("adversary assumes", scheme.to_string())));
    if let Some(training) = training {
        let recipe = &training.recipe;
        let debias = if recipe.debias { ", bias modelled" } else { "" };
        let records = format!("{}, {} records", training.dataset, count(training.dataset_size));
        let model = format!("{}, {} parameters", training.model, count(training.parameters));
        facts.push(Fact::new("data set", records));
        facts.push(Fact::new("model", model));
        facts.push(Fact::new("learning rate", recipe.learning_rate.to_string()));
        facts.push(Fact::new("clipping norm", recipe.clip_norm.to_string()));
        facts.push(Fact::new("canaries", format!("{} {}{debias}", recipe.canaries, recipe.canary.name())));
        if let Some(independence) = training.independence.filter(|_| recipe.canaries > 1) {
            facts.push(Fact::new("independent scores", independence.name()));
        }
        facts.extend(
            training
                .target_epsilon
                .map(|target| Fact::new("noise calibrated to epsilon", target.to_string())),
        );
    }
    if let Some(estimate) = estimate {
        facts.push(Fact::new("delta", probability(estimate.delta)));
        facts.push(Fact::new("significance", estimate.significance.to_string()));
        facts.push(Fact::new("estimator", estimate.estimator.name()));
        facts.push(Fact::new("threshold choice", estimate.threshold_choice.name()));
    }
    facts.push(Fact::new("seed", setting.seed.to_string()));
    facts
}
