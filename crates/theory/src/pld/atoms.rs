//! A composed law as a few atoms, for the mean of a function that is expensive to evaluate.

use super::{Composition, Side};
use libm::{exp, expm1, log1p};

/// A few atoms that replace a composed law.
///
/// The mean of a function over the atoms errs to the law's side. The function must increase with the loss and be convex in
/// e^-loss. Delta is such a function.
#[derive(Debug, Clone)]
pub struct Atoms {
    side: Side,
    losses_and_masses: Vec<(f64, f64)>,
    /// An extra error of the mean of a function with values in [0, 1]: mass of unknown place, and round-off.
    unsure_mass: f64,
}

impl Composition {
    /// The law in about `most` or `2 * most` atoms.
    ///
    /// For the lower side, each run of neighbouring points is gathered in one point that keeps its P and Q mass. For
    /// the upper side, it is spread to the run's two ends, which also keeps both masses.
    ///
    /// # Panics
    /// If the composition is tilted. Compose with [`super::Aim::Whole`].
    pub fn atoms(&self, most: usize) -> Atoms {
        assert!(self.tilt == 0.0, "only a law without tilt has atoms");
        let scale = exp(self.log_scale);
        let run = self.tilted.len().div_ceil(most);
        let mut atoms = Vec::with_capacity(2 * most);
        for (r, masses) in self.tilted.chunks(run).enumerate() {
            let low = self.origin + (self.first + (r * run) as i64) as f64 * self.step;
            let p: f64 = masses.iter().sum();
            // Q masses are in units of e^-low. The difference of the run's P and Q mass is computed without
            // cancellation.
            let lacking: f64 =
                masses.iter().enumerate().map(|(i, mass)| -mass * expm1(-(i as f64) * self.step)).sum();
            if p <= 0.0 {
                continue;
            }
            let share = lacking / p;
            match self.side {
                Side::Lower => atoms.push((low - log1p(-share), p * scale)),
                Side::Upper => {
                    let width = (masses.len() - 1) as f64 * self.step;
                    let high = if width > 0.0 { (share / -expm1(-width)).min(1.0) } else { 0.0 };
                    atoms.push((low, p * (1.0 - high) * scale));
                    atoms.push((low + width, p * high * scale));
                }
            }
        }
        let unsure_mass = match self.side {
            Side::Upper => self.infinity_mass + self.round_off,
            Side::Lower => self.stray_mass + self.round_off,
        };
        Atoms { side: self.side, losses_and_masses: atoms, unsure_mass }
    }
}

impl Atoms {
    /// The mean of `value(loss)`; it errs to the law's side.
    ///
    /// The function must increase in the loss, be convex in e^-loss, and lie between 0 and `most`.
    pub fn mean(&self, value: impl Fn(f64) -> f64, most: f64) -> f64 {
        let sum: f64 = self.losses_and_masses.iter().map(|&(loss, mass)| mass * value(loss)).sum();
        match self.side {
            Side::Upper => sum + self.unsure_mass * most,
            Side::Lower => (sum - self.unsure_mass * most).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::pld::{Aim, LossGrid, Side};
    use libm::exp;

    #[test]
    fn few_atoms_err_to_the_law_s_side_and_little() {
        let masses: Vec<f64> =
            (0..40).map(|i| exp(-0.05 * f64::from((i - 17) * (i - 17))) / 7.92666).collect();
        for side in [Side::Lower, Side::Upper] {
            let masses = masses.clone();
            let law = LossGrid { side, step: 0.01, origin: -0.2, first: 3, masses, infinity_mass: 0.0 };
            let composed = law.compose(20, Aim::Whole);
            for epsilon in [0.0, 0.1, 0.5] {
                let exact = composed.delta(epsilon);
                let delta = |loss: f64| (1.0 - exp(epsilon - loss)).max(0.0);
                let few = composed.atoms(100).mean(delta, 1.0);
                let error = if side == Side::Upper { few - exact } else { exact - few };
                assert!((-1e-13..1e-3 * exact + 1e-6).contains(&error), "{side:?} {epsilon}: {few} {exact}");
            }
        }
    }
}
