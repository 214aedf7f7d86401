//! Engines, samplers and likelihoods against each other and against theory.

mod engines_agree;
mod law_and_sampler;
