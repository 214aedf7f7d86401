//! Accounting for DP-FTRL (tree aggregation, matrix factorization) over batches that are sampled.
//!
//! # Example
//! ```python
//! model, optimizer, loader = engine.make_private(
//!     module=model, optimizer=ftrl, data_loader=loader, noise_multiplier=0.0, max_grad_norm=1.0
//! )
//! for x, y in loader:
//!     optimizer.step()
//! epsilon = compute_epsilon_tree(num_batches, epochs, noise)
//! ```
//!
//! The rule reports in private modules, if Opacus samples by Poisson, or a sampler with replacement is given to a loader, in a
//! function that belongs to the same run.

use super::{Found, Reach, Rule};
use crate::flow::Call;
use crate::libraries::is_make_private;
use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "ftrl-over-sampled-batches",
    finds: "accounting for DP-FTRL over batches that are sampled at random",
    why: "DP-FTRL is accounted for records that take part once in every epoch, and a sampled record may take part at any step",
    fix: "keep the order that the accountant assumes: pass the loader that was not made private, or poisson_sampling=False",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    let facts = &module.facts;
    let Some(call) = facts.calls.iter().find(|call| accounts_for_ftrl(call)) else { return };
    let samples = facts
        .calls
        .iter()
        .any(|other| samples_records(other) && module.graph().relates(&other.place, &call.place));
    if samples {
        found.add(call.expression.func.range(), "DP-FTRL is accounted for, but the batches are sampled");
    }
}

/// Whether a call accounts for correlated noise: `compute_epsilon_tree`, `compute_zcdp_tree`, `ftrl_epsilon`.
fn accounts_for_ftrl(call: &Call) -> bool {
    let name = call.last_name().unwrap_or("").to_ascii_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&["tree", "ftrl", "toeplitz", "matrix_factorization"])
        && has(&["epsilon", "rdp", "zcdp", "privacy", "_eps", "eps_"])
}

/// Whether a call makes a loader that samples: Opacus with Poisson sampling, or a sampler with replacement.
fn samples_records(call: &Call) -> bool {
    let name = call.last_name().unwrap_or("");
    let truth = |name: &str| call.arguments.named(name).and_then(|(_, value)| value.as_bool());
    let is_given = call.arguments.named("poisson_sampling").is_some();
    (is_make_private(name)
        && (truth("poisson_sampling") == Some(true) || (!is_given && !call.arguments.open)))
        || name == "UniformWithReplacementSampler"
        || (name == "RandomSampler" && truth("replacement") == Some(true))
}
