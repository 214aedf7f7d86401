//! The rules, one a file.
//!
//! A rule is right more often than it is complete: it speaks where the source shows the mistake, and is silent where it does not. Most rules
//! speak only in modules that are about differential privacy (see [`Reach`]), because elsewhere what they find harms nobody. No rule speaks in a
//! module that imports a framework for unit tests.

mod accountant_assumes_poisson;
mod accounting;
mod batch_before_shuffle;
mod buffer_cost;
mod buffer_of_one;
mod cache_after_shuffle;
mod data_loader;
mod epochs;
pub mod order;
mod permutation_before_epochs;
mod permuted_batches;
mod poisson_loader_unused;
mod poisson_sampling_off;
mod rate_of_short_batch;
mod repeat_before_batch;
mod reseeded_every_epoch;
mod sampler_without_set_epoch;
mod shuffled_once;
mod small_shuffle_buffer;
mod streaming_shuffle;
mod tensorflow_data;
mod tensorflow_privacy_shuffled;
mod training_not_shuffled;
mod trainings;
mod unsharded_workers;
mod weighted_sampler;

use crate::module::Module;
use misdeal_results::Level;
use ruff_text_size::TextRange;
use std::collections::HashSet;

/// Where a rule speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// In every module.
    Everywhere,
    /// In modules that import a library for differential privacy or call a private optimizer, or in all with `assume-private`.
    PrivateModules,
}

impl Reach {
    /// The words in lists of rules.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Everywhere => "everywhere",
            Reach::PrivateModules => "private modules",
        }
    }
}

/// What people are told of a rule.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    /// Its name in reports, comments and settings.
    pub name: &'static str,
    /// What it finds.
    pub finds: &'static str,
    /// Why it matters for privacy, in one sentence.
    pub why: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// Where it speaks.
    pub reach: Reach,
    /// How bad it is.
    pub level: Level,
}

/// One kind of mistake.
pub trait Rule: Sync {
    /// What people are told of it.
    fn page(&self) -> &'static Page;

    /// Looks for it in a module.
    fn check(&self, module: &Module, found: &mut Found);
}

/// What a rule found in one module.
#[derive(Debug, Default)]
pub struct Found {
    /// The places.
    pub places: Vec<Place>,
    known: HashSet<TextRange>,
}

/// A place that a rule found.
#[derive(Debug)]
pub struct Place {
    /// Where.
    pub range: TextRange,
    /// What stands there.
    pub what: String,
    /// What to do there, where that is more than the rule's page says.
    pub fix: Option<String>,
}

impl Found {
    /// Adds a place, with a few words on what stands there. The same place counts once.
    pub fn add(&mut self, range: TextRange, what: impl Into<String>) {
        self.add_place(Place { range, what: what.into(), fix: None });
    }

    /// As [`Found::add`], with what to do at this place.
    pub fn add_with_fix(&mut self, range: TextRange, what: impl Into<String>, fix: String) {
        self.add_place(Place { range, what: what.into(), fix: Some(fix) });
    }

    fn add_place(&mut self, place: Place) {
        if self.known.insert(place.range) {
            self.places.push(place);
        }
    }
}

/// All rules, by name.
pub const RULES: [&dyn Rule; 19] = [
    &accountant_assumes_poisson::AccountantAssumesPoisson,
    &batch_before_shuffle::BatchBeforeShuffle,
    &buffer_of_one::BufferOfOne,
    &cache_after_shuffle::CacheAfterShuffle,
    &permutation_before_epochs::PermutationBeforeEpochs,
    &permuted_batches::PermutedBatches,
    &poisson_loader_unused::PoissonLoaderUnused,
    &poisson_sampling_off::PoissonSamplingOff,
    &rate_of_short_batch::RateOfShortBatch,
    &repeat_before_batch::RepeatBeforeBatch,
    &reseeded_every_epoch::ReseededEveryEpoch,
    &sampler_without_set_epoch::SamplerWithoutSetEpoch,
    &shuffled_once::ShuffledOnce,
    &small_shuffle_buffer::SmallShuffleBuffer,
    &streaming_shuffle::StreamingShuffle,
    &tensorflow_privacy_shuffled::TensorflowPrivacyShuffled,
    &training_not_shuffled::TrainingNotShuffled,
    &unsharded_workers::UnshardedWorkers,
    &weighted_sampler::WeightedSampler,
];

/// The names of all rules.
pub fn names() -> Vec<&'static str> {
    RULES.iter().map(|rule| rule.page().name).collect()
}

/// The rule of a name.
pub fn by_name(name: &str) -> Option<&'static dyn Rule> {
    RULES.iter().find(|rule| rule.page().name == name).copied()
}
