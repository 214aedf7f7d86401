//! [`Coins`]: what audits with a fair coin for each canary add to a verdict on outputs.

use crate::numbers::{count, percent, significant};
use misdeal_core::{Independence, OrInfinite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What coins show. Absent from judgements of runs with and without one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Coins {
    /// Trainings that were judged.
    pub runs: u64,
    /// Canaries in each training.
    pub canaries: u64,
    /// Coins that were guessed: runs times canaries.
    pub coins: u64,
    /// Coins that the sign of the score guesses right.
    pub right_guesses: u64,
    /// Why coins are independent; null if nothing is proven.
    pub independence: Option<Independence>,
    /// The bounds on epsilon behind `empirical_epsilon`; null with one canary a run.
    pub one_run: Option<OneRunBounds>,
    /// The test of the claimed curve; null if no curve is claimed.
    pub curve: Option<TestedCurve>,
}

/// Bounds on epsilon from the coins of one run or of a few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneRunBounds {
    /// Whether `empirical_epsilon` is the bound for independent coins. Theory chose it, before anything was observed.
    pub uses_independence: bool,
    /// The bound for any dependence between canaries (Steinke, Nasr and Jagielski 2023).
    pub epsilon_any_dependence: f64,
    /// Canaries guessed present, by the highest scores, and absent, by the lowest.
    pub guessed: [u64; 2],
    /// Right guesses among them.
    pub guessed_right: u64,
    /// The bound at fixed thresholds for independent coins; null where coins may depend on each other.
    pub epsilon_independent: Option<f64>,
}

/// A claimed curve, tested as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestedCurve {
    /// Where the curve comes from.
    pub name: String,
    /// The claimed points: delta (ascending), then epsilon.
    pub points: Vec<[f64; 2]>,
    /// The largest difference of probabilities that the curve allows.
    pub claimed_total_variation: f64,
    /// The largest share of coins that can be guessed right if the claim is true.
    pub claimed_right_rate: f64,
    /// The p-value of the claim. With several canaries it holds for any dependence between them.
    pub p_value: f64,
    /// The p-value of the number of right guesses, if coins are independent; null if they may not be.
    pub right_guesses_p_value: Option<f64>,
    /// The evidence of a bet against the claim, if coins are independent: reaching 20 refutes at 5 %, whenever one stops. Null if
    /// infinite, or if coins may not be independent.
    pub e_value: Option<OrInfinite>,
    /// Its natural logarithm.
    pub log_e_value: Option<f64>,
    /// Whether the claim is refuted: by the bet if coins are independent, else by the p-value.
    pub refuted: bool,
}

impl Coins {
    /// Says how many coins were guessed right and what the claim allows.
    pub fn guessed(&self) -> String {
        let (right, coins) = (count(self.right_guesses), count(self.coins));
        let guessed = format!("{right} of {coins} coins guessed right");
        let Some(curve) = &self.curve else { return guessed };
        let outcome = if curve.refuted { "refuted" } else { "not refuted" };
        format!("{guessed}; the claimed curve allows {}: {outcome}", percent(curve.claimed_right_rate))
    }
}

impl TestedCurve {
    /// Says how strong the evidence is.
    pub fn evidence(&self) -> String {
        let p_value = format!("p-value {}", power(self.p_value.log10()));
        match self.log_e_value {
            Some(log_e) if log_e > 0.0 => {
                format!("odds {} : 1 ({p_value} for any dependence)", power(log_e / std::f64::consts::LN_10))
            }
            _ => p_value,
        }
    }
}

/// A number of any size from its decimal logarithm: plain from 0.001 to 10,000, else a power of ten.
fn power(log10: f64) -> String {
    if (-3.0..4.0).contains(&log10) { significant(10_f64.powf(log10)) } else { format!("10^{log10:.1}") }
}
