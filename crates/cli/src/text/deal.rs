//! Formats a plan of batches as text for people.

use super::{Text, probability, rounded_down, rounded_up, significant};
use crate::environment::Environment;
use indicatif::{HumanBytes, HumanCount};
use misdeal_core::SchemeName;
use misdeal_results::{DealtPlan, SeedSource};

/// Formats what was written, the epsilon, and what must stay secret.
pub fn plan(plan: &DealtPlan, environment: &Environment) -> String {
    let mut text = Text::new(environment.width());
    if let (Some(upper), Some(delta)) = (plan.epsilon_upper_bound, plan.delta) {
        let lower = plan
            .epsilon_lower_bound
            .map_or(String::new(), |lower| format!("; at least {}", rounded_down(lower)));
        text.prose(&format!(
            "Epsilon is at most {} at delta {}{lower}.",
            rounded_up(upper),
            probability(delta)
        ));
        text.push('\n');
    }
    text.row("batch scheme", plan.scheme.into());
    text.row("records", &HumanCount(plan.dataset_size).to_string());
    let steps = format!("{} in each of {} epochs", HumanCount(plan.steps_per_epoch), plan.epochs);
    text.row("steps", &steps.replace("each of 1 epochs", "1 epoch"));
    let rate = if plan.scheme == SchemeName::Poisson {
        let rate = significant(plan.sampling_probability);
        format!("{} on average; each record joins with probability {rate}", plan.batch_size)
    } else {
        let mean = plan.dataset_size as f64 / plan.steps_per_epoch as f64;
        format!("{} on average; each record joins one batch of each epoch", significant(mean))
    };
    text.row("batch size", &rate);
    if let Some(noise) = plan.noise_multiplier {
        text.row("noise multiplier", &noise.to_string());
    }
    if let (Some(method), None) = (&plan.method, plan.epsilon_upper_bound) {
        text.row("epsilon", &format!("not known: {method}"));
    }
    let seed = match plan.seed {
        SeedSource::System => "secret, and nobody keeps it: this plan cannot be made again",
        SeedSource::File => "secret, in the file of --seed-file",
        SeedSource::Number => "a number, which is for tests alone",
    };
    text.row("seed", seed);
    text.row(
        "plan written to",
        &format!("{} ({}, {:.1} s)", plan.output, HumanBytes(plan.bytes), plan.seconds),
    );
    text.push('\n');
    text.prose(plan.caution());
    text.into_string()
}
