//! A claimed privacy curve: what its points (delta, epsilon) imply together.

use libm::exp;
use misdeal_core::{Error, Result};

/// Larger epsilons are dropped: e^epsilon would overflow. A claim of fewer points is weaker, so nothing is accused for it.
const MOST_EPSILON: f64 = 500.0;

/// A privacy curve, claimed by its points (delta, epsilon).
///
/// Each point says that P(A) <= e^epsilon Q(A) + delta for every event A, and the same with P and Q exchanged. All points together say
/// that Q(A) >= I(P(A)) for the largest of their lines,
///
/// I(y) = max over points of { 0, e^-epsilon (y - delta), 1 - delta - e^epsilon (1 - y) }.
///
/// Nothing more is claimed, so nothing more is tested. The trade-off curve is f(x) = I(1 - x). Proof: `docs/proofs/one-run-and-curves.md`.
///
/// ```
/// use misdeal_statistics::PrivacyCurve;
/// // Epsilon 0 at delta 0.2 says that no event differs by more than 0.2.
/// let curve = PrivacyCurve::from_points(&[[0.2, 0.0]])?;
/// assert!((curve.total_variation() - 0.2).abs() < 1e-15);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyCurve {
    points: Vec<[f64; 2]>,
    /// The lines of I by ascending slope: [slope, intercept].
    lines: Vec<[f64; 2]>,
    /// Where each line but the first takes over.
    breaks: Vec<f64>,
}

impl PrivacyCurve {
    /// The curve of points (delta, epsilon). A negative epsilon is read as 0, and points that claim nothing are dropped.
    ///
    /// # Errors
    /// A delta below 0, or a number that is NaN.
    pub fn from_points(points: &[[f64; 2]]) -> Result<Self> {
        let mut kept = Vec::new();
        for &[delta, epsilon] in points {
            if delta.is_nan() || epsilon.is_nan() || delta < 0.0 {
                let hint = "a point of a curve is a delta and its epsilon";
                let value = format!("({delta}, {epsilon})");
                return Err(Error::bad_value("claimed_curve", value, "a delta from 0 and an epsilon", hint));
            }
            if delta < 1.0 && epsilon <= MOST_EPSILON {
                kept.push([delta, epsilon.max(0.0)]);
            }
        }
        kept.sort_by(|one, other| one[0].total_cmp(&other[0]));
        let mut lines = vec![[0.0, 0.0]];
        for &[delta, epsilon] in &kept {
            let odds = exp(epsilon);
            lines.push([1.0 / odds, -delta / odds]);
            lines.push([odds, 1.0 - delta - odds]);
        }
        let (lines, breaks) = upper_envelope(lines);
        Ok(PrivacyCurve { points: kept, lines, breaks })
    }

    /// The points (delta, epsilon) that are claimed, by ascending delta.
    pub fn points(&self) -> &[[f64; 2]] {
        &self.points
    }

    /// I(y), the smallest probability that Q may give an event to which P gives `probability`.
    pub fn inverse_blow_up(&self, probability: f64) -> f64 {
        let line = self.breaks.partition_point(|&at| at <= probability);
        let [slope, intercept] = self.lines[line];
        // The mirrored lines are written about y = 1, where they are needed.
        (slope * probability + intercept).clamp(0.0, 1.0)
    }

    /// f(x), the smallest false-negative rate at this false-positive rate.
    pub fn false_negative_rate(&self, false_positive_rate: f64) -> f64 {
        self.inverse_blow_up(1.0 - false_positive_rate)
    }

    /// The false-positive rates at which f has a corner.
    pub fn corners(&self) -> impl Iterator<Item = f64> + '_ {
        self.breaks.iter().map(|at| 1.0 - at)
    }

    /// The pairs (g, h) with P(A) - g Q(A) <= h that together are the claim.
    pub(crate) fn slopes(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let steep = self.lines.iter().filter(|line| line[0] > 0.0);
        steep.map(|&[slope, intercept]| [1.0 / slope, -intercept / slope])
    }

    /// The largest P(A) - Q(A) that the claim allows.
    pub fn total_variation(&self) -> f64 {
        let corner = |&y: &f64| y - self.inverse_blow_up(y);
        self.breaks.iter().chain(&[1.0]).map(corner).fold(0.0, f64::max)
    }

    /// The largest probability with which a fair coin is guessed right: (1 + total variation) / 2.
    pub fn right_rate(&self) -> f64 {
        0.5 * (1.0 + self.total_variation())
    }

    /// The smallest epsilon that the curve implies at `delta`; infinite if it implies none.
    pub fn epsilon(&self, delta: f64) -> f64 {
        // P - e^epsilon Q is largest at a corner of I, and all corners must be at most delta.
        let corners = self.breaks.iter().chain(&[1.0]).filter(|y| **y > delta);
        corners.map(|&y| libm::log((y - delta) / self.inverse_blow_up(y))).fold(0.0, f64::max)
    }
}

/// The lines that are largest somewhere in [0, 1], by ascending slope, and where each but the first takes over.
fn upper_envelope(mut lines: Vec<[f64; 2]>) -> (Vec<[f64; 2]>, Vec<f64>) {
    lines.sort_by(|one, other| one[0].total_cmp(&other[0]).then(one[1].total_cmp(&other[1])));
    let crossing = |one: [f64; 2], other: [f64; 2]| (one[1] - other[1]) / (other[0] - one[0]);
    let mut kept: Vec<[f64; 2]> = Vec::new();
    let mut breaks: Vec<f64> = Vec::new();
    for line in lines {
        while let Some(&last) = kept.last() {
            let covered = if line[0] <= last[0] {
                true
            } else {
                let from = breaks.last().copied().unwrap_or(0.0);
                crossing(last, line) <= from
            };
            if !covered || kept.len() == 1 && line[0] > last[0] {
                break;
            }
            kept.pop();
            breaks.pop();
        }
        match kept.last() {
            None => kept.push(line),
            Some(&last) if crossing(last, line) < 1.0 => {
                breaks.push(crossing(last, line));
                kept.push(line);
            }
            Some(_) => {}
        }
    }
    (kept, breaks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claimed_curve::of_epsilon;

    const POINTS: [[f64; 2]; 6] =
        [[1e-6, 3.39], [1e-5, 2.87], [1e-3, 1.78], [0.05, 0.64], [0.1, 0.37], [0.214, 0.0]];

    #[test]
    fn is_the_largest_of_its_points_curves() {
        let curve = PrivacyCurve::from_points(&POINTS).unwrap();
        for i in 0..=10_000 {
            let x = f64::from(i) / 10_000.0;
            let slow =
                POINTS.iter().map(|&[delta, epsilon]| of_epsilon(epsilon, delta, x)).fold(0.0, f64::max);
            assert!((curve.false_negative_rate(x) - slow).abs() < 1e-14, "{x}");
        }
        assert!((curve.total_variation() - 0.214).abs() < 1e-14);
        for [delta, epsilon] in POINTS {
            assert!(curve.epsilon(delta) <= epsilon + 1e-12);
        }
    }

    #[test]
    fn each_slope_bounds_every_event() {
        let curve = PrivacyCurve::from_points(&POINTS).unwrap();
        assert!(curve.slopes().count() >= 8);
        for [g, h] in curve.slopes() {
            let most = (0..=100_000).map(|i| f64::from(i) / 1e5);
            let most = most.map(|y| y - g * curve.inverse_blow_up(y)).fold(f64::NEG_INFINITY, f64::max);
            assert!(most <= h + 1e-12 && most > h - 1e-3 * (1.0 + g), "{g} {h}: {most}");
        }
    }

    #[test]
    fn points_that_claim_nothing_change_nothing() {
        let curve = PrivacyCurve::from_points(&[[0.2, 0.0]]).unwrap();
        let more =
            PrivacyCurve::from_points(&[[0.2, 0.0], [1.0, 0.0], [0.1, f64::INFINITY], [0.3, 0.5]]).unwrap();
        assert_eq!(curve.lines, more.lines);
        let negative = PrivacyCurve::from_points(&[[0.2, -0.4]]).unwrap();
        assert_eq!(curve.lines, negative.lines);
        let nothing = PrivacyCurve::from_points(&[]).unwrap();
        assert!((nothing.total_variation() - 1.0).abs() < 1e-15 && nothing.inverse_blow_up(0.9) == 0.0);
        let perfect = PrivacyCurve::from_points(&[[0.0, 0.0]]).unwrap();
        assert!(perfect.total_variation() < 1e-15 && (perfect.inverse_blow_up(0.3) - 0.3).abs() < 1e-15);
        assert!(PrivacyCurve::from_points(&[[-0.1, 1.0]]).is_err());
        assert!(PrivacyCurve::from_points(&[[0.1, f64::NAN]]).is_err());
    }
}
