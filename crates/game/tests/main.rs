//! Engines, samplers and likelihoods against each other and against theory.

mod engines_agree;
mod likelihood_domain;
