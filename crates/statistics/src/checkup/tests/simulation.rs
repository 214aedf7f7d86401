//! Trainings as the law of their outputs: what was planted, natural gradients that follow the noise, and noise.

use crate::checkup::{Claim, RunRecord};
use misdeal_core::normal;

/// What is wrong with a simulated training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    Nothing,
    NoiseTimes(f64),
    ResponseTimes(f64),
    QuietSteps(usize),
    /// The noise of every so many steps is the same.
    SameNoise(usize),
    SameNoiseEveryEpoch,
    SameNoiseEveryRun,
    SameNoiseInTensors,
    QuietTensor,
    DividedByItsSize,
    /// Poisson sampling is claimed:
    Shuffled,
    Truncated,
    /// A uniform shuffle is claimed:
    ShiftedOrder,
    ShuffledOnce,
    ReorderedBatches,
    FileOrder,
    SmallBuffer,
    PoissonInstead,
}

/// How batches are claimed to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Batches {
    Poisson,
    Shuffle,
}

#[derive(Debug, Clone, Copy)]
pub struct Simulation {
    pub seed: u64,
    pub fault: Fault,
    pub batches: Batches,
    pub runs: usize,
    pub canaries: usize,
    pub steps_per_epoch: usize,
    pub epochs: usize,
    pub batch_size: usize,
    pub noise: f64,
    /// The size of natural gradients along the canaries, in units of the noise; 0 for none.
    pub bias: f64,
    pub tensors: usize,
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation {
            seed: 0,
            fault: Fault::Nothing,
            batches: Batches::Poisson,
            runs: 1,
            canaries: 64,
            steps_per_epoch: 20,
            epochs: 3,
            batch_size: 80,
            noise: 0.8,
            bias: 0.0,
            tensors: 4,
        }
    }
}

/// Coordinates that are read in each tensor.
const COORDINATES: usize = 4;

/// A small generator for tests (SplitMix64).
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((word ^ (word >> 31)) >> 11) as f64 / 2_f64.powi(53) + 2_f64.powi(-54)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.uniform() * bound as f64) as usize
    }

    fn gaussian(&mut self) -> f64 {
        normal::quantile(self.uniform())
    }

    fn shuffled(&mut self, mut order: Vec<usize>) -> Vec<usize> {
        for last in (1..order.len()).rev() {
            let other = self.below(last + 1);
            order.swap(last, other);
        }
        order
    }
}

pub fn without_coordinates(run: &mut RunRecord) {
    run.coordinates.clear();
    run.coordinate_tensors.clear();
    run.coordinate_means = run.coordinate_means.take().map(|_| Vec::new());
}

impl Simulation {
    fn records(&self) -> usize {
        self.steps_per_epoch * self.batch_size
    }

    pub fn played(&self) -> (Vec<RunRecord>, Claim) {
        let claim = Claim {
            claims_poisson: self.batches == Batches::Poisson,
            is_shuffled: self.batches == Batches::Shuffle,
            dataset_size: self.records() as f64,
            batch_size: self.batch_size as f64,
            sampling_probability: 1.0 / self.steps_per_epoch as f64,
            steps_per_epoch: self.steps_per_epoch,
            natural_outputs: self.bias > 0.0,
            ..Claim::default()
        };
        ((0..self.runs).map(|run| self.run(run as u64)).collect(), claim)
    }

    fn run(&self, number: u64) -> RunRecord {
        let mut random = Random(self.seed * 1_000_003 + number * 7_919 + 1);
        let noise_seed = if self.fault == Fault::SameNoiseEveryRun { 0 } else { number };
        let mut noise = Random(!(self.seed * 1_000_003 + noise_seed * 7_919));
        let (canaries, width) = (self.canaries, self.canaries + self.tensors * COORDINATES);
        // Canaries are every so many records.
        let stride = self.records() / canaries;
        let mut run = RunRecord {
            canaries,
            coins: (0..canaries).map(|_| random.uniform() < 0.5).collect(),
            coordinate_tensors: (0..self.tensors * COORDINATES).map(|at| at / COORDINATES).collect(),
            coordinate_means: (self.bias == 0.0).then(Vec::new),
            ..RunRecord::default()
        };
        let mut order: Vec<usize> = random.shuffled((0..self.records()).collect());
        let mut drawn: Vec<Vec<f64>> = Vec::new();
        let mut drift = vec![0.0; width];
        for step in 0..self.steps_per_epoch * self.epochs {
            let place = step % self.steps_per_epoch;
            if place == 0 {
                order = self.next_order(order, step == 0, &mut random);
            }
            let batch = self.batch(place, &order, &mut random);
            let mut fresh: Vec<f64> = (0..width).map(|_| noise.gaussian()).collect();
            match self.fault {
                Fault::SameNoise(period) if step >= period => fresh.clone_from(&drawn[step - period]),
                Fault::SameNoiseEveryEpoch if step >= self.steps_per_epoch => {
                    fresh.clone_from(&drawn[step - self.steps_per_epoch]);
                }
                _ => {}
            }
            drawn.push(fresh.clone());
            let of_tensors = &mut fresh[canaries..];
            match self.fault {
                Fault::SameNoiseInTensors => {
                    for at in COORDINATES..of_tensors.len() {
                        of_tensors[at] = of_tensors[at % COORDINATES];
                    }
                }
                Fault::QuietTensor => of_tensors[COORDINATES..2 * COORDINATES].fill(0.0),
                _ => {}
            }
            let mut scale = match self.fault {
                Fault::NoiseTimes(factor) => factor,
                Fault::QuietSteps(every) if step % every == 0 => 0.0,
                _ => 1.0,
            };
            let mut response = if let Fault::ResponseTimes(factor) = self.fault { factor } else { 1.0 };
            if self.fault == Fault::DividedByItsSize {
                let factor = self.batch_size as f64 / batch.len() as f64;
                (scale, response) = (scale * factor, response * factor);
            }
            let opposes = self.batches == Batches::Shuffle;
            for at in 0..width {
                let mut mean = 0.0;
                if at < canaries {
                    let placed = batch.contains(&(at * stride));
                    let absent = if opposes { -1.0 } else { 0.0 };
                    mean = if placed { f64::from(u8::from(run.coins[at])) } else { absent };
                    run.placed.push(placed);
                    run.planted.push(mean);
                }
                let output = response * mean + self.noise * (drift[at] + scale * fresh[at]);
                if at < canaries { &mut run.outputs } else { &mut run.coordinates }.push(output);
                if let (true, Some(means)) = (at >= canaries, &mut run.coordinate_means) {
                    means.push(0.0);
                }
                // Natural gradients that depend on what was seen, with an own part.
                drift[at] = 0.5 * drift[at]
                    + 0.3 * self.bias * (output + random.gaussian() + f64::from(at as u32 % 2));
            }
            run.noise_multipliers.push(self.noise);
            run.batch_sizes.push(batch.len() as u64);
        }
        run
    }

    /// The order of the next epoch.
    fn next_order(&self, mut before: Vec<usize>, is_first: bool, random: &mut Random) -> Vec<usize> {
        let in_file: Vec<usize> = (0..self.records()).collect();
        match self.fault {
            Fault::FileOrder => in_file,
            Fault::ShuffledOnce => before,
            Fault::ShiftedOrder => {
                let by = random.below(self.steps_per_epoch) * self.batch_size;
                before.rotate_left(by);
                before
            }
            Fault::ReorderedBatches => {
                let batches: Vec<&[usize]> = before.chunks(self.batch_size).collect();
                random
                    .shuffled((0..batches.len()).collect())
                    .into_iter()
                    .flat_map(|at| batches[at].to_vec())
                    .collect()
            }
            Fault::SmallBuffer => {
                let buffer = self.records() / 4;
                in_file.chunks(buffer).flat_map(|part| random.shuffled(part.to_vec())).collect()
            }
            _ if is_first => before,
            _ => random.shuffled(in_file),
        }
    }

    fn batch(&self, place: usize, order: &[usize], random: &mut Random) -> Vec<usize> {
        let is_poisson = match self.fault {
            Fault::Shuffled => false,
            Fault::PoissonInstead => true,
            _ => self.batches == Batches::Poisson,
        };
        if !is_poisson {
            return order[place * self.batch_size..][..self.batch_size].to_vec();
        }
        let mut batch: Vec<usize> =
            (0..self.records()).filter(|_| random.uniform() * (self.steps_per_epoch as f64) < 1.0).collect();
        if self.fault == Fault::Truncated {
            batch.truncate(self.batch_size);
        }
        batch
    }
}
