//! Bounds on epsilon for every batch scheme, and the noise for a target epsilon.
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
//! | [`work`] | what an answer may cost |
//!
//! A lower bound is never too large and an upper bound never too small. The proofs, with their rounding and their known
//! gaps, are in `docs/proofs/` (start at `docs/proofs/overview.md`).
//!
//! # Why are tail sums transformed, and not masses?
//! Round-off then grows with the root of the number of steps, so a worst-case bound on the transform's error is
//! affordable.
//!
//! # How tight is the upper bound for batches of fixed size, drawn anew?
//! It is loose. The adversary is told in which steps the record is used (`revealed_uses.rs`), which gives 8.6 where
//! Poisson sampling leaks 0.72.
//!
//! # What certified means
//!
//! Discretisation, truncation and wrap-around err to a known side, by proof. Round-off is bounded by margins that are computed from the numbers
//! at hand, not by interval arithmetic. They rest on these assumptions, which tests check and nobody has proven:
//!
//! - Elementary functions are good to a few units in the last place: those of `libm`, and in [`pairs`] also the system's `exp` and `ln`.
//!   Normal probabilities are good to 1e-13 relatively, which tests compare with 60 digits.
//! - A Fourier transform of length N has a relative 2-norm error of at most `22 u log2 N` in [`pld`], with `u = 2^-53`. That is Higham's bound for
//!   radix 2 (2002, theorem 24.2) with the roots of unity as `rustfft` makes them. That its other radices, its SIMD kernels and `realfft`'s last pass do no worse is
//!   assumed. A test finds errors more than ten times smaller.
//! - [`pairs`] assumes less: `8 u log2 N` for every transform and for every factor of the product of T spectra, times the 2-norm of the
//!   spectrum. That is typical growth with a margin, and below Higham's worst case. A test compares it with direct convolution.
//! - The [`gaussian`] closed form is good to 1e-11 in ln delta; values at 60 digits differ by a tenth of that.
//!
//! # The same on every machine?
//!
//! Almost. `rustfft` uses AVX, SSE or plain instructions, whichever the processor has, and [`pairs`] calls the system's `exp` and `ln`. So bounds may differ in
//! their last bits between instruction sets and systems. The margins above cover the difference: bounds from every machine hold. How much
//! work is spent, and so which grid is used, is counted in units and not in seconds; a last bit could tip a choice between two grids, both
//! of which are valid. The number of threads changes nothing.

pub mod account;
mod buffer_weights;
pub mod calibrate;
mod check_delta;
pub mod delta;
pub mod gaussian;
pub mod pairs;
pub mod pld;
pub mod poisson;
pub mod random_allocation;
pub mod rdp;
mod revealed_uses;
mod root;
mod scheme_facts;
pub mod shuffle_max;
pub mod trade_off;
pub mod work;

pub use check_delta::check_delta;
