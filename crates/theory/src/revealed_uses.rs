//! Upper bound for fixed-size subsets: reveal the sampled steps.
//!
//! `delta(epsilon) <= sum_k C(n, k) q^k (1 - q)^(n - k) delta_k(epsilon)`, where `delta_k` is the delta of the Gaussian
//! mechanism at mu = sqrt(k) / s. Proof: `docs/proofs/told-uses.md`.

use crate::gaussian::Gaussian;
use libm::{exp, lgamma, log, log1p, sqrt};

/// The share of delta for numbers of uses beyond the largest one considered.
const REST: f64 = 1e-3;
/// The logarithm of the rounding error of a binomial probability. lgamma of 2^31 is 4e10, so its last digits are lost.
const ROUNDING: f64 = 2e-4;
/// The most groups of numbers of uses. A group counts as its largest number.
const MOST_GROUPS: u64 = 4096;

/// Poisson sampling that reveals to the adversary the sampled steps of a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RevealedUses {
    pub noise_multiplier: f64,
    /// The sampling probability, below 1.
    pub sampling_probability: f64,
    pub steps: u64,
}

impl RevealedUses {
    /// The units of work for [`RevealedUses::epsilon_upper_bound`].
    pub fn work(&self) -> f64 {
        let mean = self.steps as f64 * self.sampling_probability;
        200.0 * (mean / 64.0 + 40.0 * sqrt(mean) + 100.0).min(self.steps as f64) + 3e7
    }

    /// An upper bound on epsilon at `delta`; never too small.
    pub fn epsilon_upper_bound(&self, delta: f64) -> f64 {
        let (groups, most) = self.groups(REST * delta);
        let excess = |epsilon: f64| {
            // A record that is never used reveals nothing.
            let used = groups.iter().filter(|(uses, _)| *uses > 0);
            let told = used.map(|&(uses, mass)| mass * self.after(uses).delta(epsilon));
            told.sum::<f64>() * (1.0 + 1e-9) + REST * delta - delta
        };
        // If every number of uses is the largest one considered, delta is met except for the rest.
        let mut high = self.after(most).epsilon_upper_bound((1.0 - 2.0 * REST) * delta);
        let mut low = 0.0;
        if excess(low) <= 0.0 {
            return low;
        }
        while high - low > 1e-9 * high {
            let middle = 0.5 * (low + high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        high
    }

    fn after(&self, uses: u64) -> Gaussian {
        Gaussian::fixed_order(self.noise_multiplier, uses)
    }

    /// The numbers of uses with their probabilities, and the largest number.
    ///
    /// All larger numbers together have probability at most `rest`.
    fn groups(&self, rest: f64) -> (Vec<(u64, f64)>, u64) {
        let mean = self.steps as f64 * self.sampling_probability;
        let mut most = (mean + sqrt(mean)) as u64 + 1;
        while most < self.steps && self.beyond(most) > rest {
            most += 1 + most / 64;
        }
        let most = most.min(self.steps);
        // Very small numbers of uses, which almost never occur, count as `least`.
        let least = (mean - 12.0 * sqrt(mean)).max(0.0) as u64;
        let stride = (most - least) / MOST_GROUPS + 1;
        let mut groups: Vec<(u64, f64)> = (0..=(most - least) / stride)
            .map(|group| {
                let first = least + group * stride;
                let last = (first + stride - 1).min(most);
                (last, (first..=last).map(|uses| self.mass(uses)).sum())
            })
            .collect();
        if least > 0 {
            groups[0].1 = 1.0;
        }
        (groups, most)
    }

    /// The probability of `uses` uses, never too small.
    fn mass(&self, uses: u64) -> f64 {
        let (n, k, q) = (self.steps as f64, uses as f64, self.sampling_probability);
        let ways = lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0);
        exp(ways + k * log(q) + (n - k) * log1p(-q) + ROUNDING)
    }

    /// An upper bound on the probability of more than `uses` uses, by a geometric series.
    pub fn beyond(&self, uses: u64) -> f64 {
        let (n, k, q) = (self.steps as f64, uses as f64 + 1.0, self.sampling_probability);
        let ratio = (n - k) * q / ((k + 1.0) * (1.0 - q));
        if ratio < 1.0 { self.mass(uses + 1) / (1.0 - ratio) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(noise_multiplier: f64, sampling_probability: f64, steps: u64) -> RevealedUses {
        RevealedUses { noise_multiplier, sampling_probability, steps }
    }

    /// For one step, delta(epsilon) = q delta_1(epsilon), in closed form.
    #[test]
    fn one_step_is_the_gaussian_at_less_delta() {
        for (noise, q, delta) in [(1.0, 0.01, 1e-5), (0.3, 0.5, 1e-9), (4.0, 0.9, 0.01)] {
            let exact = Gaussian::fixed_order(noise, 1).epsilon_upper_bound(delta / q);
            let found = at(noise, q, 1).epsilon_upper_bound(delta);
            assert!(found >= exact && found < 1.001 * exact + 1e-3, "{noise} {q}: {found} {exact}");
        }
    }

    /// Two steps, computed by hand.
    #[test]
    fn two_steps_are_the_mixture() {
        let (q, delta) = (0.3, 1e-5);
        let found = at(1.0, q, 2).epsilon_upper_bound(delta);
        let told = 2.0 * q * (1.0 - q) * Gaussian::fixed_order(1.0, 1).delta(found)
            + q * q * Gaussian::fixed_order(1.0, 2).delta(found);
        assert!(told <= delta && told > 0.99 * delta, "{told}");
    }

    /// The bound is above Poisson sampling's epsilon, whose adversary does not learn the steps. The masses are
    /// probabilities.
    #[test]
    fn telling_does_not_hide() {
        for (noise, q, steps) in
            [(1.0, 0.01, 100), (0.5, 0.001, 10_000), (3.0, 0.1, 1_000_000), (2.0, 1e-6, 1 << 31)]
        {
            let pair = at(noise, q, steps);
            let (groups, most) = pair.groups(1e-8);
            let sum: f64 = groups.iter().map(|group| group.1).sum();
            assert!((1.0 - 1e-7..2.01).contains(&sum) && pair.beyond(most) <= 1e-8, "{q} {steps}: {sum}");
            if steps <= 10_000 {
                let poisson = crate::poisson::epsilon(noise, q, steps, 1e-5).unwrap();
                let told = pair.epsilon_upper_bound(1e-5);
                assert!(told > poisson.epsilon_upper_bound && told.is_finite(), "{told}");
            }
        }
    }
}
