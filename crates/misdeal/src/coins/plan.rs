//! The plan of an audit: what is guessed and staked follows from the setting and the claim, and never from the audited scores.

use super::CoinAnalysis;
use crate::Analysis;
use misdeal_results::Independence;
use misdeal_statistics::PrivacyCurve;
use misdeal_statistics::coins::{
    Bet, Modelled, Shares, curve_p_value, fixed_thresholds_epsilon, one_run_epsilon,
};

/// How epsilon is bounded.
pub(super) struct EpsilonPlan {
    /// The shares that are guessed for the bound that holds for any dependence.
    pub any: Shares,
    /// The thresholds at which independent coins are guessed, if they are independent.
    pub thresholds: Option<[f64; 2]>,
    /// Whether the bound for independent coins is expected to be the larger one.
    pub uses_independence: bool,
}

impl EpsilonPlan {
    pub fn new(modelled: &Modelled, coins: u64, analysis: &CoinAnalysis) -> Self {
        let Analysis { delta, significance, .. } = analysis.analysis;
        let any = |guesses: u64, right: u64| one_run_epsilon(coins, guesses, right, delta, significance);
        let alike =
            |guesses: u64, right: u64| fixed_thresholds_epsilon(coins, guesses, right, delta, significance);
        let (any, expected) = Shares::best(modelled, coins, any);
        let hoped = is_independent(analysis).then(|| Shares::best(modelled, coins, alike));
        EpsilonPlan {
            any,
            thresholds: hoped.map(|(shares, _)| shares.thresholds(modelled)),
            uses_independence: hoped.is_some_and(|(_, hoped)| hoped > expected),
        }
    }
}

/// How a claimed curve is tested.
pub(super) struct CurvePlan {
    pub name: String,
    pub curve: PrivacyCurve,
    /// The bet, if coins are independent.
    pub bet: Option<Bet>,
    /// The shares that are guessed in each run of several canaries.
    pub shares: Option<Shares>,
}

impl CurvePlan {
    pub fn new(
        (name, curve): (String, PrivacyCurve),
        modelled: &Modelled,
        canaries: u64,
        analysis: &CoinAnalysis,
    ) -> Self {
        // The best shares hardly change beyond so many canaries, and planning costs their square.
        let planned = canaries.min(1024);
        let evidence = |guesses: u64, right: u64| -libm::log(curve_p_value(planned, guesses, right, &curve));
        let shares = (canaries > 1).then(|| Shares::best(modelled, planned, evidence).0);
        let bet = is_independent(analysis).then(|| Bet::new(&curve, modelled));
        CurvePlan { name, curve, bet, shares }
    }
}

/// Returns whether the scores of different canaries are independent given their coins.
pub(super) fn is_independent(analysis: &CoinAnalysis) -> bool {
    analysis.independence.is_some_and(Independence::is_independent)
}
