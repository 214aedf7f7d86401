//! Audits of mechanisms whose epsilon is known, drawn as counts: a million observations cost a few hundred binomial numbers.

use misdeal_core::{Setting, Stream, World, normal, score_grid};
use misdeal_schemes::BatchRng;
use misdeal_statistics::{BinTally, CountedScores, Look, ThresholdChoice, estimator};
use rand_distr::{Binomial, Distribution};

/// The significance of all audits.
pub const SIGNIFICANCE: f64 = 0.05;

/// One step of a subsampled Gaussian mechanism: (1-q) N(0, 1) + q N(mu, 1) with the target, N(0, 1) without.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mechanism {
    pub name: &'static str,
    pub sampling_probability: f64,
    pub mu: f64,
}

/// The mechanisms of the benchmark.
pub const MECHANISMS: [Mechanism; 5] = [
    Mechanism { name: "no leakage", sampling_probability: 1.0, mu: 0.0 },
    Mechanism { name: "Gaussian, mu 0.05", sampling_probability: 1.0, mu: 0.05 },
    Mechanism { name: "Gaussian, mu 1", sampling_probability: 1.0, mu: 1.0 },
    Mechanism { name: "Gaussian, mu 3", sampling_probability: 1.0, mu: 3.0 },
    Mechanism { name: "subsampled Gaussian, mu 2, q 0.1", sampling_probability: 0.1, mu: 2.0 },
];

impl Mechanism {
    /// P(output >= y).
    fn above(&self, world: World, y: f64) -> f64 {
        let q = if world == World::In { self.sampling_probability } else { 0.0 };
        (1.0 - q) * normal::cdf(-y) + q * normal::cdf(self.mu - y)
    }

    /// P(output < y).
    fn below(&self, world: World, y: f64) -> f64 {
        let q = if world == World::In { self.sampling_probability } else { 0.0 };
        (1.0 - q) * normal::cdf(y) + q * normal::cdf(y - self.mu)
    }

    /// The log-likelihood ratio of an output, which increases with it; where nothing leaks, the output itself.
    fn score(&self, y: f64) -> f64 {
        if self.mu == 0.0 {
            return y;
        }
        let q = self.sampling_probability;
        (1.0 - q + q * (self.mu * y - 0.5 * self.mu * self.mu).exp()).ln()
    }

    /// The epsilon at `delta`: the larger of both directions, each decided by a threshold on the output (Neyman and Pearson).
    pub fn epsilon(&self, delta: f64) -> f64 {
        if self.mu == 0.0 {
            return 0.0;
        }
        let (q, mu) = (self.sampling_probability, self.mu);
        // The output whose score is this; nothing if all scores are larger.
        let output = |score: f64| {
            let weight = (score.exp() - (1.0 - q)) / q;
            if weight > 0.0 { weight.ln() / mu + 0.5 * mu } else { f64::NEG_INFINITY }
        };
        let excess = |epsilon: f64| {
            let up = output(epsilon);
            let one = self.above(World::In, up) - epsilon.exp() * self.above(World::Out, up);
            let down = output(-epsilon);
            let other = if down.is_finite() {
                self.below(World::Out, down) - epsilon.exp() * self.below(World::In, down)
            } else {
                0.0
            };
            one.max(other) - delta
        };
        let (mut low, mut high) = (0.0, 60.0);
        if excess(low) <= 0.0 {
            return 0.0;
        }
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if excess(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// Cells of outputs, ascending: the bin that stands for each, and its share of what is in it or above, in both worlds.
pub struct Cells {
    bins: Vec<u32>,
    shares: [Vec<f64>; 2],
}

impl Cells {
    /// Cells as wide as a thirtieth of the noise.
    pub fn new(mechanism: &Mechanism) -> Self {
        let outputs: Vec<f64> =
            (0..1000).map(|i| -8.5 + f64::from(i) / 30.0).take_while(|&y| y < 8.5 + mechanism.mu).collect();
        let share = |world| -> Vec<f64> {
            let pairs = outputs.windows(2);
            let within = pairs.map(|pair| {
                let [from, to] = [pair[0], pair[1]];
                let part = if from < 0.0 {
                    mechanism.below(world, to) - mechanism.below(world, from)
                } else {
                    mechanism.above(world, from) - mechanism.above(world, to)
                };
                let above = mechanism.above(world, from);
                if above > 0.0 { (part / above).clamp(0.0, 1.0) } else { 0.0 }
            });
            within.chain([1.0]).collect()
        };
        Cells {
            bins: outputs.iter().map(|&y| score_grid::bin(mechanism.score(y))).collect(),
            shares: [World::In, World::Out].map(share),
        }
    }

    /// Adds `trials` trials of one world: a multinomial number, cell by cell.
    fn draw(&self, tallies: &mut [BinTally], world: World, odd: usize, trials: u64, random: &mut BatchRng) {
        let mut left = trials;
        for (tally, &share) in tallies.iter_mut().zip(&self.shares[world as usize]) {
            if left == 0 {
                break;
            }
            let count = if share >= 1.0 { left } else { binomial(left, share, random) };
            tally[world as usize][odd] += count;
            left -= count;
        }
    }

    fn counted(&self, tallies: &[BinTally], fair_coins: bool) -> CountedScores {
        CountedScores::new(self.bins.iter().copied().zip(tallies.iter().copied()), fair_coins)
    }
}

fn binomial(trials: u64, probability: f64, random: &mut BatchRng) -> u64 {
    Binomial::new(trials, probability).expect("a probability").sample(random)
}

/// The generator of one audit.
fn random(seed: u64, audit: u64) -> BatchRng {
    BatchRng::new(&Stream::new(&Setting { seed, ..Setting::default() }.hash()), World::In, audit)
}

/// Draws even and odd trials of both worlds, in addition to what was drawn.
fn add(tallies: &mut [BinTally], cells: &Cells, trials: BinTally, random: &mut BatchRng) {
    for world in World::BOTH {
        for (odd, &trials) in trials[world as usize].iter().enumerate() {
            cells.draw(tallies, world, odd, trials, random);
        }
    }
}

/// What one audit showed.
pub struct Shown {
    /// The epsilon at the end.
    pub epsilon: f64,
    /// Whether the truth was refuted: for `sequential` at any look, as whoever stops at the worst moment would report.
    pub above_the_truth: bool,
}

/// One audit with `observations` observations of a mechanism whose epsilon is `truth`.
pub fn audit(
    cells: &Cells,
    (name, choice): (&str, ThresholdChoice),
    observations: u64,
    (delta, truth): (f64, f64),
    (seed, number): (u64, u64),
) -> Shown {
    let estimator = estimator(name).expect("a name of the list");
    let mut random = random(seed, number);
    let mut tallies = vec![BinTally::default(); cells.bins.len()];
    let halves = |trials: u64| [trials.div_ceil(2), trials / 2];
    let epsilon = |counted: &CountedScores| {
        *counted.estimate(choice, estimator, delta, SIGNIFICANCE).expect("enough scores").empirical_epsilon
    };
    // Rounding is not an error.
    let most = truth + 1e-9;
    if choice == ThresholdChoice::Sequential {
        let (mut played, mut above_the_truth) = (0, false);
        for trials in Look::all().map(Look::trials).take_while(|&trials| trials <= observations / 2) {
            let [all, before] = [halves(trials), halves(played)];
            let more = [0, 1].map(|half| all[half] - before[half]);
            add(&mut tallies, cells, [more, more], &mut random);
            played = trials;
            let counted = cells.counted(&tallies, false);
            above_the_truth |=
                counted.refutes(most, choice, estimator, delta, SIGNIFICANCE).expect("enough scores");
        }
        return Shown { epsilon: epsilon(&cells.counted(&tallies, false)), above_the_truth };
    }
    // Canaries of one training are included by coins, runs of a game half and half.
    let fair_coins = name.starts_with("one-run");
    let trials_in = if fair_coins { binomial(observations, 0.5, &mut random) } else { observations / 2 };
    add(&mut tallies, cells, [halves(trials_in), halves(observations - trials_in)], &mut random);
    let epsilon = epsilon(&cells.counted(&tallies, fair_coins));
    Shown { epsilon, above_the_truth: epsilon > most }
}

/// Whether the estimate is proven to be a lower bound for this mechanism.
pub fn is_valid_for(mechanism: &Mechanism, name: &str, choice: ThresholdChoice) -> bool {
    let gaussian = mechanism.sampling_probability >= 1.0;
    match name {
        "clopper-pearson" => choice != ThresholdChoice::Max,
        "divergence" => true,
        "gdp" => gaussian && choice != ThresholdChoice::Max,
        "one-run" => choice == ThresholdChoice::Band,
        "one-run-fdp" => gaussian && choice == ThresholdChoice::Band,
        _ => false,
    }
}
