//! Claimed curves by their points, from theory, from the Gaussian mechanism or as given.

use crate::Result;
use misdeal_core::{BatchScheme, Error, Setting};
use misdeal_statistics::PrivacyCurve;
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::trade_off::{self, Curve};
use misdeal_theory::work::{COMMAND, Work};

/// The deltas at which theory's curves are claimed. Between them nothing is claimed, which only helps the accused.
pub(crate) const DELTAS: [f64; 32] = [
    1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.07, 0.09, 0.12,
    0.15, 0.18, 0.21, 0.24, 0.27, 0.3, 0.33, 0.36, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
];

/// Returns the curve that theory promises for `scheme` at the setting's noise and steps, in the worse direction.
///
/// # Errors
/// Theory has no such curve.
pub(crate) fn of_scheme(setting: &Setting, scheme: BatchScheme) -> Result<PrivacyCurve> {
    let setting = Setting { scheme, ..setting.clone() };
    let band = trade_off::band_within(&setting, &Work::of(0.4 * COMMAND))?;
    let points: Vec<[f64; 2]> = match band.lower {
        Some(Curve::Corners(corners)) => {
            DELTAS.iter().map(|&delta| [delta, epsilon_of(&corners, delta)]).collect()
        }
        Some(Curve::Gaussian(pair, _)) => return of_gaussian(pair.gdp_mu),
        None => {
            let hint = "no upper bound is known for it; give the points of the curve";
            return Err(Error::bad_value(
                "claimed_curve",
                scheme.name(),
                "a scheme with a proven curve",
                hint,
            )
            .into());
        }
    };
    Ok(PrivacyCurve::from_points(&points)?)
}

/// Returns the curve of the Gaussian mechanism.
pub(crate) fn of_gaussian(gdp_mu: f64) -> Result<PrivacyCurve> {
    let points = DELTAS.map(|delta| [delta, Gaussian { gdp_mu }.epsilon_upper_bound(delta)]);
    Ok(PrivacyCurve::from_points(&points)?)
}

/// The smallest epsilon with P <= e^epsilon Q + delta and Q <= e^epsilon P + delta at every corner of a trade-off curve.
fn epsilon_of(corners: &[[f64; 2]], delta: f64) -> f64 {
    let needed = |[x, y]: [f64; 2]| if 1.0 - y > delta { libm::log((1.0 - y - delta) / x) } else { 0.0 };
    corners.iter().map(|&[x, y]| needed([x, y]).max(needed([y, x]))).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the setting that the guide quotes: noise 0.8, 117 steps, 10 epochs.
    #[test]
    fn poissons_curve_has_its_known_points() {
        let setting =
            Setting { noise_multiplier: 0.8, steps_per_epoch: 117, epochs: 10, ..Setting::default() };
        let curve = of_scheme(&setting, BatchScheme::Poisson).unwrap();
        for (delta, epsilon) in
            [(1e-6, 3.39), (1e-5, 2.87), (1e-4, 2.33), (1e-3, 1.78), (0.01, 1.16), (0.05, 0.64)]
        {
            assert!((curve.epsilon(delta) - epsilon).abs() < 0.01, "{delta}: {}", curve.epsilon(delta));
        }
        assert!((curve.total_variation() - 0.214).abs() < 0.002, "{}", curve.total_variation());
    }

    #[test]
    fn a_gaussian_curve_is_its_own() {
        let curve = of_gaussian(1.0).unwrap();
        let exact = 2.0 * misdeal_core::normal::cdf(0.5) - 1.0;
        assert!((curve.total_variation() - exact).abs() < 6e-3 && curve.total_variation() >= exact - 1e-9);
        let setting = Setting { noise_multiplier: 1.0, epochs: 1, ..Setting::default() };
        let fixed = of_scheme(&setting, BatchScheme::FixedOrder).unwrap();
        assert!((fixed.total_variation() - curve.total_variation()).abs() < 1e-6);
    }
}
