//! A store's record of how its scores were judged.
//!
//! A bound is valid only if the number of trials was decided before any score was seen. A user may look, run more
//! trials because the claim was not refuted, and look again. This refutes a true claim more often than the significance
//! says: ten such looks do so in 17 % of cases. A confidence sequence pays for all its looks in advance.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// How the scores of a store were judged so far.
///
/// # Formal guarantees
/// - At most one number of trials is judged validly: the number that was planned at every look. A look at a part of
///   that run is not valid, so a user's decision to continue after it does no harm.
/// - Alternatively, all looks belong to one confidence sequence.
/// - Merging joins the looks of both stores. The order does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgements {
    /// Whether a confidence sequence looked.
    sequential: bool,
    /// Trials per world of each complete run that was judged, as a whole or in part.
    planned: BTreeSet<u64>,
}

impl Judgements {
    /// One judgement of `trials` trials per world.
    ///
    /// This is assumed for a store that does not record its judgements.
    pub(super) fn of_a_finished_run(trials: u64) -> Self {
        Judgements { sequential: false, planned: (trials > 0).then_some(trials).into_iter().collect() }
    }

    /// Records a look of a confidence sequence.
    pub(super) fn add_sequential(&mut self) {
        self.sequential = true;
    }

    /// Records a judgement of a run of `planned` trials per world, or of a part of it.
    pub(super) fn add(&mut self, planned: u64) {
        self.planned.insert(planned);
    }

    /// Adds the judgements of another store.
    pub(super) fn merge(&mut self, other: &Self) {
        self.sequential |= other.sequential;
        self.planned.extend(&other.planned);
    }

    /// Why a look of a confidence sequence is not valid, or `None` if it is.
    pub fn objection_to_sequential(&self) -> Option<String> {
        let trials = self.planned.first()?;
        Some(format!(
            "these scores were judged before without a confidence sequence, at {} observations; start a new run with \
             --threshold-choice sequential",
            2 * trials
        ))
    }

    /// Why a judgement of `trials` as a run of `planned` trials per world is not valid, or `None` if it is.
    pub fn objection(&self, planned: u64, trials: &[Range<u64>]) -> Option<String> {
        const REMEDY: &str = "start a new run with another seed, or one with --threshold-choice sequential";
        if self.sequential {
            return Some(format!("these scores were judged before by a confidence sequence; {REMEDY}"));
        }
        if let Some(other) = self.planned.iter().find(|&&other| other != planned) {
            return Some(format!(
                "these scores were judged before, as a run of {} observations, and a second look is not free; {REMEDY}",
                2 * other
            ));
        }
        if trials.len() != 1 || trials[0] != (0..planned) {
            return Some(format!(
                "these scores are part of a run of {} observations; merge all parts and judge the whole run",
                2 * planned
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(planned: &[u64]) -> Judgements {
        let mut judgements = Judgements::default();
        for &planned in planned {
            judgements.add(planned);
        }
        judgements
    }

    #[test]
    fn one_planned_number_of_trials_is_judged_validly() {
        let whole = |n: u64| [Range { start: 0, end: n }];
        assert_eq!(looked(&[]).objection(50, &whole(50)), None);
        assert_eq!(looked(&[50]).objection(50, &whole(50)), None);
        let again = looked(&[50]).objection(80, &whole(80)).unwrap();
        assert!(again.contains("run of 100 observations"), "{again}");
        // A return to the first number does not undo the second look.
        assert!(looked(&[50, 80]).objection(50, &whole(50)).is_some());
    }

    #[test]
    fn parts_are_not_judged_validly_and_do_not_spoil_the_whole() {
        let mut part = Judgements::default();
        assert!(part.objection(90, std::slice::from_ref(&(0..30))).unwrap().contains("part of a run of 180"));
        part.add(90);
        let mut whole = Judgements::default();
        whole.merge(&part);
        assert_eq!(whole.objection(90, std::slice::from_ref(&(0..90))), None);
        assert!(whole.objection(60, std::slice::from_ref(&(0..60))).is_some());
        assert!(whole.objection(90, &[0..30, 60..120]).is_some());
    }

    #[test]
    fn a_confidence_sequence_keeps_to_itself() {
        let mut judgements = Judgements::default();
        assert_eq!(judgements.objection_to_sequential(), None);
        judgements.add_sequential();
        assert_eq!(judgements.objection_to_sequential(), None);
        assert!(judgements.objection(50, std::slice::from_ref(&(0..50))).is_some());
        assert!(looked(&[50]).objection_to_sequential().is_some());
        assert!(Judgements::of_a_finished_run(50).objection_to_sequential().is_some());
        assert_eq!(Judgements::of_a_finished_run(0), Judgements::default());
    }
}
