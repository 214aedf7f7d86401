//! The distinguishing game of DP-SGD audits, simulated on the batched Gaussian mechanism.
//!
//! ```
//! use misdeal_core::{EngineName, Setting, World};
//! use misdeal_game::{Game, engines};
//!
//! let setting = Setting::default();
//! let game = Game::new(&setting);
//! let engine = engines::choose(&game, EngineName::Auto)?;
//! let mut scores = vec![0.0; 1000];
//! engine.score(World::In, 0..1000, &mut scores);
//! assert!(scores.iter().sum::<f64>() > 0.0, "with the target present, the likelihood ratio leans its way");
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! The main items, in the order in which a run uses them:
//!
//! - [`Game`]: a setting prepared for simulation: the target's position (a law of `misdeal-schemes`), its effect, and
//!   the adversary's assumptions.
//! - [`engines`]: turn trials into scores. The reference engine computes the outputs and the likelihood ratio in f64.
//!   The fused engine goes from random bits to scores, sixteen trials at a time.
//! - [`Gaussians`]: the training noise of the same stream, sixteen coordinates at a time.
//! - [`play`]: runs trials on all cores and puts the scores into a store, with progress and interruption.

pub mod engines;
mod game;
mod likelihood;
mod play;
mod target_model;
mod uneven_likelihood;

pub use engines::cpu::Gaussians;
pub use game::Game;
pub use likelihood::log_likelihood_ratio;
pub use play::{Outcome, Watch, missing_trials, play};
pub use target_model::{Shifts, TargetModel};
pub use uneven_likelihood::log_likelihood_ratio_with_variances;
