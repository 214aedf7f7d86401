//! Lower bounds for shuffling from the largest output of an epoch.
//!
//! Sources: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang: ICML 2024 for one epoch, arXiv 2411.04205 for many
//! epochs.
//!
//! Let M be the largest recentred output of an epoch. Its pair is
//!
//! ```text
//! P(M <= c) = Phi((c - a)/s) Phi(c/s)^(T-1),   Q(M <= c) = Phi((c - b)/s) Phi(c/s)^(T-1)
//! ```
//!
//! with (a, b) = (2, 1) for shuffling. Every c gives a lower bound: `epsilon >= ln((P(M > c) - delta) / Q(M > c))`. The
//! same holds with M <= c and P, Q exchanged. Proof and known gaps: `docs/proofs/largest-output.md`.

use crate::pld::{Aim, Cells, Masses};
use crate::work::{OutOfReach, Work};
use libm::{exp, expm1, log, sqrt};
use misdeal_core::normal;

/// The most events into which the range of the largest output is cut.
const MOST_EVENTS: usize = 6 << 20;
/// The units of work for an event: its probabilities from both sides.
const PER_EVENT: f64 = 550.0;
/// The units of work for the best level of one epoch.
const BEST_LEVEL: f64 = 3e6;
/// The relative error of the masses. At 38 deviations, where they underflow, the rounding of a level costs 5e-13.
const MASS_ERROR: f64 = 1e-12;
/// The largest coarseness of a grid, relative to the finest.
const COARSEST: f64 = 1e7;

/// The two laws of an epoch's largest output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestOutput {
    /// The noise standard deviation divided by the clipping norm (s).
    pub noise_multiplier: f64,
    /// The number of batches among which the target's batch is hidden (T).
    pub steps_per_epoch: u64,
    /// The mean of the target's batch if the record is present (a).
    pub mean_in: f64,
    /// The mean of the target's batch if the record is zeroed out (b).
    pub mean_out: f64,
}

impl LargestOutput {
    /// The pair of a shuffle with fixed batch sizes, with means 2 and 1.
    pub fn shuffle(noise_multiplier: f64, steps_per_epoch: u64) -> Self {
        LargestOutput { noise_multiplier, steps_per_epoch, mean_in: 2.0, mean_out: 1.0 }
    }

    /// The pair of batches that are made before they are shuffled, with means 2B and 2B - 1.
    ///
    /// The gradients of all its records make the target's batch stand out. The adversary may use fewer of them, so B is
    /// limited to the value from which more records would only change rounding.
    pub fn batch_then_shuffle(noise_multiplier: f64, steps_per_epoch: u64, batch_size: u64) -> Self {
        let opposing = (batch_size as f64).min((40.0 * noise_multiplier).ceil().max(1.0));
        LargestOutput {
            noise_multiplier,
            steps_per_epoch,
            mean_in: 2.0 * opposing,
            mean_out: 2.0 * opposing - 1.0,
        }
    }

    /// A lower bound on the epsilon of one epoch; never too large (beyond rounding in the last digits).
    pub fn epsilon_lower_bound(&self, delta: f64) -> f64 {
        let above = self.best_level(|c| epsilon_of(self.above(c), delta));
        let below = self.best_level(|c| {
            let Masses { p, q } = self.at_most(c);
            epsilon_of(Masses { p: q, q: p }, delta)
        });
        lowered(above.max(below))
    }

    /// A lower bound on the epsilon of `epochs` epochs with a new shuffle each; never too large.
    ///
    /// The grid is as coarse as [`Work::default`] requires.
    ///
    /// The levels of M are cut into many events. Their losses are gathered on a grid from below and composed.
    pub fn composed_epsilon_lower_bound(&self, epochs: u64, delta: f64) -> f64 {
        self.composed_within(epochs, delta, &Work::default()).unwrap_or(0.0)
    }

    /// The bound as in [`composed_epsilon_lower_bound`](Self::composed_epsilon_lower_bound), within the rest of `work`.
    ///
    /// If that is too little, the grid is coarser.
    ///
    /// # Errors
    /// The remaining work is too little for any bound.
    pub fn composed_within(&self, epochs: u64, delta: f64, work: &Work) -> Result<f64, OutOfReach> {
        let found =
            coarser_and_coarser(work, |coarseness, work| self.composed_at(epochs, delta, coarseness, work));
        // Many epochs leak at least as much as one.
        work.charge(BEST_LEVEL)?;
        Ok(found.unwrap_or(0.0).max(self.epsilon_lower_bound(delta)))
    }

    /// The bound on a grid whose steps are `coarseness` times as wide as [`LargestOutput::step_of_losses`].
    pub(crate) fn composed_at(
        &self,
        epochs: u64,
        delta: f64,
        coarseness: f64,
        work: &Work,
    ) -> Result<f64, OutOfReach> {
        if epochs == 1 {
            work.charge(BEST_LEVEL)?;
            return Ok(self.epsilon_lower_bound(delta));
        }
        let cells = self.cells_of(epochs, delta, coarseness, work)?;
        let epsilon = |cells: &Cells| -> Result<f64, OutOfReach> {
            Ok(cells.optimistic().compose_within(epochs, Aim::Delta(delta), work)?.epsilon(delta))
        };
        Ok(epsilon(&cells)?.max(epsilon(&cells.reversed())?))
    }

    fn cells_of(&self, epochs: u64, delta: f64, coarseness: f64, work: &Work) -> Result<Cells, OutOfReach> {
        work.charge(BEST_LEVEL)?;
        let step = coarseness * self.step_of_losses(epochs);
        self.cells(step, log(delta) - log(epochs as f64) - 20.0, work)
    }

    /// The finest step of the grid.
    ///
    /// Gathering losses costs about epochs h^2 / 6 in epsilon. This step makes that 1e-5 of the answer's scale, the
    /// Gaussian's variance.
    fn step_of_losses(&self, epochs: u64) -> f64 {
        let gdp_mu = (self.mean_in - self.mean_out) / self.noise_multiplier;
        let single = self.epsilon_lower_bound(1e-3).max(1e-3 * gdp_mu);
        0.01 * single.min(gdp_mu).min(4.0 / sqrt(epochs as f64)).max(1e-6)
    }

    /// A lower bound on epsilon if the record is in all `epochs` epochs with probability `presence` only; never too
    /// large.
    ///
    /// An example is a shuffle that drops its last, short batch.
    ///
    /// It is the bound without dropping at `delta / presence`, minus `ln(1 / presence)`
    /// (`docs/proofs/largest-output.md`, steps 5 to 7).
    pub fn epsilon_lower_bound_if_present(&self, epochs: u64, delta: f64, presence: f64, work: &Work) -> f64 {
        let delta = delta / presence;
        if delta.is_nan() || delta >= 1.0 {
            return 0.0;
        }
        let whole = if epochs == 1 {
            lowered(self.best_level(|c| epsilon_of(self.above(c), delta)))
        } else {
            let found = coarser_and_coarser(work, |coarseness, work| {
                let cells = self.cells_of(epochs, delta, coarseness, work)?;
                Ok(cells.optimistic().compose_within(epochs, Aim::Delta(delta), work)?.epsilon(delta))
            });
            // Zero is a valid bound for any number of epochs.
            found.unwrap_or(0.0)
        };
        (whole + log(presence)).max(0.0)
    }

    /// The pair's cells of width `step`, from four events per cell, up to tails of `e^log_tail`.
    fn cells(&self, step: f64, log_tail: f64, work: &Work) -> Result<Cells, OutOfReach> {
        let s = self.noise_multiplier;
        let reach = s * (sqrt(-2.0 * log_tail) + 1.0);
        let (mut low, high) = (self.mean_out - reach, self.mean_in + reach + s * 8.0);
        let mut raised = low;
        while exp(self.log_at_most(self.mean_out, raised)) < exp(log_tail) {
            low = raised;
            raised += s / 8.0;
        }
        // The loss of a single output has slope (a - b)/s^2. The loss of the largest output is not steeper.
        let width = 0.25 * step * s * s / (self.mean_in - self.mean_out);
        work.check_points((high - low) / width, MOST_EVENTS)?;
        work.charge(PER_EVENT * (high - low) / width)?;
        let events = ((high - low) / width) as usize + 1;
        let level = |i: usize| low + i as f64 * width;
        let (mut losses, mut underflows) = ((f64::INFINITY, f64::NEG_INFINITY), false);
        let mut before = (self.at_most(low), self.above(low));
        let mut partition = Vec::with_capacity(events + 2);
        partition.push(with_all_digits(before.0));
        for i in 1..=events {
            let after = (self.at_most(level(i)), self.above(level(i)));
            // Takes differences of the smaller tail.
            let between = |at_most: [f64; 2], above: [f64; 2]| {
                if at_most[1] < 0.5 { at_most[1] - at_most[0] } else { above[0] - above[1] }
            };
            let event = with_all_digits(Masses {
                p: between([before.0.p, after.0.p], [before.1.p, after.1.p]),
                q: between([before.0.q, after.0.q], [before.1.q, after.1.q]),
            });
            if event.p > 0.0 && event.q > 0.0 {
                let loss = log(event.p / event.q);
                losses = (losses.0.min(loss), losses.1.max(loss));
            }
            underflows |= event.p > 0.0 && event.q <= 0.0;
            partition.push(event);
            before = after;
        }
        let above = with_all_digits(before.1);
        underflows |= above.p > 0.0 && above.q <= 0.0;
        partition.push(above);
        let first = (losses.0 / step).floor() as i64;
        // Losses increase with M. If Q underflows, they are at least the largest known loss, so the grid must end below
        // that loss.
        let last = if underflows { (losses.1 / step).floor() } else { (losses.1 / step).ceil() };
        let cells = (last as i64 - first).max(1) as usize;
        work.check_points(cells as f64, MOST_EVENTS)?;
        if underflows && (first + cells as i64) as f64 * step > losses.1 {
            return Err(OutOfReach); // the grid is so coarse that it ends above that loss
        }
        Ok(Cells::from_events(step, first, cells, partition.into_iter()))
    }

    /// The probabilities of M > c under P and Q.
    fn above(&self, c: f64) -> Masses {
        Masses { p: -expm1(self.log_at_most(self.mean_in, c)), q: -expm1(self.log_at_most(self.mean_out, c)) }
    }

    /// The probabilities of M <= c under P and Q.
    fn at_most(&self, c: f64) -> Masses {
        Masses { p: exp(self.log_at_most(self.mean_in, c)), q: exp(self.log_at_most(self.mean_out, c)) }
    }

    fn log_at_most(&self, mean: f64, c: f64) -> f64 {
        let s = self.noise_multiplier;
        let others = (self.steps_per_epoch - 1) as f64;
        let others = if others > 0.0 { others * normal::log_cdf(c / s) } else { 0.0 };
        normal::log_cdf((c - mean) / s) + others
    }

    /// The largest value of `f` over the relevant levels, by a scan and a golden-section search around its best point.
    ///
    /// Every level gives a valid bound. A missed maximum makes the bound less sharp but not invalid.
    fn best_level(&self, f: impl Fn(f64) -> f64) -> f64 {
        let s = self.noise_multiplier;
        let (low, high) = (self.mean_out - 40.0 * s, self.mean_in + 40.0 * s);
        let points = 1600;
        let width = (high - low) / f64::from(points);
        let value = |c: f64| {
            let y = f(c);
            if y.is_finite() { y } else { f64::NEG_INFINITY }
        };
        let (mut best, mut at) = (f64::NEG_INFINITY, low);
        for i in 0..=points {
            let c = low + f64::from(i) * width;
            let y = value(c);
            if y > best {
                (best, at) = (y, c);
            }
        }
        let golden = 0.618_033_988_749_894_9;
        let (mut left, mut right) = (at - width, at + width);
        for _ in 0..40 {
            let (c, d) = (right - golden * (right - left), left + golden * (right - left));
            let (at_c, at_d) = (value(c), value(d));
            best = best.max(at_c).max(at_d);
            if at_c > at_d {
                right = d;
            } else {
                left = c;
            }
        }
        best
    }
}

/// The result of `epsilon` on the finest affordable grid.
///
/// Each grid is four times as coarse as the one before, and may use half of the remaining work.
fn coarser_and_coarser(
    work: &Work,
    epsilon: impl Fn(f64, &Work) -> Result<f64, OutOfReach>,
) -> Result<f64, OutOfReach> {
    let mut coarseness = 1.0;
    while coarseness < COARSEST {
        if let Ok(found) = work.part(0.5 * work.left(), |work| epsilon(coarseness, work)) {
            return Ok(found);
        }
        coarseness *= 4.0;
    }
    Err(OutOfReach)
}

/// The value minus a few units in the last place of the logarithm.
fn lowered(epsilon: f64) -> f64 {
    (epsilon * (1.0 - 1e-12) - 1e-13).max(0.0)
}

/// The event without masses that are too small for a float to hold all their digits.
///
/// Its loss is then unknown. Without its Q mass, the loss may be as large as any. Without its P mass, the event shows
/// nothing.
fn with_all_digits(event: Masses) -> Masses {
    let known = |mass: f64| if mass >= f64::MIN_POSITIVE { mass } else { 0.0 };
    let Masses { p, q } = event;
    if known(p) > 0.0 { Masses { p, q: known(q) } } else { Masses::default() }
}

/// The epsilon that an event with these masses shows.
///
/// It is zero if the Q mass is too small for a float to hold all its digits.
fn epsilon_of(event: Masses, delta: f64) -> f64 {
    let (p, q) = (event.p * (1.0 - MASS_ERROR), event.q * (1.0 + MASS_ERROR));
    if p > delta && q >= f64::MIN_POSITIVE { log((p - delta) / q) } else { 0.0 }
}

#[cfg(test)]
mod tests;
