//! How often each estimate is above the truth, and how large it is: the program behind `bench/coverage.py`.
//!
//! usage: coverage AUDITS SLOW_AUDITS OTHER_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED, e.g. 10000 1000 10000 100 1e6 0; prints
//! JSON.

#[path = "../tests/coverage_cells/mod.rs"]
mod coverage_cells;

use coverage_cells::{Cells, MECHANISMS, Mechanism, audit, is_valid_for};
use misdeal_core::ThresholdChoice;
use misdeal_core::estimate::ESTIMATORS;
use rayon::prelude::*;
use serde_json::{Value, json};
use std::time::Instant;

/// How many audits of a cell are made: `audits` of what is marked valid, `other_audits` of what is not, and `slow_audits` of a
/// confidence sequence above a thousand observations, which looks at a band tens of times in each.
fn audits(plan: &Plan, valid: bool, choice: ThresholdChoice, observations: u64) -> u64 {
    match (valid, choice) {
        (_, ThresholdChoice::Sequential) if observations > 1000 => plan.slow_audits,
        (true, _) => plan.audits,
        (false, _) => plan.other_audits,
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
    other_audits: u64,
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
    let &[audits, slow_audits, other_audits, tight_audits, most_observations, seed] = &numbers[..] else {
        panic!("AUDITS SLOW_AUDITS OTHER_AUDITS TIGHT_AUDITS MOST_OBSERVATIONS SEED");
    };
    let [audits, slow_audits, other_audits, tight_audits, seed] =
        [audits, slow_audits, other_audits, tight_audits, seed].map(|number| number as u64);
    let plan = Plan { audits, slow_audits, other_audits, seed };
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
    let tight = Plan {
        audits: tight_audits,
        slow_audits: tight_audits,
        other_audits: tight_audits,
        seed: plan.seed + 1,
    };
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
