//! Monte Carlo on the modelled pair: a second way to what theory computes by Fourier transform.
//!
//! For the pair (P, Q) that a setting stands for, with its exact log likelihood ratio L,
//!
//! ```text
//! delta(epsilon) = E_P (1 - e^(epsilon - L))+,
//! ```
//!
//! so samples from P alone bound epsilon from below. In the order in which a bound comes to be:
//!
//! - `pair`: the setting's pair; refuses schemes whose ratio is another.
//! - `proposal`: P with the target's mean, and all means, moved; mixed with P so that weights stay bounded.
//! - `pilot`: independent samples that choose the move, the group size and the stakes.
//! - `losses`: weighted losses in independent groups, and the search for epsilon.
//! - `betting`: the lower confidence bound for a mean of non-negative values.

mod betting;
mod draws;
mod losses;
mod pair;
mod pilot;
mod proposal;
mod sampling;
#[cfg(test)]
mod tests;

use crate::{Error, Progress, Result};
use draws::Part;
use misdeal_core::{Setting, Stream, estimate, normal};
use pair::ModelledPair;
use pilot::{Pilot, Question, Strategy};
use proposal::Proposal;
use serde::Serialize;

/// The most samples of a run: they are kept in memory, 16 bytes each.
pub const MOST_SAMPLES: u64 = 1 << 28;

/// The smallest delta: below, stakes leave the range of `f64`.
const LEAST_DELTA: f64 = 1e-100;

/// The fewest samples: below, even a certain event shows little.
const FEWEST_SAMPLES: u64 = 1000;

/// A lower confidence bound on the epsilon of the modelled pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MonteCarloBound {
    /// Exceeds the modelled pair's epsilon with probability `significance` at most.
    pub epsilon_lower_bound: f64,
    /// The epsilon at which the samples' average is delta, with no confidence in either direction.
    pub epsilon_estimate: f64,
    /// Around the estimate, by the normal approximation: holds the pair's epsilon with a probability of about 1 - `significance`
    /// where the proposal reaches all that matters, which nothing guarantees. A check, and no bound.
    pub epsilon_interval: [f64; 2],
    /// Likelihood ratios that were drawn, the pilot's not counted.
    pub samples: u64,
    /// The probability with which the bound may be too large.
    pub significance: f64,
    /// What was done, in a few words.
    pub method: String,
}

/// A lower confidence bound on the epsilon at `delta` of the pair that `setting` models, from about `samples` draws of its exact
/// likelihood ratio, on all cores of the current thread pool.
///
/// Guarantee: for every number of samples, the bound exceeds the epsilon of the pair's direction (target present over zeroed
/// out), hence the pair's epsilon, with probability `significance` at most. It errs downwards: too few samples or a bad proposal make it
/// smaller. Unproven are only rounding (about 1e-13) and the generator's resolution (2^-32 in the body of the normal law).
///
/// It is a statement about the model, like theory's, and never a verdict on an implementation: nothing that runs is observed. For shuffling
/// it is a lower bound of the scheme's epsilon as the exact pair's is.
///
/// The result is a function of the arguments alone: the same for any number of cores. About a fifth more samples are drawn for the
/// pilot.
///
/// ```
/// use misdeal_audit::{Unwatched, divergence_lower_bound};
/// use misdeal_core::Setting;
/// let bound = divergence_lower_bound(&Setting::default(), 1e-5, 0.05, 20_000, &Unwatched)?;
/// assert!(3.9 < bound.epsilon_lower_bound && bound.epsilon_lower_bound < 4.06602);
/// # Ok::<(), misdeal_audit::Error>(())
/// ```
///
/// # Errors
/// Values out of range, schemes that may use the target more than once an epoch, an adversary's scheme other than the one
/// that runs, or an interruption.
pub fn divergence_lower_bound(
    setting: &Setting,
    delta: f64,
    significance: f64,
    samples: u64,
    progress: &dyn Progress,
) -> Result<MonteCarloBound> {
    let setting = setting.clone().validated()?;
    estimate::check_levels(delta, significance)?;
    if delta < LEAST_DELTA {
        let allowed = format!("a number from {LEAST_DELTA:e} to below 1");
        let hint = "it is usually below one over the number of records";
        return Err(misdeal_core::Error::bad_value("delta", delta, allowed, hint).into());
    }
    if !(FEWEST_SAMPLES..=MOST_SAMPLES).contains(&samples) {
        let allowed = format!("a whole number from {FEWEST_SAMPLES} to {MOST_SAMPLES}");
        let hint = "a million is usually enough for three digits";
        return Err(misdeal_core::Error::bad_value("monte_carlo", samples, allowed, hint).into());
    }
    let pair = ModelledPair::new(&setting)?;
    let stream = Stream::new(&setting.hash());
    let question = Question { delta, significance, samples };
    let interrupted = || Error::SimulationInterrupted;
    let strategy = Pilot::new(&pair, &stream, question, progress).strategy().ok_or_else(interrupted)?;
    bound(&pair, &stream, question, strategy, progress).ok_or_else(interrupted)
}

/// The main run of a strategy; `None` if interrupted.
fn bound(
    pair: &ModelledPair,
    stream: &Stream,
    Question { delta, significance, .. }: Question,
    strategy: Strategy,
    progress: &dyn Progress,
) -> Option<MonteCarloBound> {
    let Strategy { tilt, plan, bet } = strategy;
    let losses = sampling::sample(Proposal { pair, tilt }, stream, Part::Main, plan, progress)?;
    let method = format!(
        "Monte Carlo on the modelled pair, no verdict on an implementation: importance sampling (target's mean {:.4}, \
         all means {:+.4}, defensive mixture), {} independent groups of {}, betting bound",
        tilt.everywhere + tilt.target,
        tilt.everywhere,
        plan.groups,
        plan.group_size,
    );
    let epsilon_estimate = losses.epsilon_estimate(delta);
    let error = losses.standard_error(epsilon_estimate) * -normal::lower_quantile(0.5 * significance);
    Some(MonteCarloBound {
        epsilon_lower_bound: losses.epsilon_lower_bound(&bet, significance),
        epsilon_estimate,
        epsilon_interval: [delta + error, delta - error].map(|delta| losses.epsilon_estimate(delta)),
        samples: losses.values.len() as u64,
        significance,
        method,
    })
}
