//! The audit finds the epsilon that an independent simulation finds, scheme by scheme.

use misdeal::{Analysis, MechanismAudit, RunOptions, Unwatched, measure_mechanism};
use misdeal_core::{BatchScheme, Setting, StoreKind, ThreatModel};
use misdeal_statistics::ThresholdChoice;
use misdeal_testkit::golden;
use rayon::prelude::*;

/// Audits of each case, with seeds of their own, and the standard errors that the means may be apart: with 40 runs of the
/// simulation, Student's t with 138 degrees of freedom is beyond 5.2 with probability 7e-7.
const AUDITS: (u64, f64) = (100, 5.2);
/// The same where an audit takes long: 20 runs, 43 degrees of freedom, probability 1e-6.
const LONG_AUDITS: (u64, f64) = (25, 5.7);

#[derive(serde::Deserialize)]
struct Simulation {
    observations: u64,
    delta: f64,
    significance: f64,
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    scheme: String,
    buffer_size: Option<u64>,
    adversary_scheme: Option<String>,
    threat_model: ThreatModel,
    noise_multiplier: f64,
    steps_per_epoch: u64,
    epochs: u64,
    batch_size: u64,
    target_index: u64,
    /// Of the simulation, and what they gave.
    runs: u64,
    mean: f64,
    standard_deviation: f64,
}

impl Case {
    fn setting(&self, seed: u64) -> Setting {
        let scheme = BatchScheme::from_name(&self.scheme, self.buffer_size).unwrap();
        let adversary = self.adversary_scheme.as_ref();
        Setting {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps_per_epoch,
            epochs: self.epochs,
            batch_size: self.batch_size,
            scheme,
            threat_model: self.threat_model,
            target_index: self.target_index,
            adversary_scheme: adversary.map(|name| BatchScheme::from_name(name, None).unwrap()),
            seed,
            ..Setting::default()
        }
    }
}

/// The paper's Algorithm 1 on both sides, each with its own generator, dealer, likelihood and Beta quantile. Means over
/// seeds are compared by Student's test with pooled variances.
#[test]
fn means_agree_with_the_simulation() {
    let simulation: Simulation = golden("mechanism_simulation.toml");
    assert_eq!(simulation.case.len(), 16);
    let mut wrong = Vec::new();
    for case in &simulation.case {
        let audit = |seed| {
            let request = MechanismAudit {
                setting: case.setting(seed),
                run: RunOptions {
                    analysis: Analysis {
                        delta: simulation.delta,
                        significance: simulation.significance,
                        threshold_choice: ThresholdChoice::Max,
                        ..Analysis::default()
                    },
                    scores: StoreKind::Exact,
                    ..RunOptions::new(simulation.observations)
                },
                ..MechanismAudit::default()
            };
            *measure_mechanism(&request, &Unwatched).unwrap().estimate.empirical_epsilon
        };
        let cost_of_a_step = match case.scheme.as_str() {
            "poisson" => 5,
            // Left to the reference engine.
            "batch-then-shuffle" => 20,
            _ => 1,
        };
        let is_long = case.steps_per_epoch * cost_of_a_step > 100;
        let (audits, most_apart) = if is_long { LONG_AUDITS } else { AUDITS };
        let epsilons: Vec<f64> = (0..audits).into_par_iter().map(audit).collect();
        let [ours, theirs] = [audits as f64, case.runs as f64];
        let mean = epsilons.iter().sum::<f64>() / ours;
        let squares: f64 = epsilons.iter().map(|epsilon| (epsilon - mean).powi(2)).sum();
        let variance = (squares + (theirs - 1.0) * case.standard_deviation.powi(2)) / (ours + theirs - 2.0);
        let apart = (mean - case.mean) / (variance * (1.0 / ours + 1.0 / theirs)).sqrt();
        println!("{}: {mean:.4}, simulation {:.4}, {apart:+.2} standard errors", case.scheme, case.mean);
        if apart.is_nan() || apart.abs() > most_apart {
            wrong.push(format!("{:?}: {mean} for {}, {apart} standard errors", case.setting(0), case.mean));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
