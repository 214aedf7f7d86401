//! Trade-off curves that are claimed as a whole.

use crate::Result;
use crate::privacy_curves::{of_gaussian, of_scheme};
use misdeal_core::{BatchScheme, ClosedSet, Error, SchemeName, Setting, normal, path_text};
use misdeal_files::text;
use misdeal_statistics::PrivacyCurve;
use misdeal_theory::gaussian::Gaussian;
use std::path::Path;

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
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimedCurve {
    /// The curve of Poisson sampling at the audited setting.
    Poisson,
    /// The curve of another scheme at the audited setting.
    Scheme(SchemeName),
    /// The Gaussian curve with parameter mu.
    Gaussian {
        /// The distance between the two worlds, in standard deviations.
        gdp_mu: f64,
    },
    /// The Gaussian curve through the claimed (epsilon, delta).
    ThroughTheClaim,
    /// Points (delta, epsilon), as an accountant gives them.
    Points(PrivacyCurve),
}

impl ClaimedCurve {
    /// Reads a scheme's name, `gaussian`, `gdp=MU`, or the name of a CSV file with the columns delta and epsilon.
    ///
    /// # Errors
    /// The text is none of these, or the file cannot be read.
    pub fn parse(text: &str) -> Result<Self> {
        if text.to_ascii_lowercase().ends_with(".csv") {
            return read_points(Path::new(text));
        }
        if text == "gaussian" {
            return Ok(Self::ThroughTheClaim);
        }
        match SchemeName::from_name(text) {
            Ok(SchemeName::Poisson) => return Ok(Self::Poisson),
            Ok(scheme) => return Ok(Self::Scheme(scheme)),
            Err(_) => {}
        }
        let mu = text.strip_prefix("gdp=").and_then(|mu| mu.parse::<f64>().ok());
        let mu = mu.filter(|mu| (0.0..=1000.0).contains(mu)).ok_or_else(|| {
            let hint = "poisson is the curve of Poisson sampling at this setting, gdp=1.2 the Gaussian curve of mu 1.2";
            let allowed = "a scheme such as poisson, gaussian, gdp=MU with MU from 0 to 1000, or a CSV file";
            Error::bad_value("claimed_curve", text, allowed, hint)
        })?;
        Ok(Self::Gaussian { gdp_mu: mu })
    }

    /// Returns the curve's name in reports.
    pub fn name(&self) -> String {
        match self {
            Self::Poisson => "poisson".into(),
            Self::Scheme(scheme) => scheme.name().into(),
            Self::Gaussian { gdp_mu } => format!("gdp={gdp_mu}"),
            Self::ThroughTheClaim => "gaussian".into(),
            Self::Points(_) => "claimed".into(),
        }
    }

    /// Returns what the curve promises, at a setting and with a claimed epsilon at `delta`, if there are any.
    ///
    /// # Errors
    /// The curve needs a setting, a claimed epsilon or a proof that do not exist.
    pub(crate) fn promised(
        &self,
        setting: Option<&Setting>,
        epsilon: Option<f64>,
        delta: f64,
    ) -> Result<PrivacyCurve> {
        let refused =
            |allowed: &str, hint: &str| Error::bad_value("claimed_curve", self.name(), allowed, hint);
        match self {
            Self::Points(curve) => Ok(curve.clone()),
            Self::Gaussian { gdp_mu } => of_gaussian(*gdp_mu),
            Self::ThroughTheClaim => of_gaussian(self.gdp_mu(epsilon, delta)?),
            Self::Poisson | Self::Scheme(_) => {
                let setting = setting.ok_or_else(|| {
                    let hint = "scores from files have no setting whose curve could be tested";
                    refused("gaussian, gdp=MU or a CSV file", hint)
                })?;
                let scheme = BatchScheme::from_name(&self.name(), setting.scheme.buffer_size());
                let hint = "the setting has no buffer";
                of_scheme(setting, scheme.map_err(|_| refused("a scheme without a buffer", hint))?)
            }
        }
    }

    /// Returns the parameter of a Gaussian curve.
    ///
    /// # Errors
    /// The curve goes through the claim, but nothing is claimed.
    fn gdp_mu(&self, epsilon: Option<f64>, delta: f64) -> Result<f64> {
        if let Self::Gaussian { gdp_mu } = self {
            return Ok(*gdp_mu);
        }
        let epsilon = epsilon.filter(|epsilon| *epsilon > 0.0 && delta > 0.0).ok_or_else(|| {
            let hint = "gaussian is the curve through a claimed epsilon above 0, which must be given too";
            Error::bad_value("claimed_curve", self.name(), "gaussian with `claimed_epsilon`", hint)
        })?;
        Ok(Gaussian::with_epsilon(epsilon, delta).gdp_mu)
    }
}

/// Reads points (delta, epsilon) from a file with two columns, with or without names above them.
fn read_points(path: &Path) -> Result<ClaimedCurve> {
    let lines = text::read(path)?;
    let mut points = Vec::new();
    for (number, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells: Vec<Option<f64>> = line.split(',').map(|cell| cell.trim().parse().ok()).collect();
        match cells[..] {
            [Some(delta), Some(epsilon)] => points.push([delta, epsilon]),
            [None, None] if number == 0 => {}
            _ => {
                let value = format!("line {} of {}", number + 1, path_text(path));
                let hint = "an example is 1e-5,2.87";
                return Err(Error::bad_value(
                    "claimed_curve",
                    value,
                    "a delta, a comma and an epsilon",
                    hint,
                )
                .into());
            }
        }
    }
    if points.is_empty() {
        let hint = "each line is a delta, a comma and an epsilon";
        return Err(Error::bad_value(
            "claimed_curve",
            path_text(path),
            "a file with at least one point",
            hint,
        )
        .into());
    }
    Ok(ClaimedCurve::Points(PrivacyCurve::from_points(&points)?))
}

/// Returns f(x) = Phi(Phi^-1(1 - x) - mu), the Gaussian trade-off curve.
pub(crate) fn gaussian(gdp_mu: f64, false_positive_rate: f64) -> f64 {
    match false_positive_rate {
        rate if rate <= 0.0 => 1.0,
        rate if rate >= 1.0 => 0.0,
        rate => normal::cdf(-normal::quantile(rate) - gdp_mu),
    }
}
