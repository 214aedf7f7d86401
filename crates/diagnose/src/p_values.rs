//! Several tests of one scheme, combined by Bonferroni's rule.

use libm::{cbrt, erfc, sqrt};
use std::f64::consts::SQRT_2;

/// The tests of one scheme.
#[derive(Debug, Clone, Default)]
pub struct Tests(Vec<(&'static str, f64)>);

impl Tests {
    /// Adds a test: `shows` is the conclusion from a small p-value.
    pub fn insert(&mut self, shows: &'static str, p_value: f64) {
        self.0.push((shows, p_value));
    }

    /// The smallest p-value times the number of tests. This is a valid p-value, however the tests depend on each other.
    pub fn p_value(&self) -> f64 {
        let smallest = self.0.iter().map(|test| test.1).fold(1.0, f64::min);
        (smallest * self.0.len() as f64).min(1.0)
    }

    /// The p-value of the first test.
    pub fn dispersion(&self) -> f64 {
        self.0.first().map_or(1.0, |test| test.1)
    }

    /// A sentence with the conclusion from the smallest p-value.
    pub fn evidence(&self) -> String {
        let smallest = self.0.iter().min_by(|one, other| one.1.total_cmp(&other.1));
        match smallest {
            Some((shows, p)) if *p < 1e-99 => format!("the tests show {shows} (p below 1e-99)"),
            Some((shows, p)) if self.p_value() < 1e-3 => format!("the tests show {shows} (p = {p:.1e})"),
            _ => "the tests find nothing against it".into(),
        }
    }
}

/// Two-sided p-value of a standard normal value `z`.
pub fn normal(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// Two-sided p-value for a sum of squares with this mean and variance.
///
/// The sum has approximately a scaled chi-square law (Satterthwaite), whose cube root is approximately normal (Wilson and
/// Hilferty).
pub fn dispersion(value: f64, mean: f64, variance: f64) -> f64 {
    if mean <= 0.0 || variance <= 0.0 {
        return 1.0;
    }
    let freedom = 2.0 * mean * mean / variance;
    let ratio = 2.0 / (9.0 * freedom);
    normal((cbrt(value / mean) - (1.0 - ratio)) / sqrt(ratio))
}

/// Two-sided p-value of a standardised value `z` whose law has this skewness, by a shifted gamma law.
///
/// The gamma law's cube root is approximately normal (Wilson and Hilferty). Its lower tail is lighter than the normal law's, which
/// is used there.
pub fn skewed(z: f64, skewness: f64) -> f64 {
    if z <= 0.0 || skewness <= 1e-6 {
        return normal(z);
    }
    let shape = 4.0 / (skewness * skewness);
    let ratio = 1.0 / (9.0 * shape);
    normal(((cbrt(1.0 + z / sqrt(shape)) - (1.0 - ratio)) / sqrt(ratio)).max(0.0))
}

/// Two-sided p-value for a count with this mean and variance, by the normal law.
///
/// If the mean is small, the square root of the count is used instead (Anscombe). It is conservative above the mean.
pub fn count(value: f64, mean: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    if mean >= 100.0 {
        return normal((value - mean) / sqrt(variance));
    }
    normal(2.0 * (sqrt(value + 0.375) - sqrt(mean + 0.125)) * sqrt(mean / variance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn approximations_are_near_the_laws() {
        assert!((normal(1.959_964) - 0.05).abs() < 1e-6);
        // Chi-square with 10 degrees of freedom: the upper tail at 29.588 has probability 0.001.
        let p = dispersion(29.588, 10.0, 20.0);
        assert!((0.0018..0.0022).contains(&p), "{p}");
        // The same chi-square value, standardised: its skewness is sqrt(8 / 10).
        let p = skewed((29.588 - 10.0) / 20.0_f64.sqrt(), 0.8_f64.sqrt());
        assert!((0.0018..0.0022).contains(&p), "{p}");
        // Poisson with mean 9: at least 20 has probability 0.00106, which is doubled for both sides.
        let p = count(20.0, 9.0, 9.0);
        assert!((0.001..0.006).contains(&p), "{p}");
    }

    #[test]
    fn tests_are_joined_by_their_number() {
        let mut tests = Tests::default();
        tests.insert("one thing", 0.5);
        tests.insert("another", 1e-9);
        assert!((tests.p_value() - 2e-9).abs() < 1e-20);
        assert!(tests.evidence().contains("another"));
    }
}
