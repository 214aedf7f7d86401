//! Blind audits: an adversary that does not know the buffer guesses its size (the paper's Algorithm 3).
//!
//! Every guess scores the same observations. Which sizes are tried may depend on what earlier ones showed, because the
//! significance is shared out beforehand among all sizes that might ever be tried ([`Rungs`]).

mod rungs;
mod search;

pub(crate) use rungs::Rungs;
pub(crate) use search::audit_blindly;

use misdeal_core::{BatchScheme, Error, Result, ScoreStore, Setting};
use serde::Serialize;

/// How a blind adversary corrects for its guesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Levels of all possible guesses add up to the significance: the largest bound is valid.
    Bonferroni,
    /// Every guess at the full level and the largest taken, as the paper does: not a valid bound.
    None,
}

/// What a blind adversary tried, and what it found.
#[derive(Debug, Clone, Serialize)]
pub struct BufferSearch {
    /// The guess with the largest bound.
    pub buffer_size: u64,
    /// How the level was corrected for the number of guesses.
    pub correction: Correction,
    /// The same in a sentence.
    pub meaning: String,
    /// The guesses, in the order in which they were made.
    pub guesses: Vec<Guess>,
}

/// One guess of the buffer's size.
#[derive(Debug, Clone, Serialize)]
pub struct Guess {
    /// Records in the buffer.
    pub buffer_size: u64,
    /// Batches that they fill.
    pub batches: u64,
    /// Whether the guess is one of the paper's or was found by bisection.
    pub is_from_the_paper: bool,
    /// The level of its bound.
    pub significance: f64,
    /// What its scores show.
    pub empirical_epsilon: f64,
    /// The same from the observed rates as they are; `None` if infinite.
    pub raw_epsilon: Option<f64>,
    /// The threshold on its scores.
    pub threshold: f64,
}

/// Whoever can score the same observations with several beliefs about the buffer.
pub(crate) trait Blind {
    /// What is audited; its adversary's scheme says which kind of buffer is guessed.
    fn setting(&self) -> &Setting;

    /// The engine's name in reports.
    fn engine(&self) -> &'static str;

    /// Whether all scores of a world are independent and alike.
    fn scores_are_independent(&self) -> bool {
        true
    }

    /// The scores of all observations under one belief.
    fn scored(&self, belief: BatchScheme) -> crate::Result<ScoreStore>;
}

/// The adversary's belief with a buffer of `buffer_size`: a sliding buffer if that is what runs or is assumed, else blocks.
///
/// # Errors
/// An adversary that assumes a scheme without a buffer.
pub(crate) fn belief(setting: &Setting, buffer_size: u64) -> Result<BatchScheme> {
    match (setting.adversary_scheme, setting.scheme) {
        (Some(BatchScheme::StreamShuffle { .. }), _) | (None, BatchScheme::StreamShuffle { .. }) => {
            Ok(BatchScheme::StreamShuffle { buffer_size })
        }
        (Some(BatchScheme::PartialShuffle { .. }) | None, _) => {
            Ok(BatchScheme::PartialShuffle { buffer_size })
        }
        (Some(other), _) => {
            let hint = "a guess of the buffer is about a scheme that has one";
            Err(Error::bad_value("adversary_scheme", other.name(), "partial-shuffle or stream-shuffle", hint))
        }
    }
}
