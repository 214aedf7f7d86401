//! Tests of audits with a fair coin for each canary, in one training or a few.
//!
//! | test | holds | gives |
//! |---|---|---|
//! | [`curve_p_value`], [`fisher`] | if each coin is private, whatever the canaries' dependence | p-value of a claimed curve |
//! | [`one_run_epsilon`] | likewise | lower bound on epsilon |
//! | [`right_guesses_p_value`] | if coins are independent | p-value of a claimed curve |
//! | [`Bet`] | if coins are independent | e-value of a claimed curve |
//! | [`fixed_thresholds_epsilon`] | if coins are independent and alike | lower bound on epsilon |
//!
//! How many canaries are guessed is fixed by theory, from [`Modelled`] scores, and never from the audited ones. Proofs:
//! `docs/proofs/one-run-and-curves.md`.

mod any_curve;
mod bet;
mod concave;
mod fixed_thresholds;
mod guesses;
mod modelled;
mod right_guesses;

pub use any_curve::{curve_p_value, fisher};
pub use bet::Bet;
pub use fixed_thresholds::fixed_thresholds_epsilon;
pub use guesses::{Guesses, Shares};
pub use modelled::Modelled;
pub use right_guesses::right_guesses_p_value;

/// The lower bound on epsilon from `right` of `guesses` guesses among `canaries` fair coins, whatever their dependence.
///
/// It is [`OneRun`](crate::OneRun)'s bound (Steinke, Nasr and Jagielski 2023). Guesses may name either side. Their number is fixed in
/// advance.
pub fn one_run_epsilon(canaries: u64, guesses: u64, right: u64, delta: f64, significance: f64) -> f64 {
    crate::one_run::epsilon(canaries, guesses, right, delta, significance)
}
