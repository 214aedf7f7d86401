//! Mirror of `position.cu` and `general.cu`.

use super::noise::Trial;
use crate::parameters::{EACH_STEP, General, IN_EACH_STEP, KEPT_FOR_ALL_EPOCHS, UNIFORM};
use libm::{exp, expm1, log, log1p};

/// A game with the tables that its addresses point to on a device.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    pub game: &'a General,
    pub thresholds: &'a [u64],
    pub log_weights: &'a [f64],
}

/// Logarithm of a sum of exponentials, updated term by term. Terms of minus infinity add nothing.
struct LogSum {
    largest: f64,
    sum: f64,
}

impl LogSum {
    const NO_TERMS: LogSum = LogSum { largest: f64::NEG_INFINITY, sum: 0.0 };

    fn add(&mut self, term: f64) {
        if term > self.largest {
            self.sum = self.sum * exp(self.largest - term) + 1.0;
            self.largest = term;
        } else if term > f64::NEG_INFINITY {
            self.sum += exp(term - self.largest);
        }
    }

    fn value(&self) -> f64 {
        self.largest + log(self.sum)
    }
}

/// One standard Gaussian number of an epoch.
fn draw(trial: Trial, first_block: u32, draw: u32) -> f64 {
    let at = first_block + draw / 4;
    let words = trial.block(at);
    let second = draw % 4 / 2;
    let pair = trial.exact_pair(2 * at + second, words[2 * second as usize], words[2 * second as usize + 1]);
    pair[(draw % 2) as usize]
}

/// ln(1 - q + q e^evidence).
fn step_term(probability: f64, evidence: f64) -> f64 {
    if evidence == 0.0 || probability == 1.0 {
        evidence
    } else if evidence > 30.0 {
        evidence + log(probability + (1.0 - probability) * exp(-evidence))
    } else if probability > 0.5 && evidence < -0.5 {
        log((1.0 - probability) + probability * exp(evidence))
    } else {
        log1p(probability * expm1(evidence))
    }
}

impl Tables<'_> {
    /// Computes the score of a trial.
    pub fn score(&self, trial: Trial) -> f64 {
        let blocks = self.game.batches.div_ceil(4);
        match self.game.adversary {
            KEPT_FOR_ALL_EPOCHS => self.kept_for_all_epochs(trial, blocks),
            IN_EACH_STEP => {
                (0..self.game.epochs).map(|epoch| self.in_each_step(trial, epoch, epoch * blocks)).sum()
            }
            _ => (0..self.game.epochs).map(|epoch| self.once_an_epoch(trial, epoch, epoch * blocks)).sum(),
        }
    }

    fn rank(&self, bits: u64) -> u64 {
        self.thresholds.partition_point(|&threshold| threshold <= bits).min(self.thresholds.len() - 1) as u64
    }

    fn targets(&self, trial: Trial, epoch: u32) -> Vec<u64> {
        let positions = &self.game.positions;
        let decided_by = if positions.kept == 1 { 0 } else { u64::from(epoch) };
        let bits = trial.position(decided_by as u32);
        let scaled = |bits: u64, count: u64| ((u128::from(bits) * u128::from(count)) >> 64) as u64;
        if positions.law != EACH_STEP {
            let skipped =
                if positions.law == UNIFORM { scaled(bits, positions.count) } else { self.rank(bits) };
            return vec![positions.first + skipped];
        }
        let count = self.rank(bits);
        let mut targets: Vec<u64> = vec![];
        for i in 0..count {
            let last = positions.steps - count + i;
            let more = positions.epochs + decided_by * positions.steps + i;
            let chosen = scaled(trial.position(more as u32), last + 1);
            let chosen = if targets.contains(&chosen) { last } else { chosen };
            targets.insert(targets.partition_point(|&target| target < chosen), chosen);
        }
        targets
    }

    fn evidence(&self, shift: f64, output: f64, epochs: f64) -> f64 {
        (shift * output - 0.5 * epochs * shift * shift) * self.game.precision
    }

    fn once_an_epoch(&self, trial: Trial, epoch: u32, first_block: u32) -> f64 {
        let game = self.game;
        let targets = self.targets(trial, epoch);
        let (mut present, mut zeroed) = (LogSum::NO_TERMS, LogSum::NO_TERMS);
        let (mut passed, mut next) = (0, 0);
        for index in 0..game.batches {
            let with_target = (index as usize) < targets.len();
            let batch = if with_target {
                targets[index as usize]
            } else {
                while passed < targets.len() && targets[passed] == next {
                    passed += 1;
                    next += 1;
                }
                next += 1;
                next - 1
            };
            let shift = if with_target { game.shift } else { 0.0 };
            let output = game.noise * draw(trial, first_block, index) + shift;
            let log_weight = self.log_weights[batch as usize];
            present.add(log_weight + self.evidence(game.present, output, 1.0));
            zeroed.add(log_weight + self.evidence(game.zeroed, output, 1.0));
        }
        present.value() - zeroed.value()
    }

    fn in_each_step(&self, trial: Trial, epoch: u32, first_block: u32) -> f64 {
        let game = self.game;
        let count = self.targets(trial, epoch).len();
        let term = |index: u32| {
            let shift = if (index as usize) < count { game.shift } else { 0.0 };
            let output = game.noise * draw(trial, first_block, index) + shift;
            step_term(game.probability, self.evidence(game.present, output, 1.0))
                - step_term(game.probability, self.evidence(game.zeroed, output, 1.0))
        };
        (0..game.batches).map(term).sum()
    }

    fn kept_for_all_epochs(&self, trial: Trial, blocks: u32) -> f64 {
        let game = self.game;
        let (mut present, mut zeroed) = (LogSum::NO_TERMS, LogSum::NO_TERMS);
        for batch in 0..u64::from(game.batches) {
            let mut output = 0.0;
            for epoch in 0..game.epochs {
                let targets = self.targets(trial, epoch);
                let before = targets.partition_point(|&target| target < batch);
                let here = targets.get(before) == Some(&batch);
                let index = if here { before } else { targets.len() + batch as usize - before };
                let shift = if here { game.shift } else { 0.0 };
                output += shift + game.noise * draw(trial, epoch * blocks, index as u32);
            }
            let log_weight = self.log_weights[batch as usize];
            present.add(log_weight + self.evidence(game.present, output, f64::from(game.epochs)));
            zeroed.add(log_weight + self.evidence(game.zeroed, output, f64::from(game.epochs)));
        }
        present.value() - zeroed.value()
    }
}
