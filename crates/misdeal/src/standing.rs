//! How much significance a test of some scores may spend.
//!
//! Three things change what a test may promise: a look, a guess of the buffer's size, and scores that may depend on each other.
//! The measurement states the result once, for the estimate, a second estimate and the curves.

use misdeal_statistics::{EpsilonEstimate, Look};

/// How much significance a test may spend, given the other tests that might have been made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// The test has this share of the significance. The shares of all possible tests are fixed before any score is seen, and add
    /// up to at most one. So whichever test is reported, a true claim is refuted with probability at most the significance
    /// (Bonferroni).
    Share(f64),
    /// The test promises nothing, for this reason.
    Unproven(String),
}

impl Standing {
    /// The standing of a single test, which has the whole significance.
    pub const ALONE: Self = Self::Share(1.0);

    /// Returns the standing at one look of a confidence sequence. Without a look, the test has the whole significance.
    pub fn at(look: Option<Look>) -> Self {
        look.map_or(Self::ALONE, |look| Self::Share(look.share()))
    }

    /// Returns the share of the significance for bounds that are drawn with this test.
    pub fn share(&self) -> f64 {
        match self {
            Self::Share(share) => *share,
            Self::Unproven(_) => 1.0,
        }
    }

    /// Marks an estimate from such scores as not valid, if no test holds.
    pub fn mark(&self, estimate: &mut EpsilonEstimate) {
        if let Self::Unproven(reason) = self {
            estimate.refuse(reason.clone());
        }
    }

    /// Returns why no test holds, if that is so.
    pub fn objection(&self) -> Option<&str> {
        match self {
            Self::Share(_) => None,
            Self::Unproven(reason) => Some(reason),
        }
    }
}
