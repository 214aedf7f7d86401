//! Simulation beside the exact pairs: a second way to their epsilon that shares no code with the Fourier transform.
//!
//! For a pair (P, Q) with log likelihood ratio L, delta(epsilon) = E_P (1 - e^(epsilon - L))+. Samples of L are drawn from a mixture of P with
//! a law whose target has a larger mean, and weighted back.

use misdeal_core::gaussian;
use misdeal_theory::pairs::{PairInterval, ShiftPair, Target, interval};
use misdeal_theory::pld::Side;

const DELTA: f64 = 1e-5;

/// The share of samples that come from P itself: no weight exceeds its inverse.
const OWN_SHARE: f64 = 0.1;

/// In each epoch one batch, the t-th with probability `weights[t]`, has mean `present` under P and `absent` under Q; the others have mean 0.
struct Pair {
    noise: f64,
    present: f64,
    absent: f64,
    epochs: u64,
    weights: Vec<f64>,
}

/// SplitMix64: small, and independent of the streams that audits use.
struct Draws(u64);

impl Draws {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn uniform(&mut self) -> f64 {
        self.bits() as f64 / 2.0_f64.powi(64)
    }

    fn normal(&mut self) -> f64 {
        gaussian(self.bits() as u32, || self.bits())
    }
}

impl Pair {
    /// ln sum_t w_t e^((c y_t - c^2/2) / s^2)
    fn log_density(&self, outputs: &[f64], c: f64) -> f64 {
        let exponent = |y: f64| (c * y - 0.5 * c * c) / (self.noise * self.noise);
        let largest = outputs.iter().map(|&y| exponent(y)).fold(f64::NEG_INFINITY, f64::max);
        let terms = outputs.iter().zip(&self.weights).map(|(&y, w)| w * (exponent(y) - largest).exp());
        largest + terms.sum::<f64>().ln()
    }

    /// A log likelihood ratio and its weight. The target's mean is `tilted` in most samples.
    fn sample(&self, draws: &mut Draws, tilted: f64) -> (f64, f64) {
        let mean = if draws.uniform() < OWN_SHARE { self.present } else { tilted };
        let (mut loss, mut log_ratio) = (0.0, 0.0);
        for _ in 0..self.epochs {
            let mut outputs: Vec<f64> = self.weights.iter().map(|_| self.noise * draws.normal()).collect();
            let mut place = draws.uniform();
            let target = self.weights.iter().position(|w| {
                place -= w;
                place < 0.0
            });
            outputs[target.unwrap_or(0)] += mean;
            let present = self.log_density(&outputs, self.present);
            loss += present - self.log_density(&outputs, self.absent);
            log_ratio += self.log_density(&outputs, tilted) - present;
        }
        (loss, 1.0 / (OWN_SHARE + (1.0 - OWN_SHARE) * log_ratio.exp()))
    }

    /// Delta at `epsilon` and its standard error.
    fn delta(&self, epsilon: f64, samples: u64, tilted: f64) -> (f64, f64) {
        let mut draws = Draws(0);
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..samples {
            let (loss, weight) = self.sample(&mut draws, tilted);
            let value = weight * (-(epsilon - loss).exp_m1()).max(0.0);
            sum += value;
            squares += value * value;
        }
        let n = samples as f64;
        let mean = sum / n;
        (mean, ((squares / n - mean * mean) / n).sqrt())
    }

    /// Both ends of the interval agree with the simulation, which knows delta to a few per cent. The limit of 5.5 standard errors is
    /// passed by chance once in ten million times.
    fn agrees_with(&self, exact: PairInterval, samples: u64, tilted: f64) {
        let (at_lower, error) = self.delta(exact.epsilon_lower_bound, samples, tilted);
        assert!(error < 0.05 * DELTA, "delta {at_lower} is known to {error} only");
        assert!(at_lower > DELTA - 5.5 * error, "{exact:?}: delta {at_lower} +- {error} at the lower bound");
        let (at_upper, error) = self.delta(exact.epsilon_upper_bound, samples, tilted);
        assert!(at_upper < DELTA + 5.5 * error, "{exact:?}: delta {at_upper} +- {error} at the upper bound");
    }
}

fn exact(pair: &ShiftPair, epochs: u64) -> PairInterval {
    interval(pair, Target { epochs, delta: DELTA }).unwrap()
}

fn uniform(steps: u64) -> Vec<f64> {
    vec![1.0 / steps as f64; steps as usize]
}

#[test]
fn simulation_agrees_with_shuffling() {
    for (noise, steps, epochs, tilted) in [(1.0, 100, 1, 5.0), (1.5, 100, 1, 7.0), (1.5, 12, 3, 4.0)] {
        let pair = Pair { noise, present: 2.0, absent: 1.0, epochs, weights: uniform(steps) };
        pair.agrees_with(exact(&ShiftPair::shuffle(noise, steps).unwrap(), epochs), 40_000, tilted);
    }
}

#[test]
fn simulation_agrees_with_balls_in_bins() {
    let pair = Pair { noise: 1.0, present: 1.0, absent: 0.0, epochs: 1, weights: uniform(100) };
    pair.agrees_with(exact(&ShiftPair::balls_in_bins(1.0, 100).unwrap(), 1), 40_000, 4.0);
}

#[test]
fn simulation_agrees_with_unequal_weights() {
    let weights: Vec<f64> = (1..=20).map(|t| f64::from(t) / 210.0).collect();
    let [lower, upper] = [Side::Lower, Side::Upper]
        .map(|side| exact(&ShiftPair::weighted_shuffle(1.0, &weights, side).unwrap(), 1));
    let pair = Pair { noise: 1.0, present: 2.0, absent: 1.0, epochs: 1, weights };
    pair.agrees_with(PairInterval { epsilon_upper_bound: upper.epsilon_upper_bound, ..lower }, 40_000, 5.0);
}
