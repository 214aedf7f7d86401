//! A pair of mixtures of shifted Gaussians, and the one-batch term of its privacy loss.

use super::weights::grouped;
use crate::gaussian::Gaussian;
use crate::pld::Side;
use misdeal_core::{Error, NOISE_MULTIPLIERS, Result};

/// Batches that hold the target with equal probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightGroup {
    /// The probability that the target is in a given one of these batches.
    pub weight: f64,
    /// The number of such batches in an epoch.
    pub batches: u64,
}

/// The two laws P and Q of one epoch's outputs.
///
/// The outputs are independent N(0, s^2), except for the target's batch. Its mean is `present` under P and `absent`
/// under Q. It is batch `t` with probability `w_t`.
///
/// Let a = `present` and b = `absent`, and define the term `g(y) = phi_a(y)/phi_0(y) - e^l phi_b(y)/phi_0(y)`. The
/// privacy loss L = ln(dP/dQ) satisfies `{L > l} = {sum_t w_t g(y_t) > 0}`. The hockey-stick divergence at level l is
///
/// ```text
/// delta(l) = P(L > l) - e^l Q(L > l) = E_0 (sum_t w_t g(y_t))+,
/// ```
///
/// It is a convex function of a sum of independent terms under the base law `E_0`, in which every batch is N(0, s^2).
#[derive(Debug, Clone, PartialEq)]
pub struct ShiftPair {
    noise_multiplier: f64,
    present: f64,
    absent: f64,
    groups: Vec<WeightGroup>,
}

/// The smallest noise multiplier for which cell masses under all three laws stay in the range of `f64`.
pub const LEAST_NOISE_MULTIPLIER: f64 = 0.1;

/// The number of different weights that are kept separate.
const WEIGHT_BINS: usize = 6;

/// The largest number of groups of unequal weights. The work grows with its square.
pub const MOST_GROUPS: usize = 64;

impl ShiftPair {
    /// Shuffling's pair (2, 1) with equally likely batches: a lower bound for shuffling, not an upper bound.
    ///
    /// # Errors
    /// The errors of [`ShiftPair::with_groups`].
    pub fn shuffle(noise_multiplier: f64, steps_per_epoch: u64) -> Result<Self> {
        Self::with_groups(noise_multiplier, 2.0, 1.0, &Self::uniform(steps_per_epoch))
    }

    /// Balls-in-bins' pair (1, 0). It is proven to dominate every pair of neighbouring data sets.
    ///
    /// # Errors
    /// The errors of [`ShiftPair::with_groups`].
    pub fn balls_in_bins(noise_multiplier: f64, steps_per_epoch: u64) -> Result<Self> {
        Self::with_groups(noise_multiplier, 1.0, 0.0, &Self::uniform(steps_per_epoch))
    }

    /// Shuffling's pair (2, 1) if batch t holds the target with probability `weights[t]`.
    ///
    /// This covers partial shuffling with blocks that do not fill whole batches, and a streaming buffer.
    ///
    /// Up to six different weights are used exactly. More weights are grouped. For [`Side::Lower`] they are averaged,
    /// and divergences are never too large. For [`Side::Upper`] they are moved apart, and divergences are never too
    /// small.
    ///
    /// # Errors
    /// The errors of [`ShiftPair::with_groups`], and weights of which none is positive.
    pub fn weighted_shuffle(noise_multiplier: f64, weights: &[f64], side: Side) -> Result<Self> {
        Self::with_groups(noise_multiplier, 2.0, 1.0, &grouped(weights, side, WEIGHT_BINS))
    }

    /// Shuffling's pair as in [`weighted_shuffle`](Self::weighted_shuffle), for averaged weights and [`Side::Lower`].
    ///
    /// Each of `weights` is the mean of `each` batches, and `rest` gives the mean and number of the remaining ones. The
    /// original weights majorise averaged ones, so no divergence is too large.
    pub(crate) fn averaged_shuffle(
        noise_multiplier: f64,
        weights: &[f64],
        each: u64,
        rest: Option<(f64, u64)>,
    ) -> Result<Self> {
        let mut groups = grouped(weights, Side::Lower, WEIGHT_BINS);
        for group in &mut groups {
            group.batches *= each;
        }
        let rest = rest.filter(|(weight, _)| *weight > 0.0);
        groups.extend(rest.map(|(weight, batches)| WeightGroup { weight, batches }));
        Self::with_groups(noise_multiplier, 2.0, 1.0, &groups)
    }

    /// One group of equally likely batches.
    fn uniform(steps_per_epoch: u64) -> [WeightGroup; 1] {
        [WeightGroup { weight: 1.0 / steps_per_epoch as f64, batches: steps_per_epoch }]
    }

    /// A pair with any shifts `present > absent >= 0` and any weights.
    ///
    /// The weights are scaled to sum to one.
    ///
    /// # Errors
    /// Refuses a noise multiplier below [`LEAST_NOISE_MULTIPLIER`] times the larger shift / 2 (or above
    /// [`NOISE_MULTIPLIERS`]) and shifts in the wrong order. Refuses no groups, more than [`MOST_GROUPS`] groups, and
    /// weights or counts that are not positive.
    pub fn with_groups(
        noise_multiplier: f64,
        present: f64,
        absent: f64,
        groups: &[WeightGroup],
    ) -> Result<Self> {
        let least = LEAST_NOISE_MULTIPLIER * (present / 2.0).max(0.5);
        let most = *NOISE_MULTIPLIERS.end();
        if !(least..=most).contains(&noise_multiplier) {
            let hint = "below, shuffling hides nothing that double precision could show: use the fixed order";
            return Err(Error::bad_value(
                "noise_multiplier",
                noise_multiplier,
                format!("{least} to {most}"),
                hint,
            ));
        }
        if !(absent >= 0.0 && present > absent && present <= 1e6) {
            let hint = "present is the target's mean with its record, absent without";
            return Err(Error::bad_value("present", present, format!("above absent = {absent}"), hint));
        }
        let total: f64 = groups.iter().map(|group| group.weight * group.batches as f64).sum();
        let sound = groups.iter().all(|group| group.weight > 0.0 && group.batches > 0) && total.is_finite();
        if groups.is_empty() || groups.len() > MOST_GROUPS || !sound {
            let allowed = format!("1 to {MOST_GROUPS} groups of positive weight and size");
            return Err(Error::bad_value("steps_per_epoch", groups.len(), allowed, "leave out empty groups"));
        }
        let groups =
            groups.iter().map(|group| WeightGroup { weight: group.weight / total, ..*group }).collect();
        Ok(Self { noise_multiplier, present, absent, groups })
    }

    /// The noise's standard deviation s.
    pub fn noise_multiplier(&self) -> f64 {
        self.noise_multiplier
    }

    /// The mean of the target's batch under P (a).
    pub fn present(&self) -> f64 {
        self.present
    }

    /// The mean of the target's batch under Q (b).
    pub fn absent(&self) -> f64 {
        self.absent
    }

    /// The weight groups. Over all batches the weights sum to one.
    pub fn groups(&self) -> &[WeightGroup] {
        &self.groups
    }

    /// The Gaussian pair over `epochs` epochs if the target's batch is known. By joint convexity it dominates.
    pub fn known_batch(&self, epochs: u64) -> Gaussian {
        Gaussian { gdp_mu: (epochs as f64).sqrt() * (self.present - self.absent) / self.noise_multiplier }
    }

    /// The `y` at which the term of level `level` changes sign, g(y) = 0.
    pub(super) fn crossing(&self, level: f64) -> f64 {
        let (a, b) = (self.present, self.absent);
        f64::midpoint(a, b) + level * self.noise_multiplier * self.noise_multiplier / (a - b)
    }

    /// The logarithm of `phi_a/phi_0` at the crossing y*.
    ///
    /// It is the factor between g and the scaled term `x(y) = e^(a (y - y*)/s^2) - e^(b (y - y*)/s^2)`, which is O(1)
    /// near y*.
    pub(super) fn log_scale(&self, level: f64) -> f64 {
        let variance = self.noise_multiplier * self.noise_multiplier;
        self.present * (self.crossing(level) - self.present / 2.0) / variance
    }

    /// The smallest value of the scaled term, and the `y - y*` at which it is attained.
    ///
    /// If it is not attained, the position is minus infinity.
    pub(super) fn minimum(&self) -> (f64, f64) {
        let (a, b) = (self.present, self.absent);
        if b == 0.0 {
            return (-1.0, f64::NEG_INFINITY);
        }
        let ratio = b / a;
        let at = self.noise_multiplier * self.noise_multiplier * ratio.ln() / (a - b);
        (ratio.powf(b / (a - b)) * (ratio - 1.0), at)
    }
}
