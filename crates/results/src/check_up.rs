//! [`CheckUp`]: what the tests of one training's faults found, and its words.

use crate::numbers;
use misdeal_core::ClosedSet;
use misdeal_statistics::checkup::{CheckName, Outcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The probability with which a check-up may accuse a correct training.
pub const CHECK_UP_SIGNIFICANCE: f64 = 1e-4;

/// One test of a check-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TestedFault {
    /// The test, by what holds if it passes.
    pub name: CheckName,
    /// The p-value of a correct training; null if the record has nothing to test.
    pub p_value: Option<f64>,
    /// Whether the training is not accused.
    pub passed: bool,
    /// What was found, in a sentence.
    pub message: String,
}

/// A check-up of a training: a test for each fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckUp {
    /// The runs that were checked.
    pub runs: u64,
    /// Outputs along canaries, over all runs and steps.
    pub outputs: u64,
    /// The probability with which all tests together may accuse a correct training.
    pub significance: f64,
    /// The p-value of all tests together, by Bonferroni's rule.
    pub p_value: f64,
    /// Whether no test accuses the training.
    pub passed: bool,
    /// The answer in a sentence or two.
    pub sentence: String,
    /// The tests.
    pub tests: Vec<TestedFault>,
}

impl CheckUp {
    /// Builds the document from what the tests found. `tensors` are their names, for people.
    pub fn new(runs: u64, outputs: u64, found: &[(CheckName, Outcome)], tensors: &[String]) -> Self {
        let tested = found.iter().filter(|(_, outcome)| outcome.p_value.is_some()).count().max(1) as f64;
        let tests: Vec<TestedFault> = found
            .iter()
            .map(|&(name, outcome)| {
                let passed = outcome.p_value.is_none_or(|p| p * tested >= CHECK_UP_SIGNIFICANCE);
                let message = message(name, &outcome, passed, tensors);
                TestedFault { name, p_value: outcome.p_value, passed, message }
            })
            .collect();
        let smallest = tests.iter().filter_map(|test| test.p_value).fold(1.0, f64::min);
        let p_value = (smallest * tested).min(1.0);
        let sentence = sentence(found, &tests, p_value, runs);
        CheckUp {
            runs,
            outputs,
            significance: CHECK_UP_SIGNIFICANCE,
            p_value,
            passed: tests.iter().all(|test| test.passed),
            sentence,
            tests,
        }
    }
}

/// The message of the clearest fault, and the names of the others.
fn sentence(found: &[(CheckName, Outcome)], tests: &[TestedFault], p_value: f64, runs: u64) -> String {
    let mut failed: Vec<_> = found.iter().zip(tests).filter(|(_, test)| !test.passed).collect();
    let of_runs = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
    failed.sort_by(|(one, _), (other, _)| clearness(one).partial_cmp(&clearness(other)).expect("no NaN"));
    let Some(((_, first), others)) = failed.split_first() else {
        let tested = tests.iter().filter(|test| test.p_value.is_some()).count();
        return format!(
            "No fault found in {of_runs}: all {tested} tests pass ({} for all together).",
            shown(p_value)
        );
    };
    let p = shown(first.p_value.unwrap_or(1.0));
    let also = match others {
        [] => String::new(),
        [(_, one)] => format!(" {} fails too.", one.name.name()),
        several => {
            let names: Vec<_> = several.iter().map(|(_, test)| test.name.name()).collect();
            format!(" {} fail too.", names.join(", "))
        }
    };
    format!("Fault found in {of_runs} ({}, {p}): {}{also}", first.name.name(), first.message)
}

fn shown(p_value: f64) -> String {
    format!("p {}{}", if p_value < 1e-99 { "" } else { "= " }, numbers::p_value(p_value))
}

/// The clearest fault has the smallest p-value. Among those that are 0, it is the most particular one.
///
/// Canaries that are not planted come first: natural gradients are then where other tests expect none.
fn clearness((name, outcome): &(CheckName, Outcome)) -> (f64, u8, f64) {
    if *name == CheckName::CanariesPlanted && outcome.measured < 0.5 {
        return (-1.0, 0, 0.0);
    }
    let rank = match name {
        CheckName::FreshNoiseInSteps | CheckName::FreshNoiseInRuns | CheckName::FreshNoiseInTensors => 0,
        CheckName::Clipping | CheckName::CanariesPlanted => 1,
        CheckName::NoiseInEveryTensor | CheckName::NoiseInEveryStep => 2,
        CheckName::NoiseScale => 3,
        _ => 4,
    };
    (outcome.p_value.unwrap_or(1.0), rank, outcome.measured)
}

/// What a test found, in a sentence.
fn message(name: CheckName, outcome: &Outcome, passed: bool, tensors: &[String]) -> String {
    let Outcome { p_value, measured, at } = *outcome;
    if p_value.is_none() {
        return not_tested(name).into();
    }
    let share = numbers::percent(measured);
    let at = at.unwrap_or(0);
    let tensor = || tensors.get(at).map_or_else(|| format!("tensor {at}"), |name| format!("tensor {name}"));
    match (name, passed) {
        (CheckName::NoiseScale, true) if measured > 1.05 => format!(
            "Outputs vary {measured:.2} times as much as the claimed noise. Natural gradients add to it; more noise costs \
             accuracy, not privacy."
        ),
        (CheckName::NoiseScale, true) => format!("The noise is {measured:.2} times the claimed noise."),
        (CheckName::NoiseScale, false) => {
            format!("The noise is too small: {measured:.2} times the claimed noise.")
        }
        (CheckName::NoiseInEveryStep, true) => "Every step has the claimed noise.".into(),
        (CheckName::NoiseInEveryStep, false) => {
            format!("Step {at} has {measured:.2} times the claimed noise; there may be more such steps.")
        }
        (CheckName::NoiseInEveryTensor, true) => "Every tensor has the claimed noise.".into(),
        (CheckName::NoiseInEveryTensor, false) => {
            format!("{} has {measured:.2} times the claimed noise.", crate::capitalised(&tensor()))
        }
        (CheckName::NoiseInEveryOutput, true) => "No more outputs without noise than chance allows.".into(),
        (CheckName::NoiseInEveryOutput, false) => format!("{share} of the outputs have no noise."),
        (CheckName::FreshNoiseInSteps, true) => "No two steps have the same noise.".into(),
        (CheckName::FreshNoiseInSteps, false) => {
            format!(
                "Steps {at} apart have the same noise (correlation {measured:.2}). It cancels in a difference."
            )
        }
        (CheckName::FreshNoiseInTensors, true) => "No two tensors have the same noise.".into(),
        (CheckName::FreshNoiseInTensors, false) => {
            format!("Tensors have the same noise (correlation {measured:.2}). It cancels in a difference.")
        }
        (CheckName::FreshNoiseInRuns, true) => "No two runs have the same noise.".into(),
        (CheckName::FreshNoiseInRuns, false) => format!(
            "Runs have the same noise (correlation {measured:.2}). A constant seed makes the noise no secret."
        ),
        (CheckName::Clipping, true) => {
            format!("A canary shows at {measured:.2} times the clipping norm; at most 1 is allowed.")
        }
        (CheckName::Clipping, false) => format!(
            "A canary shows at {measured:.2} times the clipping norm; at most 1 is allowed. {}",
            cause_of_response(measured)
        ),
        (CheckName::CanariesPlanted, true) => "The canaries reach the outputs.".into(),
        (CheckName::CanariesPlanted, false) => format!(
            "A canary shows at {measured:.2} times the clipping norm instead of 1: the audit sees less than it should. \
             Ghost clipping and frozen layers have this effect."
        ),
        (CheckName::BatchSizes, true) => "Batch sizes vary as under Poisson sampling.".into(),
        (CheckName::BatchSizes, false) => format!(
            "Batch sizes are not those of Poisson sampling: {share} of the batches have exactly the expected size. If \
             your account assumes another scheme, name it."
        ),
        (CheckName::Appearances, true) => "Records appear as often as under Poisson sampling.".into(),
        (CheckName::Appearances, false) => format!(
            "Records do not appear as under Poisson sampling: {share} of them appear exactly once in an epoch. Under a shuffle all do."
        ),
        (CheckName::FixedNormalisation, true) => "The noise does not tell the size of its batch.".into(),
        (CheckName::FixedNormalisation, false) => format!(
            "The noise tells the size of its batch: small batches have {measured:.2} times the noise of large ones. Divide by \
             the expected size."
        ),
        (CheckName::EqualNoise, true) => "The noise is the same in all steps and directions.".into(),
        (CheckName::EqualNoise, false) => format!(
            "The noise differs between steps or directions, by up to {measured:.2} times. Bounds from several canaries may rest \
             on equal noise."
        ),
        (CheckName::UniformShuffle, true) => "Places of canaries are those of a uniform shuffle.".into(),
        (CheckName::UniformShuffle, false) => {
            "The shuffle is not uniform. Its account and bounds from several canaries assume that it is."
                .into()
        }
        (CheckName::FreshShuffle, true) => "Every epoch is shuffled anew.".into(),
        (CheckName::FreshShuffle, false) => {
            "Epochs are not shuffled independently of each other. Their account assumes it.".into()
        }
    }
}

fn cause_of_response(measured: f64) -> &'static str {
    match measured {
        5.0.. => "Gradients are not clipped.",
        1.9..2.1 => "Gradients are counted twice, as faulty accumulation does.",
        _ => "Clipping tensor by tensor gives the square root of the number of tensors.",
    }
}

fn not_tested(name: CheckName) -> &'static str {
    match name {
        CheckName::FreshNoiseInRuns => "Not tested: this needs two runs.",
        CheckName::FixedNormalisation => {
            "Not tested: this needs batches of several sizes, and canaries that no natural gradient reaches."
        }
        CheckName::EqualNoise => "Not tested: this needs canaries that no natural gradient reaches.",
        CheckName::BatchSizes | CheckName::Appearances => "Not tested: Poisson sampling is not claimed.",
        CheckName::UniformShuffle | CheckName::FreshShuffle => {
            "Not tested: a uniform shuffle is not claimed."
        }
        _ => "Not tested: the record has nothing that this test needs.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(p_value: f64, measured: f64) -> Outcome {
        Outcome { p_value: Some(p_value), measured, at: Some(1) }
    }

    #[test]
    fn the_clearest_fault_comes_first_and_others_are_named() {
        let found = [
            (CheckName::NoiseScale, outcome(0.0, 0.8)),
            (CheckName::NoiseInEveryStep, outcome(0.0, 0.0)),
            (CheckName::Clipping, outcome(1e-3, 1.1)),
            (CheckName::FreshNoiseInRuns, Outcome::default()),
        ];
        let checked = CheckUp::new(1, 100, &found, &[]);
        assert!(!checked.passed && checked.p_value == 0.0);
        assert!(checked.sentence.contains("Step 1 has 0.00 times"), "{}", checked.sentence);
        assert!(checked.sentence.ends_with("noise-scale fails too."), "{}", checked.sentence);
        assert!(checked.tests[2].passed && checked.tests[3].passed && checked.tests[3].p_value.is_none());
    }

    #[test]
    fn the_level_is_that_of_all_tests_together() {
        let level = CHECK_UP_SIGNIFICANCE / 2.0;
        let checked = |p| {
            let found = [(CheckName::NoiseScale, outcome(p, 0.9)), (CheckName::Clipping, outcome(0.5, 1.0))];
            CheckUp::new(2, 100, &found, &[])
        };
        assert!(!checked(0.99 * level).passed && checked(1.01 * level).passed);
        assert!(checked(0.3).sentence.starts_with("No fault found in 2 runs"), "{}", checked(0.3).sentence);
    }

    #[test]
    fn canaries_that_are_not_planted_come_first() {
        let found = [
            (CheckName::FreshNoiseInSteps, outcome(1e-30, 0.3)),
            (CheckName::CanariesPlanted, outcome(1e-20, 0.1)),
        ];
        assert!(CheckUp::new(1, 100, &found, &[]).sentence.contains("(canaries-planted, p = 1.0e-20)"));
    }

    #[test]
    fn more_noise_is_said_and_not_accused() {
        let checked = CheckUp::new(1, 100, &[(CheckName::NoiseScale, outcome(1.0, 2.0))], &[]);
        assert!(checked.passed && checked.tests[0].message.contains("not privacy"));
    }
}
