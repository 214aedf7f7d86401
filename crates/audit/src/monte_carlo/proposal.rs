//! The law that samples are drawn from, and the weights that undo the choice.

use super::draws::Draws;
use super::pair::ModelledPair;
use libm::{exp, log};

/// The share of samples that come from the pair's own law: no weight exceeds its inverse.
pub(super) const DEFENSIVE_SHARE: f64 = 0.1;

/// A proposal for every epoch: all batches' means are moved up by `everywhere` (h), and the target's mean is `target` (m)
/// above that. (0, a) is the pair's own law P.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tilt {
    pub everywhere: f64,
    pub target: f64,
}

/// One draw: the pair's log likelihood ratio, and dP/d(proposal).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedLoss {
    pub loss: f64,
    pub weight: f64,
}

/// The defensive mixture c P + (1 - c) P_tilt over whole runs, c = [`DEFENSIVE_SHARE`].
///
/// For a run of outputs y the densities are those of the outputs alone, summed over where the target may have been:
///
/// ```text
/// dP_tilt/dP = product over epochs of e^((h sum y - T h^2/2 - m h)/s^2) S_m / S_a,   weight = 1 / (c + (1 - c) dP_tilt/dP).
/// ```
///
/// So E weight f = E_P f for every f >= 0 exactly, whatever the tilt, and weight <= 1/c: a bad tilt costs precision, never truth.
/// Because the sum over positions is taken, it does not matter whether the target's batch or another one made an epoch's
/// output large; a weight for known positions fails silently there.
///
/// Errors: rounding only, about 1e-13 relative in a weight and absolute in a loss for each epoch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proposal<'a> {
    pub pair: &'a ModelledPair,
    pub tilt: Tilt,
}

/// The batches of an epoch without the target, as all laws of the family share them: they only differ by h.
struct OtherBatches {
    /// w of the target's batch.
    target_weight: f64,
    /// Sum of their outputs.
    sum: f64,
    /// The largest of their outputs; below every number where there are none.
    largest: f64,
    /// sum w_t e^(c (y_t - largest) / s^2) for c = a, b, m.
    scaled_sums: [f64; 3],
}

impl Proposal<'_> {
    /// Draws a group: `size` runs that share the other batches' noise and the target's places, with their own noise in
    /// the target's batches and their own choice between P and the tilt. Each run has the proposal's law; groups are independent,
    /// runs in a group are not.
    pub fn group(&self, draws: &mut Draws, size: usize, losses: &mut Vec<WeightedLoss>) {
        let mut outputs = Vec::with_capacity(self.pair.batches());
        let epochs: Vec<_> = (0..self.pair.epochs).map(|_| self.other_batches(draws, &mut outputs)).collect();
        losses.extend((0..size).map(|_| self.run(draws, &epochs)));
    }

    fn powers(&self) -> [f64; 3] {
        [self.pair.present, self.pair.absent, self.tilt.target]
    }

    fn other_batches(&self, draws: &mut Draws, outputs: &mut Vec<f64>) -> OtherBatches {
        let pair = self.pair;
        let precision = 1.0 / (pair.noise_multiplier * pair.noise_multiplier);
        let position = pair.position(draws.bits());
        outputs.clear();
        outputs.extend((1..pair.batches()).map(|_| pair.noise_multiplier * draws.normal()));
        let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let powers = self.powers();
        let mut sums = [0.0; 3];
        let others = pair.weights[..position].iter().chain(&pair.weights[position + 1..]);
        for (&y, weight) in outputs.iter().zip(others) {
            let exponent = (y - largest) * precision;
            let base = exp(exponent);
            for (sum, c) in sums.iter_mut().zip(powers) {
                *sum += weight * power(base, exponent, c);
            }
        }
        let target_weight = pair.weights[position];
        OtherBatches { target_weight, sum: outputs.iter().sum(), largest, scaled_sums: sums }
    }

    fn run(&self, draws: &mut Draws, epochs: &[OtherBatches]) -> WeightedLoss {
        let pair = self.pair;
        let precision = 1.0 / (pair.noise_multiplier * pair.noise_multiplier);
        let Tilt { everywhere: h, target: m } = self.tilt;
        let powers = self.powers();
        let batches = pair.batches() as f64;
        let (lift, mean) = if draws.happens(DEFENSIVE_SHARE) { (0.0, pair.present) } else { (h, h + m) };
        let (mut loss, mut log_ratio) = (0.0, 0.0);
        for others in epochs {
            let y = mean + pair.noise_multiplier * draws.normal();
            // S_c = e^((c reference - c^2/2)/s^2) x (own + others), of which neither is above one.
            let lead = y - (others.largest + lift);
            let reference = if lead > 0.0 { y } else { others.largest + lift };
            let exponent = -lead.abs() * precision;
            let base = exp(exponent);
            let [present, absent, tilted] = std::array::from_fn(|i| {
                let behind = power(base, exponent, powers[i]);
                let (own, rest) = if lead > 0.0 { (1.0, behind) } else { (behind, 1.0) };
                others.target_weight * own + others.scaled_sums[i] * rest
            });
            let log_ratio_of = |over: f64, under: f64, c: f64, d: f64| {
                log(over / under) + (c - d) * (reference - 0.5 * (c + d)) * precision
            };
            let sum = y + others.sum + (batches - 1.0) * lift;
            loss += log_ratio_of(present, absent, powers[0], powers[1]);
            log_ratio += (h * (sum - 0.5 * batches * h) - m * h) * precision
                + log_ratio_of(tilted, present, m, powers[0]);
        }
        // An overflowing ratio is a weight of zero, as it should be.
        let weight = 1.0 / (DEFENSIVE_SHARE + (1.0 - DEFENSIVE_SHARE) * exp(log_ratio));
        WeightedLoss { loss, weight }
    }
}

/// base^c = e^(c exponent), by multiplication where c is a small whole number.
fn power(base: f64, exponent: f64, c: f64) -> f64 {
    if c == 2.0 {
        base * base
    } else if c == 1.0 {
        base
    } else if c == 0.0 {
        1.0
    } else {
        exp(c * exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::Part;
    use super::*;
    use misdeal_core::{BatchScheme, Setting, Stream};

    fn losses(setting: &Setting, tilt: Tilt, samples: u64) -> Vec<WeightedLoss> {
        let pair = ModelledPair::new(setting).unwrap();
        let stream = Stream::new(&setting.hash());
        let mut losses = Vec::new();
        for index in 0..samples {
            Proposal { pair: &pair, tilt }.group(&mut Draws::new(&stream, Part::Main, index), 1, &mut losses);
        }
        losses
    }

    fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let n = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / n;
        (mean, (values.map(|x| (x - mean).powi(2)).sum::<f64>() / n).max(1e-9) / n)
    }

    /// E weight = 1, and E weight excess(L) is what the pair's own law gives, for good and bad tilts. Differences of means of
    /// 2^15 values in [0, 10], 24 of them, with limits of 6 standard deviations: false-alarm rate 1e-6, skewness included.
    #[test]
    fn expectations_do_not_depend_on_the_tilt() {
        let schemes = [
            BatchScheme::Shuffle,
            BatchScheme::BallsInBins,
            BatchScheme::StreamShuffle { buffer_size: 30 },
            BatchScheme::FixedOrder,
        ];
        for scheme in schemes {
            let setting = |seed| Setting {
                scheme,
                epochs: 3,
                steps_per_epoch: 8,
                batch_size: 10,
                noise_multiplier: 2.0,
                seed,
                ..Setting::default()
            };
            let excess = |x: &WeightedLoss| x.weight * (1.0 - (0.3 - x.loss).exp()).max(0.0);
            let present = ModelledPair::new(&setting(0)).unwrap().present;
            let own = losses(&setting(0), Tilt { everywhere: 0.0, target: present }, 1 << 15);
            assert!(own.iter().all(|x| (x.weight - 1.0).abs() < 1e-12));
            let (own_mean, own_variance) = mean_and_variance(own.iter().map(excess));
            for (seed, (everywhere, target)) in [(0.2, 3.0), (-0.3, 1.0), (0.0, 9.0)].into_iter().enumerate()
            {
                let tilted = losses(&setting(1 + seed as u64), Tilt { everywhere, target }, 1 << 15);
                assert!(tilted.iter().all(|x| (0.0..=1.0 / DEFENSIVE_SHARE).contains(&x.weight)));
                let (weight, variance) = mean_and_variance(tilted.iter().map(|x| x.weight));
                assert!((weight - 1.0).abs() < 6.0 * variance.sqrt(), "{scheme} {target}: {weight}");
                let (mean, variance) = mean_and_variance(tilted.iter().map(excess));
                let margin = 6.0 * (variance + own_variance).sqrt();
                assert!((mean - own_mean).abs() < margin, "{scheme} {target}: {mean} for {own_mean}");
            }
        }
    }

    /// The loss beside the game's reference formula: one run with all outputs known.
    #[test]
    fn the_loss_is_the_games_likelihood_ratio() {
        let setting = Setting { steps_per_epoch: 6, noise_multiplier: 0.8, ..Setting::default() };
        let pair = ModelledPair::new(&setting).unwrap();
        let proposal = Proposal { pair: &pair, tilt: Tilt { everywhere: 0.0, target: 2.0 } };
        let stream = Stream::new(&setting.hash());
        let game = misdeal_game::Game::new(&setting);
        for index in 0..100 {
            let mut losses = Vec::new();
            proposal.group(&mut Draws::new(&stream, Part::Main, index), 1, &mut losses);
            let mut draws = Draws::new(&stream, Part::Main, index);
            draws.bits();
            let mut outputs: Vec<f64> = (1..6).map(|_| 0.8 * draws.normal()).collect();
            draws.bits();
            outputs.push(2.0 + 0.8 * draws.normal());
            let exact = misdeal_game::log_likelihood_ratio(&game.mechanism, 0.8, &game.batches, &outputs);
            assert!((losses[0].loss - exact).abs() < 1e-12 && (losses[0].weight - 1.0).abs() < 1e-12);
        }
    }
}
