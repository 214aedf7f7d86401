//! Bounds of one scheme with a card's numbers, and the noise that keeps the claim.

use super::card::Training;
use crate::Result;
use misdeal_core::{BatchScheme, BoundMethod, Bounds, Setting, SideMethod};
use misdeal_results::{CardSetting, CheckedScheme};
use misdeal_theory::account::{bounds_within, poisson_bounds_within, side_within};
use misdeal_theory::calibrate::{Search, calibrate_by};
use misdeal_theory::pld::Side;
use misdeal_theory::work::Work;

/// Units of work for the bounds of one scheme. Its noise gets as many again.
const WORK: f64 = 3.5e9;
/// Relative accuracy of the required noise.
const NOISE_WIDTH: f64 = 3e-4;

/// The results wanted for a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The scheme's bounds alone.
    Bounds,
    /// The scheme's bounds, and the noise that keeps the claim.
    BoundsAndNoise,
}

/// Returns the share of the remaining work for call number `evaluations` of the accountant, from 0. A search makes about eight
/// calls.
fn share_of_work(evaluations: u32) -> f64 {
    1.0 / f64::from(7_u32.saturating_sub(evaluations).max(3))
}

/// A scheme that made the batches of a card's training, or may have made them.
#[derive(Debug)]
pub struct SchemeUse<'a> {
    /// The training.
    pub training: &'a Training,
    /// The scheme.
    pub scheme: BatchScheme,
    /// A noise near the one that keeps the claim, if known.
    pub guess: Option<f64>,
}

impl SchemeUse<'_> {
    /// Returns the bounds at the card's noise and, if wanted, the noise that keeps the claim.
    ///
    /// # Errors
    /// None for a checked card.
    pub fn checked(&self, wanted: Wanted) -> Result<CheckedScheme> {
        let bounds = self.bounds(&Work::of(WORK))?;
        let claim = self.training.claimed_epsilon.filter(|_| wanted == Wanted::BoundsAndNoise);
        let noise_multiplier_needed = claim.and_then(|claim| self.noise_needed(claim, &Work::of(WORK)));
        Ok(CheckedScheme { bounds, noise_multiplier_needed })
    }

    /// Returns the bounds of the whole training.
    ///
    /// If the last epoch is incomplete, the lower bound is that of the complete epochs. It holds because later outputs cannot hide
    /// what earlier ones show. The upper bound is then that of one more epoch. If an epoch keeps its smaller last batch, the lower
    /// bound is that of the same number of equal batches, which hide more.
    fn bounds(&self, work: &Work) -> Result<Bounds> {
        let Training { setting, delta, .. } = self.training;
        if self.scheme == BatchScheme::Poisson {
            return self.poisson(setting.noise_multiplier, work);
        }
        let upper = self.training.with_full_batches(self.scheme, setting.epochs).validated()?;
        match self.training.whole_epochs(self.scheme) {
            Some(lower) if lower == upper => Ok(bounds_within(&upper, *delta, work)?),
            Some(lower) => {
                let below = bounds_within(&lower, *delta, work)?;
                let above = side_within(&upper, *delta, Side::Upper, &Work::of(WORK))?;
                Ok(Bounds { epsilon_upper_bound: above.epsilon_upper_bound, ..below })
            }
            None => {
                let above = side_within(&upper, *delta, Side::Upper, work)?;
                let no_epoch = SideMethod::Other("no epoch is complete".into());
                let method = BoundMethod::sides(no_epoch, above.method.upper().clone());
                Ok(Bounds { epsilon_lower_bound: None, method, ..above })
            }
        }
    }

    fn poisson(&self, noise_multiplier: f64, work: &Work) -> Result<Bounds> {
        let CardSetting { steps, .. } = self.training.setting;
        let rate = self.training.setting.sampling_probability();
        Ok(poisson_bounds_within(noise_multiplier, rate, steps, self.training.delta, work)?)
    }

    /// Returns the least noise whose proven upper bound is at most the claim, rounded up. Returns `None` if the work finds no such
    /// noise.
    fn noise_needed(&self, claim: f64, work: &Work) -> Option<f64> {
        let mut evaluations = 0;
        let (start, stride) =
            self.guess.map_or((self.training.setting.noise_multiplier, 0.3), |guess| (guess, 0.03));
        let search = Search { start, stride, relative_width: NOISE_WIDTH };
        let found = calibrate_by(claim, &search, |noise_multiplier| {
            let share = share_of_work(evaluations);
            evaluations += 1;
            let bounds = work.part(share * work.left(), |work| match self.scheme {
                BatchScheme::Poisson => self.poisson(noise_multiplier, work),
                scheme => {
                    let setting = self.training.with_full_batches(scheme, self.training.setting.epochs);
                    let setting = Setting { noise_multiplier, ..setting }.validated()?;
                    Ok(side_within(&setting, self.training.delta, Side::Upper, work)?)
                }
            });
            let upper =
                bounds.map_err(|error| error.refusal().cloned()).map(|bounds| bounds.epsilon_upper_bound);
            match upper {
                Ok(Some(upper)) => Ok(upper),
                Err(Some(refusal)) => Err(refusal),
                _ => Err(misdeal_core::Error::bad_value(
                    "bound",
                    "unknown",
                    "a side that is known",
                    "it is not proven",
                )),
            }
        });
        // Six digits are enough for people, and rounding up keeps the promise.
        found.ok().map(|found| (found.noise_multiplier * 1e4).ceil() / 1e4)
    }
}
