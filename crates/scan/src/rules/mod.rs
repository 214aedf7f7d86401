//! The rules, one in each file.
//!
//! # When does a rule report?
//! A rule reports only if the source shows the mistake: silence is better than a false alarm. Most rules report only in modules
//! that use differential privacy (see [`Reach`]), because the mistake does no harm elsewhere. No rule reports in a module that
//! imports a framework for unit tests.

mod accountant_assumes_poisson;
mod accounting;
mod accumulation_not_accounted;
mod batch_before_shuffle;
mod bins_drawn_once;
mod buffer_cost;
mod buffer_of_one;
mod cache_after_shuffle;
mod cuts;
pub mod data_loader;
mod epochs;
mod epsilon_without_noise;
mod fixed_size_accounted_as_poisson;
mod ftrl_over_sampled_batches;
pub mod order;
mod permutation_before_epochs;
mod permuted_batches;
mod poisson_accounting_of_fixed_order;
mod poisson_loader_unused;
mod poisson_sampling_off;
mod rate_of_short_batch;
mod rate_over_batches;
mod repeat_before_batch;
mod reseeded_every_epoch;
mod sampler_without_set_epoch;
mod sampling;
mod shuffled_once;
mod small_shuffle_buffer;
mod streaming_shuffle;
mod tensorflow_data;
mod tensorflow_order;
mod tensorflow_privacy_shuffled;
mod training_not_shuffled;
mod trainings;
mod unsharded_workers;
mod weighted_sampler;

pub use accounting::accounts_for_poisson;
pub use sampling::Poisson;
pub use trainings::{Given, Trainings};

use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::TextRange;
use std::collections::HashSet;

/// The modules in which a rule reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All modules.
    Everywhere,
    /// Modules that import a library for differential privacy or call a private optimizer. With `assume-private`, all modules.
    PrivateModules,
}

impl Reach {
    /// The name in lists of rules.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Everywhere => "everywhere",
            Reach::PrivateModules => "private modules",
        }
    }
}

/// A rule: a kind of mistake, with the check that finds it.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The rule's name in reports, comments and settings.
    pub name: &'static str,
    /// The mistake that the rule finds.
    pub finds: &'static str,
    /// Why the mistake matters for privacy, in one sentence.
    pub why: &'static str,
    /// How to fix the mistake.
    pub fix: &'static str,
    /// The modules in which the rule reports.
    pub reach: Reach,
    /// How severe the mistake is.
    pub level: Level,
    /// Finds the mistake in a module.
    pub(crate) check: fn(&Module, &mut Found),
}

/// Where the guide is published. Each rule has the page `NAME.html` there.
const PAGES: &str = "https://misdeal.github.io/misdeal/rules";

impl Rule {
    /// The address of the rule's page in the guide, which does not change.
    pub fn page(&self) -> String {
        format!("{PAGES}/{}.html", self.name)
    }
}

/// The places that a rule found in one module.
#[derive(Debug, Default)]
pub struct Found {
    /// The places.
    pub places: Vec<Place>,
    known: HashSet<TextRange>,
}

/// A place that a rule found.
#[derive(Debug)]
pub struct Place {
    /// The place in the text.
    pub range: TextRange,
    /// What was found there.
    pub what: String,
    /// The fix for this place, if it is more specific than the rule's fix.
    pub fix: Option<String>,
    /// Changes of the text that certainly fix the mistake.
    pub edits: Vec<(TextRange, String)>,
}

impl Found {
    /// Adds a place with a description. Repeated places count once.
    pub fn add(&mut self, range: TextRange, what: impl Into<String>) {
        self.add_place(Place { range, what: what.into(), fix: None, edits: Vec::new() });
    }

    /// Like [`Found::add`], with a fix for this place.
    pub fn add_with_fix(&mut self, range: TextRange, what: impl Into<String>, fix: String) {
        self.add_place(Place { range, what: what.into(), fix: Some(fix), edits: Vec::new() });
    }

    /// Like [`Found::add`], with changes that certainly fix the mistake.
    pub fn add_certain(
        &mut self,
        range: TextRange,
        what: impl Into<String>,
        edits: Vec<(TextRange, String)>,
    ) {
        self.add_place(Place { range, what: what.into(), fix: None, edits });
    }

    fn add_place(&mut self, place: Place) {
        if self.known.insert(place.range) {
            self.places.push(place);
        }
    }
}

/// All rules, sorted by name.
pub static RULES: [Rule; 26] = [
    accountant_assumes_poisson::RULE,
    accumulation_not_accounted::RULE,
    batch_before_shuffle::RULE,
    bins_drawn_once::RULE,
    buffer_of_one::RULE,
    cache_after_shuffle::RULE,
    epsilon_without_noise::RULE,
    fixed_size_accounted_as_poisson::RULE,
    ftrl_over_sampled_batches::RULE,
    permutation_before_epochs::RULE,
    permuted_batches::RULE,
    poisson_accounting_of_fixed_order::RULE,
    poisson_loader_unused::RULE,
    poisson_sampling_off::RULE,
    rate_of_short_batch::RULE,
    rate_over_batches::RULE,
    repeat_before_batch::RULE,
    reseeded_every_epoch::RULE,
    sampler_without_set_epoch::RULE,
    shuffled_once::RULE,
    small_shuffle_buffer::RULE,
    streaming_shuffle::RULE,
    tensorflow_privacy_shuffled::RULE,
    training_not_shuffled::RULE,
    unsharded_workers::RULE,
    weighted_sampler::RULE,
];

/// The names of all rules.
pub fn names() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.name).collect()
}

/// The rule with this name.
pub fn by_name(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}
