//! Plain rounding, for laws whose only known part is the survival function under P.

use super::{LossGrid, Side};

impl LossGrid {
    /// The law with every loss moved to the grid: down for [`Side::Lower`], up for [`Side::Upper`].
    ///
    /// `survival[i]` is P(L > (first + i) * step). Values that are never too large (lower) or never too small (upper)
    /// keep the guarantee. Losses below the grid are dropped (lower) or moved up to its first point (upper). Losses
    /// above the grid are moved down to its last point (lower) or counted as infinite (upper). The cost in epsilon is
    /// about `steps * step / 2`, so use a fine grid.
    pub fn rounded(side: Side, step: f64, first: i64, survival: &[f64]) -> Self {
        // A survival function does not increase. Rounding errors in it must not make masses negative.
        let mut monotone = survival.to_vec();
        match side {
            Side::Lower => {
                for i in 1..monotone.len() {
                    monotone[i] = monotone[i].min(monotone[i - 1]);
                }
            }
            Side::Upper => {
                for i in (1..monotone.len()).rev() {
                    monotone[i - 1] = monotone[i - 1].max(monotone[i]);
                }
            }
        }
        let cells = monotone.windows(2).map(|pair| pair[0] - pair[1]);
        let beyond = monotone[monotone.len() - 1];
        let (masses, infinity_mass) = match side {
            Side::Lower => (cells.chain([beyond]).collect(), 0.0),
            Side::Upper => ([(1.0 - monotone[0]).max(0.0)].into_iter().chain(cells).collect(), beyond),
        };
        LossGrid { side, step, origin: 0.0, first, masses, infinity_mass }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pld::Aim;
    use misdeal_core::normal;

    #[test]
    fn brackets_a_gaussian_before_and_after_composition() {
        let (step, first) = (0.01, -900);
        let survival: Vec<f64> = (0..1800).map(|i| normal::cdf(0.5 - f64::from(first + i) * step)).collect();
        let lower = LossGrid::rounded(Side::Lower, step, i64::from(first), &survival);
        let upper = LossGrid::rounded(Side::Upper, step, i64::from(first), &survival);
        // mu is 1, and 2 after four steps. The values are epsilon at delta = 1e-5.
        for (times, exact) in [(1, 4.377178), (4, 9.997296)] {
            let (below, above) = (
                lower.compose(times, Aim::Delta(1e-5)).epsilon(1e-5),
                upper.compose(times, Aim::Delta(1e-5)).epsilon(1e-5),
            );
            let cost = times as f64 * step;
            assert!(below <= exact && exact <= above && above - below < 1.1 * cost, "{below} {above}");
        }
    }
}
