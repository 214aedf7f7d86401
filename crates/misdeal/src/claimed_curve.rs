//! Trade-off curves that are claimed as a whole.

use crate::Result;
use misdeal_core::{Error, normal};

/// A claimed trade-off curve, beyond the one point of a claimed (epsilon, delta).
///
/// An (epsilon, delta) claim implies only its own curve of two straight lines. A Gaussian curve through that point, or the curve
/// of Poisson sampling, is tested only if it is claimed explicitly.
///
/// ```
/// use misdeal::ClaimedCurve;
/// assert_eq!(ClaimedCurve::parse("gdp=0.5")?, ClaimedCurve::Gaussian { gdp_mu: 0.5 });
/// # Ok::<(), misdeal::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClaimedCurve {
    /// The curve of Poisson sampling at the audited setting.
    Poisson,
    /// The Gaussian curve with parameter mu.
    Gaussian {
        /// The distance between the two worlds, in standard deviations.
        gdp_mu: f64,
    },
}

impl ClaimedCurve {
    /// Reads `poisson` or `gdp=MU`.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "poisson" {
            return Ok(Self::Poisson);
        }
        let mu = text.strip_prefix("gdp=").and_then(|mu| mu.parse::<f64>().ok());
        let mu = mu.filter(|mu| (0.0..=1000.0).contains(mu)).ok_or_else(|| {
            let hint = "poisson is the curve of Poisson sampling at this setting, gdp=1.2 the Gaussian curve of mu 1.2";
            Error::bad_value("claimed_curve", text, "poisson, or gdp=MU with MU from 0 to 1000", hint)
        })?;
        Ok(Self::Gaussian { gdp_mu: mu })
    }
}

/// Returns f(x) = Phi(Phi^-1(1 - x) - mu), the Gaussian trade-off curve.
pub(crate) fn gaussian(gdp_mu: f64, false_positive_rate: f64) -> f64 {
    match false_positive_rate {
        rate if rate <= 0.0 => 1.0,
        rate if rate >= 1.0 => 0.0,
        rate => normal::cdf(-normal::quantile(rate) - gdp_mu),
    }
}
