//! Judges trainings in which a fair coin of its own included each canary.
//!
//! # What does the verdict rest on?
//! On one test, which the reason for independence decides beforehand. If coins are independent, it is the bet. If each coin is only
//! private, it is the p-value that holds for any dependence. The bound on epsilon is a statement of its own, at the same significance.

mod claim;
mod judgement;
mod plan;
mod runs_needed;
#[cfg(test)]
mod tests;

use crate::modelled::modelled;
use crate::outputs::score_outputs;
use crate::run::check_claim;
use crate::{Analysis, Result, promised};
use claim::Claim;
use judgement::Judgement;
use misdeal_core::{Error, Setting};
use misdeal_results::{Independence, OutputScore, Outputs};
use misdeal_statistics::check_levels;
use plan::{CurvePlan, EpsilonPlan};
pub use runs_needed::{RunsNeeded, runs_needed};
use serde::Deserialize;

/// A curve that is claimed: by its points (delta, epsilon), or by name.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum CurveClaim {
    /// Points (delta, epsilon).
    Points(Vec<[f64; 2]>),
    /// A scheme, whose curve theory knows; `gaussian`, the Gaussian curve through the claimed epsilon; or `gdp=MU`.
    Named(String),
}

/// How to judge coins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct CoinAnalysis {
    /// Delta, significance, and the estimator for one canary a run.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The claimed epsilon at delta.
    pub claimed_epsilon: Option<f64>,
    /// The claimed curve. Without any claim, it is the one of Poisson sampling.
    pub claimed_curve: Option<CurveClaim>,
    /// Why coins are independent; `None` if nothing is proven.
    pub independence: Option<Independence>,
    /// Whether exactly one of two successive runs has its only canary.
    pub paired: bool,
    /// Why nothing is valid, if there is a reason.
    pub objection: Option<String>,
}

/// Judges the outputs of runs with `canaries` canaries each, whose coins are `coins`.
///
/// Rows of `outputs` are run after run, and canary after canary within a run.
///
/// ```
/// use misdeal::{CoinAnalysis, Independence, Setting, judge_coins};
/// let setting = Setting::new(1.0).steps_per_epoch(1);
/// let coins: Vec<bool> = (0..64).map(|canary| canary % 3 == 0).collect();
/// let outputs: Vec<f64> = coins.iter().map(|&is_in| if is_in { 9.0 } else { -5.0 }).collect();
/// let analysis = CoinAnalysis { claimed_epsilon: Some(0.5), independence: Some(Independence::Follow), ..CoinAnalysis::default() };
/// let found = judge_coins(&setting, &outputs, &coins, 64, &analysis)?;
/// assert_eq!(found.violated, Some(true));
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The setting is refused, outputs and coins do not fit, an output is not finite, or a claim is unknown.
pub fn judge_coins(
    setting: &Setting,
    outputs: &[f64],
    coins: &[bool],
    canaries: u64,
    analysis: &CoinAnalysis,
) -> Result<Outputs> {
    let setting = setting.clone().validated()?;
    let Analysis { delta, significance, .. } = analysis.analysis;
    check_levels(delta, significance)?;
    check_claim(analysis.claimed_epsilon)?;
    check_shape(&setting, outputs, coins, canaries, analysis)?;
    let scores = score_outputs(&setting, outputs, OutputScore::LikelihoodRatio)?;
    let claim = Claim::of(&setting, analysis)?;
    let modelled = modelled(&setting)?;
    let judged = Judgement { setting: &setting, scores: &scores, coins, canaries, analysis };
    let mut found = if canaries == 1 && judged.has_both_worlds() {
        judged.with_and_without(outputs, claim.epsilon)?
    } else {
        let plan = EpsilonPlan::new(&modelled, coins.len() as u64, analysis);
        judged.in_one_run(&plan, claim.epsilon, promised(&setting, delta))
    };
    let tested = claim.curve.map(|curve| judged.test(&CurvePlan::new(curve, &modelled, canaries, analysis)));
    if let Some(curve) = &tested {
        found.violated = Some(curve.refuted);
    }
    if let Some(coins) = &mut found.coins {
        coins.curve = tested;
    }
    Ok(found)
}

fn check_shape(
    setting: &Setting,
    outputs: &[f64],
    coins: &[bool],
    canaries: u64,
    analysis: &CoinAnalysis,
) -> Result<()> {
    if canaries == 0 || coins.is_empty() || !(coins.len() as u64).is_multiple_of(canaries) {
        let hint = "each run has a coin for each of its canaries";
        let allowed = format!("a multiple of the {} canaries of a run", canaries.max(1));
        return Err(Error::bad_value("coins", format!("{} coins", coins.len()), allowed, hint).into());
    }
    if outputs.len() as u64 != coins.len() as u64 * setting.steps() {
        let hint = "each coin has steps_per_epoch * epochs outputs";
        let allowed = format!("{} outputs for each of the {} coins", setting.steps(), coins.len());
        return Err(Error::bad_value("outputs", format!("{} numbers", outputs.len()), allowed, hint).into());
    }
    let is_pair = |pair: &[bool]| pair.len() < 2 || pair[0] != pair[1];
    if analysis.paired && (canaries > 1 || !coins.chunks(2).all(is_pair)) {
        let hint = "a pair is two successive runs with one canary each, of which exactly one is present";
        return Err(Error::bad_value("paired", "true", "false for these coins", hint).into());
    }
    Ok(())
}
