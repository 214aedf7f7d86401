//! Balls-in-bins batches that are drawn once and repeated, where every step is accounted for as a fresh sample.
//!
//! # Example
//! ```python
//! import dp_accounting
//! from jax_privacy import batch_selection
//! strategy = batch_selection.BallsInBinsSampling(iterations=1000, cycle_length=100)
//! event = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
//! ```
//!
//! The rule reports in private modules, if the strategy makes more batches than a cycle has, as far as the source shows.

use super::accounting::poisson_accounting;
use super::{Found, Reach, Rule};
use crate::flow::Call;
use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "bins-drawn-once",
    finds: "balls-in-bins batches that are drawn once and accounted for as fresh samples",
    why: "a record is in the same bin in every epoch, so noise averages out over epochs, and far more leaks than from fresh bins",
    fix: "draw the bins anew for every epoch (one strategy an epoch, with iterations=cycle_length), or account for one epoch with noise sigma / sqrt(epochs)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let is_strategy = |call: &&Call| call.last_name() == Some("BallsInBinsSampling");
    for call in module.facts.calls.iter().filter(is_strategy).take(50) {
        let is_accounted = poisson_accounting(module)
            .take(50)
            .any(|known| module.graph().relates(&known.place, &call.place));
        if is_accounted && repeats_bins(module, call) {
            found.add(call.expression.func.range(), "the bins of the first cycle are repeated");
        }
    }
}

/// Whether there are more batches than bins.
fn repeats_bins(module: &Module, call: &Call) -> bool {
    let (Some((batches, count)), Some((bins, length))) =
        (call.arguments.get("iterations", 0), call.arguments.get("cycle_length", 1))
    else {
        return false;
    };
    match (count.as_int(), length.as_int()) {
        (Some(count), Some(length)) => count > length,
        _ => module.source.text[batches.range()] != module.source.text[bins.range()],
    }
}
