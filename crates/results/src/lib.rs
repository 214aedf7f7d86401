//! What results mean: the verdict on a claim, and numbers for people.
//!
//! ```
//! use misdeal_core::BatchScheme;
//! use misdeal_results::{Judged, VerdictKind};
//!
//! let judged = Judged {
//!     empirical_epsilon: 3.3,
//!     valid: true,
//!     guarantee: "lower bound with 95 % confidence".into(),
//!     delta: 1e-5,
//!     significance: 0.05,
//!     claimed_epsilon: Some(0.72),
//!     largest_epsilon: None,
//! };
//! let verdict = judged.verdict(Some(BatchScheme::Shuffle), [Some(4.06), Some(4.38)]);
//! assert_eq!(verdict.kind, VerdictKind::Refuted);
//! assert!(verdict.sentence.contains("leaks at least epsilon 3.3"));
//! ```
//!
//! - [`Judged`]: an epsilon with its guarantee, beside a claim.
//! - [`Verdict`]: what follows for the claim, in a word and in a sentence.
//! - [`request`]: what each job is asked for.
//! - [`numbers`]: numbers for people, rounded to the side on which they stay true.

mod judged;
pub mod numbers;
pub mod request;
mod verdict;

pub use judged::{AT_CHANCE, Judged, TheorySays, Tone, beside_poisson, beyond_reach};
pub use verdict::{Verdict, VerdictKind};
