//! Blind audits: the adversary does not know the buffer and guesses its size (the paper's Algorithm 3).
//!
//! Every guess scores the same observations. The next size may depend on the results of earlier ones. This is valid because the
//! significance is shared beforehand among all sizes that might ever be tried ([`Rungs`]).

mod rungs;
mod search;

pub(crate) use rungs::Rungs;
pub(crate) use search::audit_blindly;

use misdeal_core::{BatchScheme, Error, Result, ScoreStore, Setting};

/// A source of scores: scores the same observations under several beliefs about the buffer.
pub(crate) trait Blind {
    /// Returns the audited setting. The adversary's scheme says which kind of buffer is guessed.
    fn setting(&self) -> &Setting;

    /// Returns the engine's name in reports.
    fn engine(&self) -> &'static str;

    /// Returns whether all scores of a world are independent and identically distributed.
    fn scores_are_independent(&self) -> bool {
        true
    }

    /// Returns the scores of all observations under one belief.
    fn scored(&self, belief: BatchScheme) -> crate::Result<ScoreStore>;
}

/// Returns the adversary's belief with a buffer of `buffer_size`.
///
/// The belief is a sliding buffer if the adversary assumes one. If the adversary assumes nothing, it is a sliding buffer if one
/// runs. In all other cases the belief is shuffles within blocks.
///
/// # Errors
/// The adversary assumes a scheme without a buffer.
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
