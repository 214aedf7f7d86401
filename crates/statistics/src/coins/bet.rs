//! A bet against a claimed curve: an e-value for each coin, multiplied over independent coins.

use super::Modelled;
use super::concave::Problem;
use crate::PrivacyCurve;
use libm::log;

/// The number of thresholds of a bet. With more, evidence grows by less than a hundredth.
const THRESHOLDS: usize = 32;

/// A part of the weight that is spread evenly, so that every result of a coin leaves some of the stake.
const SPREAD: f64 = 1e-3;

/// The bet on one coin and its score that grows fastest under a model, against every pair of laws inside a claimed curve.
///
/// # Formula
/// For thresholds t and the curve's slopes g, with h(g) the claimed bound on P(A) - g Q(A),
///
/// e(x, In) = 1 + k + sum of l(t, g) (2 [x >= t] - h(g)),
/// e(x, Out) = 1 - k + sum of l(t, g) (-2 g [x >= t] - h(g)),
///
/// with l >= 0 and both positive. The stakes k and l maximise the modelled mean of ln e.
///
/// # Formal guarantees
/// - Its mean is at most 1 if the coin is fair and P(x >= t) - g Q(x >= t) <= h(g) for all t and g. So the product over independent
///   coins reaches 1/a at any time with probability a at most (Ville 1939), whatever the model.
/// - The same holds for pairs of coins of which exactly one is `In`: the mean of a pair is the product of two numbers whose average is at
///   most 1.
///
/// Proof: `docs/proofs/one-run-and-curves.md`.
#[derive(Debug, Clone)]
pub struct Bet {
    thresholds: Vec<f64>,
    /// ln e in each cell between thresholds, `In` and `Out`.
    log_values: [Vec<f64>; 2],
    rate: f64,
}

impl Bet {
    /// The bet against `curve` that grows fastest if scores are as `modelled`.
    pub fn new(curve: &PrivacyCurve, modelled: &Modelled) -> Self {
        let shares: Vec<f64> = (0..THRESHOLDS).map(|i| 1.0 - (i as f64 + 0.5) / THRESHOLDS as f64).collect();
        let mut thresholds = modelled.quantiles(&shares);
        thresholds.dedup();
        let cells = thresholds.len() + 1;
        let weights = |scores: &[f64]| {
            let mut weights = vec![0.5 * SPREAD / cells as f64; cells];
            let each = 0.5 * (1.0 - SPREAD) / scores.len() as f64;
            for &score in scores {
                weights[cell(&thresholds, score)] += each;
            }
            weights
        };
        let [inside, outside] = [&modelled.scores_in, &modelled.scores_out].map(|scores| weights(scores));
        let slopes: Vec<[f64; 2]> = curve.slopes().collect();
        let mut columns = vec![[vec![1.0; cells], vec![-1.0; cells]].concat()];
        for reached in 1..cells {
            for &[g, h] in &slopes {
                // Scaled, so that a stake of one would lose everything.
                let scale = 1.0 / (2.0 * g + h.abs()).max(1.0);
                let column = |gain: f64| {
                    (0..cells).map(move |cell| scale * (if cell >= reached { gain } else { 0.0 } - h))
                };
                columns.push(column(2.0).chain(column(-2.0 * g)).collect());
            }
        }
        let problem = Problem { weights: [inside, outside].concat(), columns };
        let values = problem.values(&problem.solve());
        // The margin covers the rounding of the sums.
        let logs: Vec<f64> = values.iter().map(|value| log(value * (1.0 - 1e-9))).collect();
        let rate = problem.weights.iter().zip(&logs).map(|(weight, log)| weight * log).sum();
        let (inside, outside) = logs.split_at(cells);
        Bet { thresholds, log_values: [inside.to_vec(), outside.to_vec()], rate }
    }

    /// ln e of a coin and its score.
    pub fn log_value(&self, score: f64, is_in: bool) -> f64 {
        self.log_values[usize::from(!is_in)][cell(&self.thresholds, score)]
    }

    /// ln e of all coins together.
    pub fn log_product(&self, scores: &[f64], coins: &[bool]) -> f64 {
        scores.iter().zip(coins).map(|(&score, &is_in)| self.log_value(score, is_in)).sum()
    }

    /// The modelled mean of ln e: evidence that a coin adds, in nats.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

/// The number of thresholds at or below a score.
fn cell(thresholds: &[f64], score: f64) -> usize {
    thresholds.partition_point(|&threshold| threshold <= score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::normal;

    fn gaussian(mu: f64) -> Modelled {
        let quantile = |i: u32| normal::quantile((f64::from(i * 7919 % 10_007) + 0.5) / 10_007.0);
        Modelled::new((0..10_007).map(|i| mu + quantile(i)).collect(), (0..10_007).map(quantile).collect())
            .unwrap()
    }

    fn curve(mu: f64) -> PrivacyCurve {
        let point = |i: u32| {
            let epsilon = 0.15 * f64::from(i) * mu;
            [crate::gdp::delta_of_gdp(mu, epsilon), epsilon]
        };
        PrivacyCurve::from_points(&(0..30).map(point).collect::<Vec<_>>()).unwrap()
    }

    /// The largest mean of the bet over all pairs inside the curve, by each pair of the cells' probabilities that a threshold family can
    /// reach: a Gaussian pair of every size on the edge, and randomised responses that sit on one slope.
    #[test]
    fn no_pair_inside_the_curve_gains() {
        let claimed = curve(0.5);
        let bet = Bet::new(&claimed, &gaussian(1.5));
        assert!(bet.rate() > 0.09, "{}", bet.rate());
        let e = |is_in: bool, score: f64| bet.log_value(score, is_in).exp();
        // Gaussian pairs inside, shifted anywhere.
        for mu in [0.0, 0.25, 0.5] {
            for shift in -20..=20 {
                let shift = f64::from(shift) * 0.2;
                let mean: f64 = (0..4000)
                    .map(|i| {
                        let z = normal::quantile((f64::from(i) + 0.5) / 4000.0) + shift;
                        0.5 * (e(true, z + mu) + e(false, z)) / 4000.0
                    })
                    .sum();
                assert!(mean <= 1.002, "{mu} {shift}: {mean}");
            }
        }
        // Two responses, the higher at any cell: Q(high) = I(P(high)).
        for high in bet.thresholds.iter().copied().chain([9.0]) {
            for i in 1..100 {
                let p = f64::from(i) / 100.0;
                let q = claimed.inverse_blow_up(p);
                let mean = 0.5
                    * (p * e(true, high)
                        + (1.0 - p) * e(true, -9.0)
                        + q * e(false, high)
                        + (1.0 - q) * e(false, -9.0));
                assert!(mean <= 1.0 + 1e-9, "{high} {p}: {mean}");
            }
        }
    }

    /// Against the claim of no leakage at all, the best bet is the likelihood ratio: its rate is the information of the coin.
    #[test]
    fn against_perfect_privacy_it_is_the_likelihood_ratio() {
        let nothing = PrivacyCurve::from_points(&[[0.0, 0.0]]).unwrap();
        let bet = Bet::new(&nothing, &gaussian(1.0));
        let information: f64 = (0..4000)
            .map(|i| {
                let z = normal::quantile((f64::from(i) + 0.5) / 4000.0);
                let log_ratio = |x: f64| (2.0 / (1.0 + (0.5 - x).exp())).ln();
                0.5 * (log_ratio(z + 1.0) + log_ratio(1.0 - z)) / 4000.0
            })
            .sum();
        assert!((bet.rate() / information - 1.0).abs() < 0.02, "{} {information}", bet.rate());
    }

    #[test]
    fn a_true_claim_is_not_bet_against() {
        let bet = Bet::new(&curve(1.0), &gaussian(1.0));
        assert!(bet.rate() < 1e-3, "{}", bet.rate());
    }
}
