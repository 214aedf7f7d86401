//! Decides whether our number agrees with the paper's.
//!
//! # Why is the tolerance wider for fewer runs?
//! The paper's tolerance is for as many runs as in the paper. The mean of fewer runs varies more, so three of its standard errors
//! are added. The reason beside the number says so.

use misdeal_results::Agreement;

/// Compares `ours` with the `printed` number.
///
/// With fewer observations than in the paper, the only possible finding is agreement. The reason is that the largest of few
/// estimates over all thresholds is as often too large as too small. If the tolerance is at least the printed number, agreement
/// would mean nothing.
pub fn agreement(ours: f64, printed: f64, tolerance: f64, as_many_observations: bool) -> Agreement {
    if tolerance >= printed {
        Agreement::TooFewObservations
    } else if (ours - printed).abs() <= tolerance {
        Agreement::Reproduced
    } else if !as_many_observations {
        Agreement::TooFewObservations
    } else if ours > printed {
        Agreement::Exceeded
    } else {
        Agreement::Differs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::ClosedSet;

    #[test]
    fn both_ends_of_the_tolerance_are_within() {
        let verdict = |ours, enough| agreement(ours, 4.0, 0.5, enough).name();
        assert_eq!(verdict(3.5, true), "reproduced");
        assert_eq!(verdict(4.5, false), "reproduced");
        assert_eq!(verdict(4.51, true), "exceeded");
        assert_eq!(verdict(4.51, false), "too few observations");
        assert_eq!(verdict(3.49, true), "differs");
        assert_eq!(verdict(3.49, false), "too few observations");
        assert_eq!(verdict(f64::NAN, true), "differs");
        assert_eq!(agreement(0.1, 0.1, 0.12, true).name(), "too few observations");
    }
}
