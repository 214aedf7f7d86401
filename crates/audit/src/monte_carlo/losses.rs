//! The losses of a run of samples, and the epsilon that they show.

use super::betting::Bet;
use super::proposal::WeightedLoss;
use libm::{exp, log};
use rayon::prelude::*;

/// Groups that are summed before their sums are: fixed, so that no sum depends on the number of cores.
const GROUPS_PER_SUM: usize = 1 << 12;

/// Relative width at which the search for an epsilon ends.
const WIDTH: f64 = 1e-7;

/// Weighted losses in independent groups of equal size.
///
/// The excess of a loss over epsilon is (1 - e^(epsilon - L))+; a group's value is the average of weight times excess,
/// so that groups are independent and identically distributed, non-negative, and have mean
/// delta(epsilon) = E_P (1 - e^(epsilon - L))+ exactly.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Losses {
    pub values: Vec<WeightedLoss>,
    pub group_size: usize,
}

/// Mean and variances of weight times excess.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moments {
    pub mean: f64,
    /// Of a group's expectation given what the group shares.
    pub between: f64,
    /// Of a run around it.
    pub within: f64,
}

impl Moments {
    /// The variance of the value of a group of this size.
    pub fn variance(&self, group_size: usize) -> f64 {
        self.between + self.within / group_size as f64
    }
}

impl Losses {
    /// Independent groups.
    pub fn groups(&self) -> u64 {
        (self.values.len() / self.group_size) as u64
    }

    /// The largest epsilon at which the bet that delta(epsilon) exceeds its mean is won; 0 if it never is.
    ///
    /// Excesses fall as epsilon grows, and with them the capital: the bet is won up to some epsilon and lost beyond, so this search
    /// finds what testing every epsilon in increasing order until the first defeat would. Where the true epsilon is e,
    /// a bound above e means that the bet was won at e, which has a probability of at most `significance`.
    pub fn epsilon_lower_bound(&self, bet: &Bet, significance: f64) -> f64 {
        self.largest_epsilon(|epsilon| self.log_capital(bet, epsilon) >= -log(significance))
    }

    /// The epsilon at which the average equals `delta`: an estimate, no bound.
    pub fn epsilon_estimate(&self, delta: f64) -> f64 {
        let average = |epsilon| self.total(|group| [Self::value(group, epsilon), 0.0, 0.0])[0];
        self.largest_epsilon(|epsilon| average(epsilon) >= delta * self.groups() as f64)
    }

    /// The standard error of the average at an epsilon, from the groups' own spread.
    pub fn standard_error(&self, epsilon: f64) -> f64 {
        let groups = self.groups() as f64;
        let [sum, squares, _] = self.total(|group| {
            let value = Self::value(group, epsilon);
            [value, value * value, 0.0]
        });
        ((squares / groups - (sum / groups).powi(2)).max(0.0) / groups).sqrt()
    }

    /// Moments at an epsilon, for groups of at least two.
    pub fn moments(&self, epsilon: f64) -> Moments {
        let (groups, size) = (self.groups() as f64, self.group_size as f64);
        let sums = self.total(|group| {
            let mean = Self::value(group, epsilon);
            let spread: f64 = group.iter().map(|x| (excess(x, epsilon) - mean).powi(2)).sum();
            [mean, mean * mean, spread]
        });
        let mean = sums[0] / groups;
        let within = sums[2] / (groups * (size - 1.0));
        let of_means = (sums[1] / groups - mean * mean).max(0.0);
        Moments { mean, between: (of_means - within / size).max(0.0), within }
    }

    fn log_capital(&self, bet: &Bet, epsilon: f64) -> f64 {
        Bet::log_capital(self.total(|group| bet.log_factors(Self::value(group, epsilon))))
    }

    fn value(group: &[WeightedLoss], epsilon: f64) -> f64 {
        group.iter().map(|x| excess(x, epsilon)).sum::<f64>() / group.len() as f64
    }

    /// Sums over groups, in an order that does not depend on the number of cores.
    fn total(&self, terms: impl Fn(&[WeightedLoss]) -> [f64; 3] + Sync) -> [f64; 3] {
        let add = |sum: [f64; 3], term: [f64; 3]| std::array::from_fn(|i| sum[i] + term[i]);
        let parts: Vec<[f64; 3]> = self
            .values
            .par_chunks(GROUPS_PER_SUM * self.group_size)
            .map(|part| part.chunks_exact(self.group_size).map(&terms).fold([0.0; 3], add))
            .collect();
        parts.into_iter().fold([0.0; 3], add)
    }

    /// The largest epsilon for which `holds`, a condition that fails for good once it fails.
    fn largest_epsilon(&self, holds: impl Fn(f64) -> bool) -> f64 {
        if !holds(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, self.values.iter().map(|x| x.loss).fold(0.0, f64::max));
        while high - low > WIDTH * high {
            let middle = f64::midpoint(low, high);
            if holds(middle) { low = middle } else { high = middle }
        }
        low
    }
}

/// weight (1 - e^(epsilon - L))+.
fn excess(x: &WeightedLoss, epsilon: f64) -> f64 {
    if x.loss > epsilon { x.weight * (1.0 - exp(epsilon - x.loss)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(group_size: usize) -> Losses {
        let values =
            (0..12_000).map(|i| WeightedLoss { loss: f64::from(i % 7) - 1.0, weight: 0.5 }).collect();
        Losses { values, group_size }
    }

    /// Walking up a fine grid until the first defeat stops where the search does.
    #[test]
    fn the_search_is_the_fixed_sequence() {
        let losses = losses(3);
        for mean in [0.01, 0.1, 0.3] {
            let bet = Bet::plan(mean, 0.01, losses.groups(), 0.05);
            let found = losses.epsilon_lower_bound(&bet, 0.05);
            let won = |epsilon: f64| losses.log_capital(&bet, epsilon) >= -log(0.05);
            let walked = (0..5000).map(|i| f64::from(i) * 1e-3).take_while(|&epsilon| won(epsilon)).last();
            assert!(
                walked.is_some_and(|walked| (0.0..=1e-3).contains(&(found - walked))),
                "{found} {walked:?}"
            );
        }
        assert_eq!(losses.epsilon_lower_bound(&Bet::plan(0.9, 0.01, losses.groups(), 0.05), 0.05), 0.0);
    }

    #[test]
    fn moments_and_estimates_are_the_averages() {
        let losses = losses(2);
        let exact: f64 = (1..5).map(|excess| 0.5 * (1.0 - f64::exp(-f64::from(excess)))).sum::<f64>() / 7.0;
        assert!((losses.moments(1.0).mean - exact).abs() < 1e-3);
        assert!((losses.epsilon_estimate(exact) - 1.0).abs() < 1e-2);
    }
}
