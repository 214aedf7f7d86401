//! How many runs refute a claim, told before any training.

use super::CoinAnalysis;
use super::claim::Claim;
use crate::Result;
use crate::modelled::modelled;
use crate::run::check_claim;
use misdeal_core::{Error, Setting};
use misdeal_statistics::check_levels;
use misdeal_statistics::coins::{Bet, Modelled};

/// The simulated audits whose evidence is followed.
const PATHS: usize = 1000;
/// Beyond so many coins the sum of evidence is normal, for the purpose at hand.
const MOST_SIMULATED: f64 = 4000.0;

/// How many runs a bet against a claim needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunsNeeded {
    /// Runs after which the claim is refuted with probability `power`; `None` if the setting's scheme does not violate the claim, or
    /// hardly.
    pub runs: Option<u64>,
    /// The evidence that a coin adds on average, in nats.
    pub rate: f64,
    /// The probability of a refutation after so many runs.
    pub power: f64,
}

/// Returns the number of runs with `canaries` canaries each that refute a claim with probability 0.9.
///
/// It assumes that the training is as the setting says, and that coins are independent. The evidence is that of [`Bet`], which must
/// reach one over the significance.
///
/// ```
/// use misdeal::{CoinAnalysis, Setting, runs_needed};
/// let setting = Setting::new(0.8).steps_per_epoch(117).epochs(10);
/// let alone = runs_needed(&setting, 1, &CoinAnalysis::default())?.runs;
/// assert!(alone.is_some_and(|runs| (20..64).contains(&runs)));
/// assert_eq!(runs_needed(&setting, 64, &CoinAnalysis::default())?.runs, Some(1));
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The setting or the claim is refused, or there are no canaries.
pub fn runs_needed(setting: &Setting, canaries: u64, claim: &CoinAnalysis) -> Result<RunsNeeded> {
    const POWER: f64 = 0.9;
    const LEAST_RATE: f64 = 1e-5;
    let setting = setting.clone().validated()?;
    check_levels(claim.analysis.delta, claim.analysis.significance)?;
    check_claim(claim.claimed_epsilon)?;
    if canaries == 0 {
        let hint = "each run has at least one canary";
        return Err(Error::bad_value("canaries", canaries, "a whole number from 1", hint).into());
    }
    let curve = Claim::of(&setting, claim)?.tested(claim.analysis.delta)?;
    let modelled = modelled(&setting)?;
    let bet = Bet::new(&curve, &modelled);
    let coins =
        (bet.rate() > LEAST_RATE).then(|| coins_needed(&bet, &modelled, claim.analysis.significance, POWER));
    Ok(RunsNeeded { runs: coins.map(|coins| coins.div_ceil(canaries)), rate: bet.rate(), power: POWER })
}

/// The number of coins after which the evidence suffices with probability `power`.
fn coins_needed(bet: &Bet, modelled: &Modelled, significance: f64, power: f64) -> u64 {
    let needed = -libm::log(significance);
    let logs: Vec<f64> = [(&modelled.scores_in, true), (&modelled.scores_out, false)]
        .into_iter()
        .flat_map(|(scores, is_in)| scores.iter().map(move |&score| bet.log_value(score, is_in)))
        .collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|log| (log - mean) * (log - mean)).sum::<f64>() / logs.len() as f64;
    // mean n - z sd sqrt(n) = needed
    let spread = -misdeal_core::normal::quantile(1.0 - power) * libm::sqrt(variance);
    let root = (spread + libm::sqrt(spread * spread + 4.0 * mean * needed)) / (2.0 * mean);
    let normal = libm::ceil(root * root);
    if normal > MOST_SIMULATED {
        return normal as u64;
    }
    let longest = 4 * normal as usize + 64;
    let mut enough = vec![0_usize; longest];
    let mut state = 0_u64;
    for _ in 0..PATHS {
        let mut sum = 0.0;
        for reached in &mut enough {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            sum += logs[((u128::from(mixed(state)) * logs.len() as u128) >> 64) as usize];
            *reached += usize::from(sum >= needed);
        }
    }
    let first = enough.iter().position(|&reached| reached as f64 >= power * PATHS as f64);
    first.map_or(normal as u64, |index| index as u64 + 1)
}

/// A hash of a counter (Steele, Lea and Flood 2014): uniform bits for the simulated audits.
fn mixed(counter: u64) -> u64 {
    let z = (counter ^ counter >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
