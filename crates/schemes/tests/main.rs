//! Samplers against the laws that they follow.

mod dealt_batches;
mod law_and_sampler;
