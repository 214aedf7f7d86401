//! Samplers against the laws that they follow.

mod law_and_sampler;
