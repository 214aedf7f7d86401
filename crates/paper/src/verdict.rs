//! Whether our number agrees with the paper's.
//!
//! # Why is the tolerance wider for fewer runs?
//! The paper's tolerance is for as many runs as the paper's. The mean of fewer runs varies more, so three of its
//! standard errors are added, and the reason beside the number says so.

use serde::{Serialize, Serializer};

/// How our number stands to the printed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Reproduced,
    /// Larger by more than the tolerance.
    Exceeded,
    /// Smaller by more than the tolerance.
    Differs,
    /// Off by more than the tolerance, and from fewer observations than the paper's; or from so few runs that 0 is within the tolerance.
    TooFewObservations,
    /// The data for it are missing.
    NotPlayed,
}

impl Verdict {
    /// All of them, in the order in which they are counted.
    pub const ALL: [Self; 5] =
        [Self::Reproduced, Self::Exceeded, Self::Differs, Self::TooFewObservations, Self::NotPlayed];

    /// Compares `ours` with what is `printed`. Fewer observations than the paper's can tell that both agree, and nothing else: the
    /// largest of few estimates over all thresholds is as often too large as too small. Where nothing at all would be within the
    /// tolerance, agreement tells nothing.
    pub fn of(ours: f64, printed: f64, tolerance: f64, as_many_observations: bool) -> Self {
        if tolerance >= printed {
            Verdict::TooFewObservations
        } else if (ours - printed).abs() <= tolerance {
            Verdict::Reproduced
        } else if !as_many_observations {
            Verdict::TooFewObservations
        } else if ours > printed {
            Verdict::Exceeded
        } else {
            Verdict::Differs
        }
    }

    /// In words, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Exceeded => "exceeded",
            Verdict::Differs => "differs",
            Verdict::TooFewObservations => "too few observations",
            Verdict::NotPlayed => "not played",
        }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_the_tolerance_are_within() {
        let verdict = |ours, enough| Verdict::of(ours, 4.0, 0.5, enough).name();
        assert_eq!(verdict(3.5, true), "reproduced");
        assert_eq!(verdict(4.5, false), "reproduced");
        assert_eq!(verdict(4.51, true), "exceeded");
        assert_eq!(verdict(4.51, false), "too few observations");
        assert_eq!(verdict(3.49, true), "differs");
        assert_eq!(verdict(3.49, false), "too few observations");
        assert_eq!(verdict(f64::NAN, true), "differs");
        assert_eq!(Verdict::of(0.1, 0.1, 0.12, true).name(), "too few observations");
    }
}
