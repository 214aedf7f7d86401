//! Blind audits: an adversary that does not know the buffer guesses its size (the paper's Algorithm 3).
//!
//! Every guess scores the same observations. Which sizes are tried may depend on what earlier ones showed, because the
//! significance is shared out beforehand among all sizes that might ever be tried ([`Rungs`]).

mod rungs;
mod search;

pub(crate) use rungs::Rungs;
pub(crate) use search::audit_blindly;

use misdeal_core::{BatchScheme, Error, Result, ScoreStore, Setting};

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
