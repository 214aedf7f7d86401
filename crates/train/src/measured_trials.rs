//! Which trials have the accuracy of their models measured.

/// Number of measured trials in each doubling of the number of trials.
const IN_EACH_DOUBLING: u64 = 64;

/// Which trials have the accuracy of their models measured. Measuring costs up to a third of a training.
///
/// Scores do not depend on this choice. It depends on the trial's index alone, so splitting, resuming or extending a run changes
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredTrials {
    /// All trials.
    All,
    /// The first 128 trials, then 64 in each doubling: about 900 of a million.
    EverFewer,
    /// No trials.
    None,
}

impl MeasuredTrials {
    /// Whether this trial's models are measured.
    pub fn includes(self, trial: u64) -> bool {
        match self {
            Self::All => true,
            Self::EverFewer => {
                let doublings = (trial / IN_EACH_DOUBLING).checked_ilog2().unwrap_or(0);
                trial.is_multiple_of(1 << doublings)
            }
            Self::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubling_has_as_many() {
        let asked =
            |trials: std::ops::Range<u64>| trials.filter(|&t| MeasuredTrials::EverFewer.includes(t)).count();
        assert_eq!(asked(0..128), 128);
        for doublings in 1..14 {
            assert_eq!(asked(64 << doublings..128 << doublings), 64);
        }
        assert_eq!(asked(0..1_000_000), 955);
        assert!(MeasuredTrials::EverFewer.includes(1 << 63) && !MeasuredTrials::EverFewer.includes(u64::MAX));
        assert_eq!((0..100).filter(|&trial| MeasuredTrials::None.includes(trial)).count(), 0);
    }
}
