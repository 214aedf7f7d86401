//! Audits of the Gaussian mechanism, whose epsilon is known exactly.

use super::Found;
use crate::{Analysis, EngineChoice, MechanismAudit, RunOptions, Unwatched, measure_mechanism};
use misdeal_core::{BatchScheme, Setting};
use misdeal_statistics::{ThresholdChoice, binomial};
use misdeal_theory::gaussian::Gaussian;

/// A delta large enough that a few million observations come close to epsilon.
const DELTA: f64 = 1e-3;
const SIGNIFICANCE: f64 = 0.05;
/// Largest probability that a sound machine fails.
const FALSE_ALARM_RATE: f64 = 1e-6;

/// Sizes of the short audits and of the long audit.
struct Sizes {
    audits: u64,
    observations: u64,
    long: u64,
    /// The share of epsilon that the long audit must reach.
    share: f64,
}

/// Returns an audit in fixed order. Fixed order is the Gaussian mechanism: only the target's batch carries information.
fn request(
    engine: &str,
    seed: u64,
    observations: u64,
    significance: f64,
    threshold_choice: ThresholdChoice,
) -> MechanismAudit {
    let setting = Setting { scheme: BatchScheme::FixedOrder, seed, ..Setting::default() };
    let analysis = Analysis { delta: DELTA, significance, threshold_choice, ..Analysis::default() };
    let run = RunOptions { analysis, ..RunOptions::new(observations) };
    MechanismAudit { setting, engine: EngineChoice::named(engine), run }
}

fn exact() -> f64 {
    Gaussian::fixed_order(1.0, 1).epsilon_upper_bound(DELTA)
}

/// Returns seeds that a user is unlikely to choose.
fn seeds(first: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| first.wrapping_add(i.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
}

/// Checks that bounds rarely exceed the exact epsilon, and that a long audit comes close to it.
pub(super) fn check(engine: &str, seed: u64) -> Found {
    let sizes = match engine {
        "cuda" => Sizes { audits: 20, observations: 1_000_000, long: 1 << 32, share: 0.97 },
        _ => Sizes { audits: 60, observations: 100_000, long: 1 << 25, share: 0.90 },
    };
    let exact = exact();
    let mut above = 0;
    for seed in seeds(seed).take(sizes.audits as usize) {
        let audit = request(engine, seed, sizes.observations, SIGNIFICANCE, ThresholdChoice::HoldOut);
        let measured = measure_mechanism(&audit, &Unwatched).map_err(super::message)?;
        above += u64::from(measured.estimate.empirical_epsilon > exact);
    }
    if refutes(above, sizes.audits) {
        return Err(format!(
            "{above} of {} bounds at level {SIGNIFICANCE} exceed the exact {exact:.4}",
            sizes.audits
        ));
    }
    let long = request(engine, seed, sizes.long, FALSE_ALARM_RATE, ThresholdChoice::Band);
    let shown = measure_mechanism(&long, &Unwatched).map_err(super::message)?.estimate.empirical_epsilon;
    if !(sizes.share * exact..=exact).contains(&shown) {
        return Err(format!("{} observations show {shown:.4} of the exact {exact:.4}", sizes.long));
    }
    Ok(format!(
        "exact {exact:.4}: {above} of {} bounds above it, {} observations show {shown:.4}",
        sizes.audits, sizes.long
    ))
}

/// Returns whether too many bounds exceed the exact value.
fn refutes(above: u64, audits: u64) -> bool {
    binomial::lower_bound(above, audits, FALSE_ALARM_RATE).value > SIGNIFICANCE
}
