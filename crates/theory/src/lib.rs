//! What theory promises: bounds on epsilon for every way of making batches, and the noise that a target needs.
//!
//! ```
//! use misdeal_core::Setting;
//! let bounds = misdeal_theory::account::bounds(&Setting::default(), 1e-5)?;
//! assert!(bounds.epsilon_lower_bound.unwrap() > 4.06 && bounds.epsilon_upper_bound.unwrap() < 4.38);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! | room | answers |
//! |---|---|
//! | [`account`] | both bounds for a setting, whatever its scheme |
//! | [`delta`] | the same at a given epsilon |
//! | [`trade_off`] | the whole trade-off curve, from both sides |
//! | [`calibrate`] | the noise for a target epsilon, for any accountant |
//! | [`gaussian`] | the Gaussian pair in closed form: fixed order, and an upper bound for one use an epoch |
//! | [`poisson`] | Poisson subsampling: a certified interval |
//! | [`pairs`] | shuffling, buffers and balls-in-bins exactly, by Fourier transform |
//! | [`shuffle_max`] | lower bounds for shuffling from the largest output of an epoch |
//! | [`pld`] | privacy-loss distributions on a grid, which the others compose |
//! | [`rdp`], [`random_allocation`] | Renyi accounting, for comparison |
//!
//! A lower bound is never too large and an upper bound never too small. The proofs, with their rounding and their known
//! gaps, are in `docs/proofs/` (start at `docs/proofs/overview.md`).
//!
//! # Why are tail sums transformed, and not masses?
//! Round-off then grows with the root of the number of steps, so a worst-case bound on the transform's error is
//! affordable.
//!
//! # How tight is the upper bound for batches of fixed size, drawn anew?
//! It is loose. The adversary is told in which steps the record is used (`told_uses.rs`), which gives 8.6 where
//! Poisson sampling leaks 0.72.

pub mod account;
mod buffer_weights;
pub mod calibrate;
mod check_delta;
pub mod delta;
pub mod gaussian;
mod known;
pub mod pairs;
pub mod pld;
pub mod poisson;
pub mod random_allocation;
pub mod rdp;
mod root;
pub mod shuffle_max;
mod told_uses;
pub mod trade_off;
pub mod work;

pub use check_delta::check_delta;
