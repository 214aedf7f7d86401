//! Which trials' models are asked for their accuracy. Scores do not depend on it.

/// Trials that are asked in each doubling of their number.
const IN_EACH_DOUBLING: u64 = 64;

/// Which trials' models are asked how many records they classify correctly: asking costs up to a third of a training.
///
/// It depends on the trial alone, so that neither splitting nor resuming nor extending a run leaves a trace in what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredTrials {
    /// All of them.
    All,
    /// The first 128, then 64 of each doubling: some 900 of a million, and more would tell no more.
    EverFewer,
    /// None.
    None,
}

impl MeasuredTrials {
    /// Whether this trial's models are asked.
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
