//! Why scores may be counted as independent runs.

crate::closed_set! {
    "independence",
    /// What proves that all scores of a world are independent and have the same law.
    pub enum Independence {
        /// Every training has one canary.
        Trainings,
        /// The rule "follow" makes the places of a training's canaries independent and uniform. It needs a uniform shuffle.
        Follow,
        /// Each record joins batches independently of all others.
        Memberships,
        /// The noise of all steps has the same law, and a score does not depend on the order of the steps. So places do not matter.
        SymmetricScores,
    }
}
