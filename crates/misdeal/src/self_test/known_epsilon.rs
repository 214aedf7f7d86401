//! Audits of the Gaussian mechanism, whose epsilon is known exactly: bounds stay below it, and come near to it.

use super::Found;
use crate::{Analysis, EngineChoice, MechanismRequest, RunRequest, Unwatched, measure_mechanism, play_part};
use misdeal_core::{BatchScheme, Setting};
use misdeal_statistics::{ESTIMATORS, ThresholdChoice, binomial};
use misdeal_theory::gaussian::Gaussian;

/// Large enough that a few million observations come near to epsilon.
const DELTA: f64 = 1e-3;
const SIGNIFICANCE: f64 = 0.05;
/// A sound machine fails with this probability at most.
const FALSE_ALARM_RATE: f64 = 1e-6;

/// How many audits are made, of how many observations, and one of many more.
struct Plan {
    audits: u64,
    observations: u64,
    long: u64,
    /// The share of epsilon that the long audit must show.
    share: f64,
}

/// A fixed order is the Gaussian mechanism: only the target's batch carries information, and its place is known.
fn request(engine: &str, seed: u64, observations: u64, significance: f64) -> MechanismRequest {
    let setting = Setting { scheme: BatchScheme::FixedOrder, seed, ..Setting::default() };
    let analysis = Analysis {
        delta: DELTA,
        significance,
        threshold_choice: ThresholdChoice::Band,
        ..Analysis::default()
    };
    let run = RunRequest { analysis, ..RunRequest::new(observations) };
    MechanismRequest { setting, engine: EngineChoice::named(engine), run }
}

fn exact() -> f64 {
    Gaussian::fixed_order(1.0, 1).epsilon_upper_bound(DELTA)
}

/// The audits' seeds: all others than those that a user is likely to give.
fn seeds(first: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| first.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

pub(super) fn check(engine: &str, seed: u64) -> Found {
    let plan = match engine {
        "cuda" => Plan { audits: 20, observations: 1_000_000, long: 1 << 32, share: 0.97 },
        _ => Plan { audits: 60, observations: 100_000, long: 1 << 25, share: 0.90 },
    };
    let exact = exact();
    let mut above = 0;
    for seed in seeds(seed).take(plan.audits as usize) {
        let audit = request(engine, seed, plan.observations, SIGNIFICANCE);
        let measured = measure_mechanism(&audit, &Unwatched).map_err(super::told)?;
        above += u64::from(measured.estimate.empirical_epsilon > exact);
    }
    if refutes(above, plan.audits) {
        return Err(format!(
            "{above} of {} bounds at level {SIGNIFICANCE} exceed the exact {exact:.4}",
            plan.audits
        ));
    }
    let long = request(engine, seed, plan.long, FALSE_ALARM_RATE);
    let shown = measure_mechanism(&long, &Unwatched).map_err(super::told)?.estimate.empirical_epsilon;
    if !(plan.share * exact..=exact).contains(&shown) {
        return Err(format!("{} observations show {shown:.4} of the exact {exact:.4}", plan.long));
    }
    Ok(format!(
        "exact {exact:.4}: {above} of {} bounds above it, {} observations show {shown:.4}",
        plan.audits, plan.long
    ))
}

/// Whether more bounds are above than their level explains.
fn refutes(above: u64, audits: u64) -> bool {
    binomial::lower_bound(above, audits, FALSE_ALARM_RATE).value > SIGNIFICANCE
}

/// Every estimator that calls itself valid, on the same scores.
pub(super) fn check_all_estimators(seed: u64) -> Found {
    const AUDITS: u64 = 20;
    const OBSERVATIONS: u64 = 100_000;
    let exact = exact();
    let mut above = vec![0; ESTIMATORS.len()];
    let mut judged = vec![0; ESTIMATORS.len()];
    let mut most = vec![0.0_f64; ESTIMATORS.len()];
    for seed in seeds(!seed).take(AUDITS as usize) {
        let audit = request("cpu", seed, OBSERVATIONS, SIGNIFICANCE);
        let store = play_part(&audit, 0..OBSERVATIONS / 2, &Unwatched).map_err(super::told)?;
        for (i, estimator) in ESTIMATORS.iter().enumerate() {
            let analysis = Analysis { estimator: estimator.name().into(), ..audit.run.analysis.clone() };
            let estimate = analysis.of_store(&store).map_err(super::told)?;
            if estimate.valid {
                judged[i] += 1;
                above[i] += u64::from(estimate.empirical_epsilon > exact);
                most[i] = most[i].max(estimate.empirical_epsilon);
            }
        }
    }
    let mut seen = Vec::new();
    for (i, estimator) in ESTIMATORS.iter().enumerate().filter(|(i, _)| judged[*i] > 0) {
        let name = estimator.name();
        if refutes(above[i], judged[i]) {
            return Err(format!("{name}: {} of {} bounds exceed the exact {exact:.4}", above[i], judged[i]));
        }
        if most[i] <= 0.0 {
            return Err(format!("{name}: shows nothing of the exact {exact:.4} in {AUDITS} audits"));
        }
        seen.push(format!("{name} {:.2}", most[i]));
    }
    if seen.is_empty() {
        return Err("no estimator calls itself valid".into());
    }
    Ok(format!("exact {exact:.2}, largest of {AUDITS} bounds: {}", seen.join(", ")))
}
