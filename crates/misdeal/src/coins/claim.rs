//! What is claimed of coins.

use super::{CoinAnalysis, CurveClaim};
use crate::Result;
use crate::privacy_curves::{of_gaussian, of_scheme};
use misdeal_core::{BatchScheme, Error, Setting};
use misdeal_statistics::PrivacyCurve;
use misdeal_theory::gaussian::Gaussian;

/// What is claimed: an epsilon at delta, and a curve with its name.
pub(super) struct Claim {
    pub epsilon: Option<f64>,
    pub curve: Option<(String, PrivacyCurve)>,
}

impl Claim {
    pub fn of(setting: &Setting, analysis: &CoinAnalysis) -> Result<Self> {
        let delta = analysis.analysis.delta;
        let epsilon = analysis.claimed_epsilon;
        let (name, curve) = match &analysis.claimed_curve {
            None if epsilon.is_some() => return Ok(Claim { epsilon, curve: None }),
            None => ("poisson".to_owned(), of_scheme(setting, BatchScheme::Poisson)?),
            Some(CurveClaim::Points(points)) => ("claimed".to_owned(), PrivacyCurve::from_points(points)?),
            Some(CurveClaim::Named(name)) => (name.clone(), named_curve(setting, name, epsilon, delta)?),
        };
        let curve = match epsilon {
            Some(epsilon) => PrivacyCurve::from_points(&[curve.points(), &[[delta, epsilon]]].concat())?,
            None => curve,
        };
        let implied = Some(curve.epsilon(delta)).filter(|epsilon| epsilon.is_finite());
        Ok(Claim { epsilon: epsilon.or(implied), curve: Some((name, curve)) })
    }

    /// Returns the curve to test: the claimed one, or that of a claimed epsilon at delta.
    pub fn tested(self, delta: f64) -> Result<PrivacyCurve> {
        match (self.curve, self.epsilon) {
            (Some((_, curve)), _) => Ok(curve),
            (None, epsilon) => Ok(PrivacyCurve::from_points(&[[delta, epsilon.unwrap_or(f64::INFINITY)]])?),
        }
    }
}

/// Returns the curve that a name stands for.
fn named_curve(setting: &Setting, name: &str, epsilon: Option<f64>, delta: f64) -> Result<PrivacyCurve> {
    let unknown = |hint: &str| {
        let allowed = "the name of a scheme, gaussian, gdp=MU, or points (delta, epsilon)";
        Error::bad_value("claimed_curve", name, allowed, hint)
    };
    if name == "gaussian" {
        let epsilon = epsilon.filter(|epsilon| *epsilon > 0.0 && delta > 0.0);
        let epsilon = epsilon
            .ok_or_else(|| unknown("gaussian is the curve through a claimed epsilon above 0: give it too"))?;
        return of_gaussian(Gaussian::with_epsilon(epsilon, delta).gdp_mu);
    }
    if let Some(mu) = name.strip_prefix("gdp=") {
        let mu = mu.parse::<f64>().ok().filter(|mu| (0.0..=1000.0).contains(mu));
        return of_gaussian(mu.ok_or_else(|| unknown("MU is a number from 0 to 1000"))?);
    }
    let scheme = BatchScheme::from_name(name, setting.scheme.buffer_size())
        .map_err(|_| unknown("poisson is the curve that most accountants compute"))?;
    of_scheme(setting, scheme)
}
