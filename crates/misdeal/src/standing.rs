//! How much of the significance a test of some scores may spend.
//!
//! A look, a guess of the buffer's size and scores that may depend on each other change what any test may promise.
//! The measurement says so once, for the estimate, a second estimate and the curves.

use misdeal_statistics::{EpsilonEstimate, Look};

/// How a test stands among those that might have been made in its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// It has this share of the significance. The shares of all that might have been made were fixed before any score was seen and add
    /// up to at most one, so that whichever is reported refutes a true claim with at most the significance (Bonferroni).
    Share(f64),
    /// It promises nothing, for this reason.
    Unproven(String),
}

impl Standing {
    /// The only test there is.
    pub const ALONE: Self = Self::Share(1.0);

    /// One look of a confidence sequence, if there was a look; else nothing was decided by looking.
    pub fn at(look: Option<Look>) -> Self {
        look.map_or(Self::ALONE, |look| Self::Share(look.share()))
    }

    /// The share of the significance for bounds that are drawn beside it.
    pub fn share(&self) -> f64 {
        match self {
            Self::Share(share) => *share,
            Self::Unproven(_) => 1.0,
        }
    }

    /// Says of an estimate from such scores that it holds for nothing, where that is so.
    pub fn mark(&self, estimate: &mut EpsilonEstimate) {
        if let Self::Unproven(reason) = self {
            estimate.refuse(reason.clone());
        }
    }

    /// Why nothing is tested.
    pub fn objection(&self) -> Option<&str> {
        match self {
            Self::Share(_) => None,
            Self::Unproven(reason) => Some(reason),
        }
    }
}
