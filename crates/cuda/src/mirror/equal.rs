//! Mirror of `equal.cu`.

use super::noise::{Trial, fast_exponentials, is_fast};
use crate::kernel_plan::EqualKind;
use crate::parameters::Equal;
use libm::{exp, log};

/// Number of blocks of four draws between two additions in f64.
const STRIP: u32 = 16;

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    first: f64,
    second: f64,
}

impl Sums {
    fn add(&mut self, value: f64) {
        self.first += value;
        self.second += value * value;
    }

    fn add_all<const N: usize>(&mut self, values: [f64; N]) {
        for value in values {
            self.add(value);
        }
    }

    fn remove(&mut self, value: f64) {
        self.first -= value;
        self.second -= value * value;
    }
}

/// Computes the score of a trial.
pub fn score(game: &Equal, kind: EqualKind, trial: Trial) -> f64 {
    let blocks = game.batches.div_ceil(4);
    (0..game.epochs)
        .map(|epoch| {
            let sums = epoch_sums(game, kind.refined, trial, epoch * blocks);
            log(if kind.squares { sums.second / sums.first } else { sums.first }) + game.constant
        })
        .sum()
}

fn epoch_sums(game: &Equal, refined: bool, trial: Trial, first_block: u32) -> Sums {
    let mut sums = Sums::default();
    let exponential = |z: f64| exp(z * game.inverse_noise - game.lowered_by);
    let exact_block = |at: u32, words: [u32; 4]| {
        let [a, b] = trial.exact_pair(2 * at, words[0], words[1]);
        let [c, d] = trial.exact_pair(2 * at + 1, words[2], words[3]);
        [a, b, c, d]
    };
    let [target, others @ ..] = exact_block(first_block, trial.block(first_block));
    sums.add(exp(target * game.inverse_noise + game.target_exponent));
    sums.add_all(others.map(exponential));
    let mut largest = (-1.0_f32, 0);
    let end = first_block + game.batches / 4;
    let mut at = first_block + 1;
    while at < end {
        let strip_end = end.min(at + STRIP);
        let (mut first, mut second) = (0.0_f32, 0.0_f32);
        for at in at..strip_end {
            let words = trial.block(at);
            if !is_fast(words) {
                sums.add_all(exact_block(at, words).map(exponential));
                continue;
            }
            let u = fast_exponentials(words[0], words[1], game.scale, game.offset);
            let v = fast_exponentials(words[2], words[3], game.scale, game.offset);
            let most = u.into_iter().chain(v).fold(0.0_f32, f32::max);
            if most > largest.0 {
                largest = (most, at);
            }
            first += (u[0] + u[1]) + (v[0] + v[1]);
            second += u[0].mul_add(u[0], u[1] * u[1]) + v[0].mul_add(v[0], v[1] * v[1]);
        }
        sums.first += f64::from(first);
        sums.second += f64::from(second);
        at = strip_end;
    }
    if refined && largest.0 >= 0.0 {
        let words = trial.block(largest.1);
        for pair in [[words[0], words[1]], [words[2], words[3]]] {
            for value in fast_exponentials(pair[0], pair[1], game.scale, game.offset) {
                sums.remove(f64::from(value));
            }
        }
        sums.add_all(exact_block(largest.1, words).map(exponential));
    }
    let rest = (game.batches % 4) as usize;
    if rest > 0 {
        exact_block(end, trial.block(end))[..rest].iter().for_each(|&z| sums.add(exponential(z)));
    }
    sums
}
