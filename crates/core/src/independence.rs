//! Why scores of several canaries may be counted as independent runs. `docs/proofs/coins.md` has the proofs.

crate::closed_set! {
    "independence",
    /// Why each canary's coin is as private as the claim says of a single record, and independent of the others.
    pub enum Independence {
        /// Canaries follow leaders, so that their places are independent. It assumes a uniform shuffle.
        Follow,
        /// Scores are symmetric in an epoch's steps. It assumes noise that is exchangeable over steps and independent over directions.
        SymmetricScores,
        /// Each canary's membership is a plain record of the data set, and its direction is its own.
        Memberships,
        /// Each run has one canary, and runs are independent.
        Single,
        /// Each coin is private given all others, but canaries may depend on each other.
        PrivateCoins,
    }
}

impl Independence {
    /// Whether the scores of different canaries are independent given their coins.
    pub fn is_independent(self) -> bool {
        self != Self::PrivateCoins
    }

    /// Says what a bound rests on, in words that follow "if".
    pub fn assumption(self) -> &'static str {
        match self {
            Self::Follow => "batches are a uniform shuffle and noise is independent over directions",
            Self::SymmetricScores => {
                "noise is independent over directions and exchangeable over an epoch's steps"
            }
            Self::Memberships => "each canary is a plain record with a direction of its own",
            Self::Single => "runs are independent",
            Self::PrivateCoins => "each coin is as private as a single record",
        }
    }
}
