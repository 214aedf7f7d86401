//! Proven bounds on epsilon for every batch scheme, and the noise for a target epsilon.
//!
//! ```
//! use misdeal_core::Setting;
//! let bounds = misdeal_theory::account::bounds(&Setting::default(), 1e-5)?;
//! assert!(bounds.epsilon_lower_bound.unwrap() > 4.06 && bounds.epsilon_upper_bound.unwrap() < 4.38);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`account`] | both bounds on epsilon, for a setting with any scheme |
//! | [`delta`] | bounds on delta at a given epsilon |
//! | [`trade_off`] | the whole trade-off curve, from below and from above |
//! | [`calibrate`] | the noise for a target epsilon, for any accountant |
//! | [`gaussian`] | the Gaussian pair in closed form: exact for fixed order, an upper bound for one use per epoch |
//! | [`poisson`] | Poisson subsampling: a certified interval |
//! | [`pairs`] | exact pairs for shuffling, buffers and balls-in-bins, by Fourier transform |
//! | [`full_shuffle`] | an upper bound for shuffling with hidden orders |
//! | [`shuffle_max`] | lower bounds for shuffling from the largest output of an epoch |
//! | [`pld`] | privacy-loss distributions on a grid, which the other modules compose |
//! | [`rdp`], [`random_allocation`] | Renyi accounting, for comparison |
//! | [`truncated`] | Poisson sampling whose batches are cut to a largest size |
//! | [`work`] | limits on the cost of an answer |
//!
//! A lower bound is never too large and an upper bound never too small. The proofs, with their rounding and their known
//! gaps, are in `docs/proofs/` (start at `docs/proofs/overview.md`).
//!
//! # Why are tail sums transformed, and not masses?
//! Because round-off then grows only with the square root of the number of steps. So a worst-case bound on the
//! transform's error is affordable.
//!
//! # What certified means
//!
//! Discretisation, truncation and wrap-around err to a known side, by proof. Round-off is bounded by margins that are
//! computed from the actual numbers, not by interval arithmetic. The margins rely on these assumptions, which tests
//! check but which are not proven:
//!
//! - Elementary functions are accurate to a few units in the last place: those of `libm`, and in [`pairs`] also the
//!   system's `exp` and `ln`. Normal probabilities are accurate to 1e-13 relative, and beyond 25 deviations to 2e-13.
//!   Tests compare them with 60 digits.
//! - In [`pld`], a Fourier transform of length N has a relative 2-norm error of at most `22 u log2 N`, with
//!   `u = 2^-53`. This is Higham's bound for radix 2 (2002, theorem 24.2), with roots of unity as `rustfft` computes
//!   them. We assume that its other radices, its SIMD kernels and `realfft`'s last pass are not worse. A test finds
//!   errors more than ten times smaller.
//! - [`pairs`] assumes a smaller error: `8 u log2 N` for every transform and for every factor of the product of T
//!   spectra, times the 2-norm of the spectrum. This is typical growth with a margin, and below Higham's worst case. A
//!   test compares it with direct convolution.
//! - The [`gaussian`] closed form is accurate to 1e-11 in ln delta. Compared with values at 60 digits, the errors are
//!   ten times smaller.
//!
//! # The same on every machine?
//!
//! Almost. `rustfft` uses the AVX, SSE or plain instructions of the processor, and [`pairs`] calls the system's `exp`
//! and `ln`. So bounds may differ in their last bits between instruction sets and systems. The margins above cover the
//! difference, so bounds from every machine are valid. Work, and so the choice of a grid, is counted in units and not
//! in seconds. A last bit can change the choice between two grids, but both are valid. The number of threads changes
//! nothing.

pub mod account;
mod buffer_weights;
pub mod calibrate;
mod check_delta;
pub mod delta;
pub mod full_shuffle;
pub mod gaussian;
pub mod pairs;
pub mod pld;
pub mod poisson;
mod quadrature;
pub mod random_allocation;
pub mod rdp;
mod revealed_uses;
mod root;
mod scheme_facts;
pub mod shuffle_max;
mod subsets;
pub mod trade_off;
pub mod truncated;
pub mod work;

pub use check_delta::check_delta;
