//! How often each estimate is above the truth, and how large it is: the program behind `bench/coverage.py`.
//!
//! usage: coverage AUDITS SLOW_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED, e.g. 10000 1000 100 1e6 0; prints JSON.

#[path = "../tests/coverage_cells/mod.rs"]
mod coverage_cells;

use coverage_cells::{Cells, MECHANISMS, Mechanism, audit, is_valid_for};
use misdeal_core::ThresholdChoice;
use misdeal_core::estimate::ESTIMATORS;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

/// How many audits of a cell are made: `audits` of what is marked valid up to ten thousand observations, and a fifth of them beyond;
/// `slow_audits` of what is not, of which it is enough to see that it is not, and half of those of a confidence sequence,
/// which looks at a band tens of times in each.
fn audits(plan: &Plan, valid: bool, choice: ThresholdChoice, observations: u64) -> u64 {
    match (valid, choice) {
        (_, ThresholdChoice::Sequential) => plan.slow_audits / 2,
        (true, _) if observations > 10_000 => plan.audits / 5,
        (true, _) => plan.audits,
        (false, _) => plan.slow_audits,
    }
}

/// Whether a threshold choice is measured at all: bands and looks make sense only for what holds at each threshold.
fn is_measured(name: &str, choice: ThresholdChoice) -> bool {
    match (name, choice) {
        // A function instead of a threshold: no choice changes anything, but looks do.
        ("divergence", _) => [ThresholdChoice::Band, ThresholdChoice::Sequential].contains(&choice),
        ("clopper-pearson", _) => true,
        (_, ThresholdChoice::Sequential) => false,
        ("one-run" | "one-run-fdp" | "gdp", _) => true,
        (_, choice) => choice != ThresholdChoice::Band,
    }
}

struct Plan {
    audits: u64,
    slow_audits: u64,
    seed: u64,
}

fn measure(
    mechanism: &Mechanism,
    what: (&str, ThresholdChoice),
    observations: u64,
    delta: f64,
    plan: &Plan,
) -> Value {
    let (name, choice) = what;
    let audits = audits(plan, is_valid_for(mechanism, name, choice), choice, observations);
    let cells = Cells::new(mechanism);
    let truth = mechanism.epsilon(delta);
    let start = Instant::now();
    // Collected in order, so that the mean does not depend on the number of threads.
    let epsilons: Vec<f64> = (0..audits)
        .into_par_iter()
        .map(|number| audit(&cells, what, observations, delta, (plan.seed, number)))
        .collect();
    let above = epsilons.iter().filter(|&&epsilon| epsilon > truth + 1e-9).count();
    let mean = epsilons.iter().sum::<f64>() / audits as f64;
    json!({
        "mechanism": mechanism.name, "delta": delta, "observations": observations, "estimator": name,
        "threshold_choice": choice.name(), "valid": is_valid_for(mechanism, name, choice), "true_epsilon": truth,
        "audits": audits, "seconds": start.elapsed().as_secs_f64(), "above_the_truth": above, "mean_epsilon": if mean.is_finite() { json!(mean) } else { Value::Null },
    })
}

fn main() {
    let numbers: Vec<f64> = std::env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let &[audits, slow_audits, tight_audits, most_observations, seed] = &numbers[..] else {
        panic!("AUDITS SLOW_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED");
    };
    let plan = Plan { audits: audits as u64, slow_audits: slow_audits as u64, seed: seed as u64 };
    let mut coverage = Vec::new();
    for mechanism in &MECHANISMS {
        for delta in [1e-5, 0.01] {
            for observations in [1000, 10_000, 100_000, 1_000_000] {
                if observations as f64 > most_observations {
                    continue;
                }
                for estimator in ESTIMATORS {
                    for choice in ThresholdChoice::ALL {
                        let what = (estimator.name(), choice);
                        if is_measured(what.0, choice) {
                            coverage.push(measure(mechanism, what, observations, delta, &plan));
                        }
                    }
                }
                eprintln!("{}, delta {delta}, {observations} observations: done", mechanism.name);
            }
        }
    }
    let tight =
        Plan { audits: 5 * tight_audits as u64, slow_audits: 2 * tight_audits as u64, seed: plan.seed + 1 };
    let tightness: Vec<Value> = [100_000, 1_000_000, 10_000_000]
        .into_iter()
        .flat_map(|observations| {
            let valid = [
                ("clopper-pearson", ThresholdChoice::HoldOut),
                ("clopper-pearson", ThresholdChoice::Band),
                ("clopper-pearson", ThresholdChoice::Sequential),
                ("divergence", ThresholdChoice::Band),
            ];
            valid.map(|what| measure(&MECHANISMS[2], what, observations, 1e-5, &tight))
        })
        .collect();
    println!("{}", json!({ "coverage": coverage, "tightness": tightness }));
}
