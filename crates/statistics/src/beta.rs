//! Beta laws with shapes of at least 1/2: both tails and the quantile.
//!
//! The cost does not grow with the shapes.
//!
//! All computations use the logit x = ln(p / (1-p)). There the density p^a (1-p)^b / B(a, b) is log-concave for all
//! shapes. With m = a + b and Loader's deviance D it is
//!
//! ```text
//! sqrt(ab / (2 pi m)) exp(S(m) - S(a) - S(b) - D(a, mp) - D(b, mq)),
//! ```
//!
//! The mass beyond a point on the far side of the mode is that density times one smooth integral.

use crate::binomial::Proportion;
use crate::quadrature::integrate;
use crate::saddle_point::{deviance, log1p_minus, stirling_error};
use libm::{exp, expm1, log, log1p, sqrt};
use misdeal_core::normal;
use std::f64::consts::TAU;

/// The integral ends when the integrand has decreased to exp(-40), 4e-18 of its start.
const NEGLIGIBLE: f64 = 40.0;

/// A Beta law with shapes `a` and `b`, each at least 1/2.
///
/// ```
/// use misdeal_statistics::beta::Beta;
/// // Beta(1, 1) is uniform: P(X > 0.2) = 0.8, and the odds of 0.2 are 0.25.
/// let [below, above] = Beta::new(1.0, 1.0).tails(0.25);
/// assert!((below - 0.2).abs() < 1e-15 && (above - 0.8).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Beta {
    a: f64,
    b: f64,
    /// The logarithm of the factor before the deviances.
    log_scale: f64,
}

impl Beta {
    /// The law with these shapes.
    pub fn new(a: f64, b: f64) -> Self {
        debug_assert!(a >= 0.5 && b >= 0.5);
        let stirling = stirling_error(a + b) - stirling_error(a) - stirling_error(b);
        Beta { a, b, log_scale: 0.5 * log(a / TAU * (b / (a + b))) + stirling }
    }

    /// The law of 1 - X.
    fn mirrored(self) -> Self {
        Beta { a: self.b, b: self.a, ..self }
    }

    /// The odds at the mode of the logit's density.
    pub fn mode_odds(&self) -> f64 {
        self.a / self.b
    }

    /// The density of the logit at `odds` = p / (1-p).
    pub fn logit_density(&self, odds: f64) -> f64 {
        let Proportion { value: p, complement: q } = Proportion::from_odds(odds);
        let (m, excess) = (self.a + self.b, self.excess(odds));
        exp(self.log_scale - deviance(self.a, m * p, excess) - deviance(self.b, m * q, -excess))
    }

    /// (a + b) p - a, without cancellation.
    fn excess(&self, odds: f64) -> f64 {
        if odds > 1.0 {
            (self.b - self.a / odds) / (1.0 / odds + 1.0)
        } else {
            (odds * self.b - self.a) / (1.0 + odds)
        }
    }

    /// P(X <= p) and P(X > p) at `odds` = p / (1-p).
    ///
    /// The smaller one is within about 1e-13 relative, for shapes up to 1e13.
    pub fn tails(&self, odds: f64) -> [f64; 2] {
        if odds.is_nan() || odds <= 0.0 {
            return [0.0, 1.0];
        }
        if odds == f64::INFINITY {
            return [1.0, 0.0];
        }
        if odds < self.mode_odds() {
            let [above, below] = self.mirrored().beyond_the_mode(1.0 / odds);
            return [below, above];
        }
        self.beyond_the_mode(odds)
    }

    fn beyond_the_mode(&self, odds: f64) -> [f64; 2] {
        let above = (self.logit_density(odds) * self.mass_over_density(odds)).min(1.0);
        [1.0 - above, above]
    }

    /// The p with P(X > p) = `tail`, for 0 < `tail` < 1.
    ///
    /// It uses Halley's method on ln P(X > p) in the logit, where this function is concave and decreasing.
    pub fn upper_quantile(&self, tail: f64) -> Proportion {
        if tail > 0.5 {
            return self.mirrored().upper_quantile(1.0 - tail).swapped();
        }
        Proportion::from_odds(self.upper_quantile_odds(tail))
    }

    /// The odds of [`upper_quantile`](Self::upper_quantile), for `tail` up to 1/2.
    fn upper_quantile_odds(&self, tail: f64) -> f64 {
        const MOST_STEPS: usize = 60;
        let log_tail = log(tail);
        let mut odds = self.first_odds(tail);
        for _ in 0..MOST_STEPS {
            let [_, above] = self.tails(odds);
            if above < f64::MIN_POSITIVE {
                // The start was so far out that the tail underflows.
                odds *= exp(-1.0);
                continue;
            }
            let ratio = above / self.logit_density(odds);
            let newton = (log(above) - log_tail) * ratio;
            let bend = 0.5 * newton * (1.0 / ratio - self.excess(odds));
            let step = (newton / (1.0 + bend).max(0.5)).clamp(-3.0, 3.0);
            if step.is_nan() {
                break;
            }
            odds = (odds * exp(step)).clamp(f64::MIN_POSITIVE, 1.0 / f64::MIN_POSITIVE);
            // Convergence is cubic, measured in units of the ratio.
            if step.abs() < 1e-6 * ratio {
                break;
            }
        }
        odds
    }

    /// A start for the quantile: Abramowitz and Stegun, formula 26.5.22, limited to finite values for the smallest
    /// shapes.
    fn first_odds(&self, tail: f64) -> f64 {
        let z = -normal::lower_quantile(tail);
        let [r, s] = [self.a, self.b].map(|shape| 1.0 / (2.0 * shape - 1.0).max(0.5));
        let h = 2.0 / (r + s);
        let lambda = (z * z - 3.0) / 6.0;
        let w = z * sqrt((h + lambda).max(0.0)) / h + (s - r) * (lambda + 5.0 / 6.0 - 2.0 / (3.0 * h));
        self.mode_odds() * exp((2.0 * w).clamp(-300.0, 300.0))
    }

    /// The integral over s from 0 of f(x + s) / f(x), for a logit x at or beyond the mode.
    fn mass_over_density(&self, odds: f64) -> f64 {
        let fall = Fall::new(self, odds);
        let end = fall.end();
        let panel = |from: f64, to: f64| integrate(from, to, |s| exp(-fall.at(s)));
        if end < LONGEST_PANEL { panel(0.0, end) } else { panel(0.0, end / 8.0) + panel(end / 8.0, end) }
    }
}

/// Longer panels are split near their beginning.
///
/// The logit's density has poles at distance pi from the real line, so one rule is not accurate on a much longer panel.
/// Only the smallest shapes need this.
const LONGEST_PANEL: f64 = 12.0;

/// The decrease of the logit's density from a point beyond the mode.
struct Fall {
    p: f64,
    q: f64,
    shapes: f64,
    excess: f64,
}

impl Fall {
    fn new(law: &Beta, odds: f64) -> Self {
        let Proportion { value: p, complement: q } = Proportion::from_odds(odds);
        Fall { p, q, shapes: law.a + law.b, excess: law.excess(odds).max(0.0) }
    }

    /// -ln(f(x + s) / f(x)) = m h(s) + excess s, with h(s) = ln(q + p e^s) - p s. It is a sum of positive terms.
    fn at(&self, s: f64) -> f64 {
        // With e = e^s - 1, ln(1 + e) - e equals s - e. So h is a difference of two such terms, and one is at least
        // about twice the other. No digits are lost, even for small s.
        let (share, s_towards) = if self.p <= 0.5 { (self.p, s) } else { (self.q, -s) };
        let e = expm1(s_towards);
        let h = if e.abs() < 0.28 {
            log1p_minus(share * e) - share * log1p_minus(e)
        } else {
            log1p(share * e) - share * s_towards
        };
        self.shapes * h + self.excess * s
    }

    /// An s near the point where [`at`](Self::at) is [`NEGLIGIBLE`]. The function is convex, so Newton's steps approach
    /// from above.
    fn end(&self) -> f64 {
        let curvature = self.shapes * self.p * self.q;
        let mut s =
            2.0 * NEGLIGIBLE / (self.excess + sqrt(self.excess * self.excess + 2.0 * NEGLIGIBLE * curvature));
        for _ in 0..6 {
            s = s.min(300.0);
            let odds = self.p * exp(s) / self.q;
            // Computes p' - p, where p' is the probability at x + s.
            let moved = if odds > 1.0 { self.q - 1.0 / (1.0 + odds) } else { odds / (1.0 + odds) - self.p };
            let step = (NEGLIGIBLE - self.at(s)) / (self.shapes * moved + self.excess);
            s += step;
            if step.abs() < 0.02 * s {
                break;
            }
        }
        s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Golden {
        /// The columns a, b, odds, P(X <= p), P(X > p).
        tails: Vec<[f64; 5]>,
    }

    /// Reference values from mpmath at 60 digits (`testdata/scripts/beta.py`).
    #[test]
    fn agrees_with_high_precision_values() {
        let golden: Golden = toml::from_str(include_str!("../../../testdata/beta.toml")).unwrap();
        assert!(golden.tails.len() > 150);
        for [a, b, odds, below, above] in golden.tails {
            let law = Beta::new(a, b);
            let found = law.tails(odds);
            for (ours, exact) in found.into_iter().zip([below, above]) {
                assert!((ours / exact - 1.0).abs() < 2e-12, "{a} {b} {odds}: {ours} for {exact}");
            }
            // Use the smaller tail, because the larger one does not determine the quantile.
            let (law, odds, tail) =
                if above < below { (law, odds, above) } else { (law.mirrored(), 1.0 / odds, below) };
            let quantile = law.upper_quantile(tail);
            let back = quantile.value / quantile.complement;
            assert!((back / odds - 1.0).abs() < 1e-10, "{a} {b} {odds}: {back}");
        }
    }
}
