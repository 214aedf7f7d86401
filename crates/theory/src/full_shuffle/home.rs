//! The home block: the steps among which the target hides last, and the divergence of a block around it.

use super::excess::Sum;
use super::term::{TermLaw, Worlds};
use crate::gaussian::Gaussian;
use crate::pld::{Divergence, LossGrid, connect_dots};
use libm::{exp, expm1, sqrt};
use rayon::prelude::*;

/// How finely a bound is computed. Every choice gives a valid bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fineness {
    /// The relative distance of a term's atoms.
    pub width: f64,
    /// The most points of a sum's grid.
    pub points: usize,
    /// The factor by which gaps between levels of a home grow.
    pub growth: f64,
    /// The first gap, in deviations of the home's loss.
    pub first_gap: f64,
    /// The gaps between levels of an epoch's law, before refinement.
    pub gaps: usize,
}

impl Fineness {
    /// The levels from 0 on at which the profile of a home of `size` steps is computed.
    fn levels(&self, noise: f64, size: u64, least: f64) -> Vec<f64> {
        let most = Gaussian::fixed_order(0.5 * noise, 1).epsilon_upper_bound(least.min(0.1)).max(1e-9);
        // About the deviation of the loss of a step, and of the mean over the block.
        let variance = 4.0 / (noise * noise);
        let deviation = sqrt(variance.min(2.0 * expm1(variance.min(50.0)) / size as f64));
        let mut levels = vec![0.0];
        let mut gap = self.first_gap * deviation;
        while levels[levels.len() - 1] < most {
            levels.push((levels[levels.len() - 1] + gap).min(most));
            gap *= self.growth;
        }
        levels
    }

    /// The units of work for homes of these sizes, and for each level of a block around the largest.
    pub fn work(&self, noise: f64, sizes: &[u64], least: f64) -> [f64; 2] {
        let per_sum = UNITS_PER_SUM + UNITS_PER_POINT * self.points as f64;
        let levels = |size: u64| self.levels(noise, size, least).len() as f64;
        let mut homes = 0.0;
        let mut inside = 1.0;
        for &size in sizes.iter().rev() {
            homes += levels(size) * inside * per_sum;
            inside = 2.0 * levels(size);
        }
        [homes, inside * per_sum]
    }
}

/// The units of work for one sum.
const UNITS_PER_SUM: f64 = 5e4;
/// The units of work for a sum and every point that its grid may have.
const UNITS_PER_POINT: f64 = 15.0;

/// The profile of a block of steps in which one record is replaced, as a pair of laws with few atoms.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Likelihood ratios, and their masses under the second law.
    atoms: Vec<(f64, f64)>,
    /// The mass of the first law where the second has none.
    infinity: f64,
    /// The steps of the block.
    size: u64,
}

/// Steps outside the home, and the home.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    pub worlds: Worlds,
    pub noise: f64,
    /// Steps outside the home.
    pub outside: u64,
    /// The home, or `None` for two steps without one.
    pub home: Option<&'a Home>,
}

/// The share of a divergence that the cut of its terms may add.
const CUT: f64 = 2e-3;

impl Block<'_> {
    /// An upper bound on the divergence at e^level, which need not be accurate below `least`.
    pub fn divergence(&self, level: f64, guess: f64, least: f64, fineness: &Fineness) -> f64 {
        let mut cut = CUT * guess.max(least);
        for _ in 0..4 {
            let found = self.with_cut(level, cut, fineness);
            let wanted = CUT * found.max(least);
            if cut <= 4.0 * wanted {
                return found;
            }
            cut = wanted;
        }
        self.with_cut(level, cut, fineness)
    }

    /// The bound with terms that leave out a mean of `cut`.
    fn with_cut(&self, level: f64, cut: f64, fineness: &Fineness) -> f64 {
        let law = TermLaw::new(self.worlds, self.noise, level, fineness.width, cut);
        let (n, odds) = (self.outside as f64, exp(level));
        let positive_part = |ratio: f64, constant: f64, tolerance: f64| {
            let below = law.negative.iter().rev().map(|&(position, mass)| (-position, mass));
            let above = law.positive.iter().map(|&(position, mass)| (ratio * position, mass));
            let sum = Sum { atoms: below.chain(above).collect(), terms: self.outside, constant };
            sum.positive_part(fineness.points, tolerance)
        };
        let Some(home) = self.home else {
            return 0.5 * (positive_part(1.0, 0.0, 1e-2 * cut) + n * law.beyond);
        };
        let size = home.size as f64;
        let tolerance = 1e-2 * cut * n;
        let parts: Vec<f64> = home
            .atoms
            .par_iter()
            .map(|&(ratio, mass)| {
                let constant = size * (ratio - odds) + 8.0 * f64::EPSILON * size * (ratio + odds);
                mass * (positive_part(ratio, constant, tolerance) + n * ratio * law.beyond)
            })
            .collect();
        let certain = home.infinity * (size + n * law.mean_positive);
        (parts.iter().sum::<f64>() + certain) / (size + n) * (1.0 + 1e-13)
    }
}

/// The sizes of nested homes of an epoch of at least three steps, largest first. The last has no home of its own.
pub(super) fn home_sizes(steps: u64) -> Vec<u64> {
    let largest = (steps / SHARE_OF_HOME).clamp(2, MOST_AT_HOME);
    if largest > 12 {
        vec![largest, largest / 4, 2]
    } else if largest > 2 {
        vec![largest, 2]
    } else {
        vec![2]
    }
}

/// A home has about one of this many steps. Any size is valid.
const SHARE_OF_HOME: u64 = 12;
/// The most steps of a home.
const MOST_AT_HOME: u64 = 24;

impl Home {
    /// The innermost of `sizes`, then each around it; divergences below `least` do not matter.
    pub fn nested(noise: f64, sizes: &[u64], least: f64, fineness: &Fineness) -> Home {
        let mut home: Option<Home> = None;
        for &size in sizes.iter().rev() {
            let outside = home.as_ref().map_or(size, |home| size - home.size);
            let block = Block { worlds: Worlds::Replaced, noise, outside, home: home.as_ref() };
            home = Some(Home::of(&block, size, least, fineness));
        }
        home.expect("an epoch of at least three steps has a home")
    }

    fn of(block: &Block<'_>, size: u64, least: f64, fineness: &Fineness) -> Home {
        let known = Gaussian::fixed_order(0.5 * block.noise, 1);
        let levels = fineness.levels(block.noise, size, least);
        let most = levels[levels.len() - 1];
        let step = most / GRID as f64;
        let mut guess = 1.0_f64;
        let mut dots: Vec<Divergence> = Vec::with_capacity(2 * levels.len());
        for level in levels {
            let index = (level / step).round() as i64;
            let level = index as f64 * step;
            let most = known.delta(level) * (1.0 + 1e-9);
            let value = block.divergence(level, guess.min(most), least, fineness).min(most);
            guess = value;
            dots.push(Divergence { index, level, value });
            if value <= 0.1 * least {
                break;
            }
        }
        // Replacing is symmetric.
        let mirrored =
            dots.iter().skip(1).rev().map(|dot| Divergence { index: -dot.index, level: -dot.level, ..*dot });
        Home::new(&connect_dots(step, mirrored.chain(dots.iter().copied())), size)
    }

    /// The steps of the block.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn new(law: &LossGrid, size: u64) -> Home {
        let atoms = law.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let atoms =
            atoms.map(|(i, mass)| (exp(law.loss(i)), mass * exp(-law.loss(i)) * (1.0 + 1e-13))).collect();
        Home { atoms, infinity: law.infinity_mass, size }
    }
}

/// The grid on which a home's levels lie has this many steps on either side of zero.
const GRID: i64 = 1 << 14;
