//! What is claimed of coins.

use super::{CoinAnalysis, CurveClaim};
use crate::privacy_curves::of_scheme;
use crate::{ClaimedCurve, Result};
use misdeal_core::{BatchScheme, Setting};
use misdeal_statistics::PrivacyCurve;

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
            Some(CurveClaim::Named(name)) => {
                let claimed = ClaimedCurve::parse(name)?;
                (claimed.name(), claimed.promised(Some(setting), epsilon, delta)?)
            }
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
