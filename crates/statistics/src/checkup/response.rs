//! Does a planted canary show in the outputs at exactly its clipped size?
//!
//! Too large a response means that gradients were not clipped, were clipped tensor by tensor, or were counted twice. Too
//! small a response means that the audit sees less than it should, or nothing.

use super::Outcome;
use super::record::{Claim, RunRecord};
use crate::beta::Beta;
use libm::{exp, log, log1p};

/// The tests for too large and for too small a response, in this order. `measured` is the response; 1 is right.
pub(super) fn of_all(runs: &[RunRecord], claim: &Claim) -> [Outcome; 2] {
    if claim.natural_outputs { by_coins(runs, claim.paired_coins) } else { by_regression(runs) }
}

/// Known means: Student's test of the slope of outputs on what was planted, of all outputs and of the placed canaries
/// alone.
///
/// Under the claim output = planted + noise, with independent noise of one size. The law of t does not depend on that
/// size. Opposing canaries make most of the first test, so the second one is about the target's own records.
fn by_regression(runs: &[RunRecord]) -> [Outcome; 2] {
    let pick = |only_placed: bool| -> Vec<[f64; 2]> {
        runs.iter()
            .flat_map(|run| {
                let scaled = move |place: usize| {
                    let noise = run.noise_multipliers[place / run.canaries];
                    [run.planted[place] / noise, run.outputs[place] / noise]
                };
                (0..run.outputs.len())
                    .filter(move |&at| !only_placed || run.placed[at] && run.planted[at] > 0.0)
                    .map(scaled)
            })
            .collect()
    };
    let tests: Vec<_> =
        [false, true].into_iter().filter_map(|only_placed| slope_test(&pick(only_placed))).collect();
    [0, 1].map(|side| {
        let smallest = tests.iter().map(|(tails, slope)| (tails[side], *slope));
        let smallest = smallest.min_by(|one, other| one.0.total_cmp(&other.0));
        smallest.map_or_else(Outcome::default, |(p, slope)| Outcome::of(p * tests.len() as f64, slope))
    })
}

/// The p-values for a slope above 1 and below 1 of pairs (planted, output), and the slope.
fn slope_test(pairs: &[[f64; 2]]) -> Option<([f64; 2], f64)> {
    let information: f64 = pairs.iter().map(|[planted, _]| planted * planted).sum();
    if information == 0.0 || pairs.len() < 2 {
        return None;
    }
    // The slope's excess over 1, from residuals: nothing cancels.
    let excess =
        pairs.iter().map(|[planted, output]| planted * (output - planted)).sum::<f64>() / information;
    let rest: f64 = pairs
        .iter()
        .map(|[planted, output]| {
            let left = output - planted - excess * planted;
            left * left
        })
        .sum();
    let freedom = pairs.len() as f64 - 1.0;
    let odds = excess * excess * information / rest;
    let beyond = if odds.is_nan() { 0.5 } else { 0.5 * Beta::new(0.5, 0.5 * freedom).tails(odds)[1] };
    let tails = if excess > 0.0 { [beyond, 1.0 - beyond] } else { [1.0 - beyond, beyond] };
    Some((tails, 1.0 + excess))
}

/// The alternatives that are bet on: what the response has too much, in clipping norms.
const EXCESSES: [&[f64]; 2] = [&[0.4, 1.0, 3.0, 9.0], &[-0.5, -1.0]];

/// The alternatives for the spread of outputs, in units of the claimed noise; natural gradients add to it.
const SPREADS: [f64; 3] = [1.0, 1.5, 3.0];

/// What a canary showed at its first placement, less what its coin planted.
#[derive(Debug, Clone, Copy)]
struct Placement {
    residual: f64,
    noise: f64,
    coin: bool,
}

impl Placement {
    /// The log of how much likelier the residual is under this alternative if the coin was what it was than if not.
    fn log_ratio(self, excess: f64, spread: f64) -> f64 {
        let deviation = spread * self.noise;
        let ratio = excess * (self.residual - 0.5 * excess) / (deviation * deviation);
        if self.coin { ratio } else { -ratio }
    }
}

/// Unknown means: bets on the coins, at the first step where each could show.
///
/// Let r be the output less what the coin planted. In correct training r does not depend on the coin, given all before
/// this step. A bettor who sees r and bets on the fair coin multiplies his stake by a factor of mean 1. So the mean of
/// the final stake is at most 1, and one over it is a valid p-value. Later steps may depend on the coin through the
/// model, and are left out.
fn by_coins(runs: &[RunRecord], paired: bool) -> [Outcome; 2] {
    let placements: Vec<Vec<Placement>> = runs.iter().map(first_placements).collect();
    // One group for each fair coin. Of a pair of runs the two are opposite.
    let groups: Vec<Vec<Placement>> = if paired {
        placements.chunks_exact(2).map(<[_]>::concat).collect()
    } else {
        placements.concat().into_iter().map(|one| vec![one]).collect()
    };
    let all = || groups.iter().flatten();
    if all().next().is_none() {
        return [Outcome::default(), Outcome::default()];
    }
    let mean = |coin: bool| {
        let side = all().filter(|one| one.coin == coin);
        side.clone().map(|one| one.residual).sum::<f64>() / (side.count().max(1)) as f64
    };
    let measured = 1.0 + mean(true) - mean(false);
    EXCESSES.map(|excesses| {
        let alternatives = excesses.iter().flat_map(|&excess| SPREADS.map(|spread| (excess, spread)));
        let log_stake = |(excess, spread)| -> f64 {
            let ratios =
                groups.iter().map(|group| group.iter().map(|one| one.log_ratio(excess, spread)).sum::<f64>());
            // 2 / (1 + e^-ratio), without overflow.
            ratios
                .map(|ratio| {
                    log(2.0) - if ratio < 0.0 { log1p(exp(ratio)) - ratio } else { log1p(exp(-ratio)) }
                })
                .sum()
        };
        let stakes: Vec<f64> = alternatives.map(log_stake).collect();
        let largest = stakes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = stakes.iter().map(|stake| exp(stake - largest)).sum();
        Outcome::of(exp(-largest) * stakes.len() as f64 / sum, measured)
    })
}

/// The first placement of each canary of a run.
fn first_placements(run: &RunRecord) -> Vec<Placement> {
    let first = |canary: usize| {
        let mut steps = (0..run.steps()).map(|step| (step, step * run.canaries + canary));
        let (step, place) = steps.find(|(_, place)| run.placed[*place])?;
        let residual = run.outputs[place] - run.planted[place];
        Some(Placement { residual, noise: run.noise_multipliers[step], coin: run.coins[canary] })
    };
    (0..run.canaries).filter_map(first).collect()
}
