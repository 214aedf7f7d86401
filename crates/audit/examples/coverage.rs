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

/// Whether an audit takes so long that from 1e5 observations on fewer are made: many looks, integrals or recursions.
fn is_slow(name: &str, choice: ThresholdChoice) -> bool {
    choice == ThresholdChoice::Sequential || ["joint-bayesian", "one-run-fdp"].contains(&name)
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
    let slow = is_slow(name, choice) && observations >= 100_000;
    let audits = if slow { plan.slow_audits } else { plan.audits };
    let cells = Cells::new(mechanism);
    let truth = mechanism.epsilon(delta);
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
        "audits": audits, "above_the_truth": above, "mean_epsilon": if mean.is_finite() { json!(mean) } else { Value::Null },
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
                        // A function instead of a threshold: no choice changes anything, but looks do.
                        let same = what.0 == "divergence"
                            && [ThresholdChoice::HoldOut, ThresholdChoice::Max].contains(&choice);
                        // Of those that are not valid in any case, one look is enough to see it.
                        let idle = choice == ThresholdChoice::Sequential
                            && !["clopper-pearson", "divergence"].contains(&what.0);
                        if !same && !idle {
                            coverage.push(measure(mechanism, what, observations, delta, &plan));
                        }
                    }
                }
                eprintln!("{}, delta {delta}, {observations} observations: done", mechanism.name);
            }
        }
    }
    let tight = Plan { audits: tight_audits as u64, slow_audits: tight_audits as u64, seed: plan.seed + 1 };
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
