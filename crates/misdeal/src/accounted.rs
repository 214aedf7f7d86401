//! The scheme that theory is asked about, and what theory can say about it.

use crate::Result;
use crate::accounting::AccountSubject;
use misdeal_core::{
    BatchScheme, Bounds, ClosedSet, DeltaBounds, SchemeName, Setting, SideMethod, TradeOffBounds,
};
use misdeal_results::OtherMethod;
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::shuffle_max::LargestOutput;
use misdeal_theory::trade_off::{self, Band};
use misdeal_theory::work::Work;
use misdeal_theory::{account, delta, random_allocation, rdp};

/// Returns the false-positive rates at which curves are given. Small rates are spaced evenly in their logarithm. Large rates
/// mirror them.
pub(crate) fn curve_rates() -> Vec<f64> {
    let small = |i: i32| 10_f64.powf(f64::from(i) / 20.0);
    let half = (-160..=-7).map(small).chain([0.5]);
    let rest: Vec<f64> = (-160..=-7).rev().map(|i| 1.0 - small(i)).collect();
    half.chain(rest).collect()
}

/// Poisson sampling with any probability and number of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PoissonSampling {
    /// The noise multiplier.
    pub noise_multiplier: f64,
    /// The probability that a record is in a given batch.
    pub sampling_probability: f64,
    /// Number of steps in all epochs together.
    pub steps: u64,
}

/// A scheme that theory is asked about.
pub(crate) enum Accounted {
    /// Poisson sampling with any probability.
    Poisson(PoissonSampling),
    /// A scheme with its setting.
    Scheme(Setting),
    /// A scheme whose buffer size is missing.
    NoBuffer,
}

impl AccountSubject<'_> {
    /// Returns the requested schemes with their names.
    pub(crate) fn settings(&self) -> Result<Vec<(SchemeName, Accounted)>> {
        let (setting, scheme, buffer_size) = match self {
            Self::Schemes { setting, scheme, buffer_size, .. } => (setting, *scheme, *buffer_size),
            &Self::Poisson(sampling) => return Ok(vec![(SchemeName::Poisson, Accounted::Poisson(sampling))]),
        };
        let accounted = |scheme| -> Result<Accounted> {
            if scheme == BatchScheme::Poisson {
                return Ok(Accounted::Poisson(self.poisson()?));
            }
            Ok(Accounted::Scheme(Setting { scheme, ..setting.clone() }.validated()?))
        };
        if scheme != "all" {
            let scheme = BatchScheme::from_name(scheme, buffer_size)?;
            return Ok(vec![(scheme.into(), accounted(scheme)?)]);
        }
        let of_name = |&name: &SchemeName| {
            let buffered = BatchScheme::has_buffer(name.name());
            if buffered && buffer_size.is_none() {
                return Ok((name, Accounted::NoBuffer));
            }
            let scheme = BatchScheme::from_name(name.name(), buffer_size.filter(|_| buffered))?;
            Ok((name, accounted(scheme)?))
        };
        SchemeName::all().iter().map(of_name).collect()
    }

    /// Returns the Poisson sampling that a library would assume instead.
    pub(crate) fn poisson(&self) -> Result<PoissonSampling> {
        Ok(match self {
            Self::Schemes { setting, counted, .. } => {
                let setting = Setting { scheme: BatchScheme::Poisson, ..setting.clone() }.validated()?;
                PoissonSampling {
                    noise_multiplier: setting.noise_multiplier,
                    sampling_probability: counted.sampling_probability(),
                    steps: counted.steps,
                }
            }
            Self::Poisson(sampling) => *sampling,
        })
    }
}

impl Accounted {
    pub(crate) fn bounds(&self, delta: f64, work: &Work) -> Result<Bounds> {
        Ok(match self {
            Self::NoBuffer => Bounds::unknown(SideMethod::NoBufferSize),
            Self::Scheme(setting) => account::bounds_within(setting, delta, work)?,
            &Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }) => {
                account::poisson_bounds_within(noise_multiplier, sampling_probability, steps, delta, work)?
            }
        })
    }

    pub(crate) fn delta_bounds(&self, epsilon: f64, work: &Work) -> Result<DeltaBounds> {
        Ok(match self {
            Self::NoBuffer => {
                let method = SideMethod::NoBufferSize.into();
                DeltaBounds { delta_lower_bound: None, delta_upper_bound: None, method }
            }
            Self::Scheme(setting) => delta::bounds_within(setting, epsilon, work)?,
            &Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }) => {
                delta::poisson(noise_multiplier, sampling_probability, steps, epsilon, work)?
            }
        })
    }

    pub(crate) fn trade_off(&self, work: &Work) -> Result<TradeOffBounds> {
        let band = match self {
            Self::NoBuffer => Band { lower: None, upper: None, method: SideMethod::NoBufferSize.into() },
            Self::Scheme(setting) => trade_off::band_within(setting, work)?,
            &Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }) => {
                trade_off::poisson_within(noise_multiplier, sampling_probability, steps, work)?
            }
        };
        Ok(band.at(&curve_rates()))
    }

    /// Returns the results of other methods, and the Gaussian mechanism that leaks as much as `bounds` allow at `delta`.
    pub(crate) fn comparisons(
        &self,
        scheme: SchemeName,
        delta: f64,
        bounds: &Bounds,
        work: &Work,
    ) -> Vec<OtherMethod> {
        let entry = |method: &str, epsilon_lower_bound, epsilon_upper_bound| OtherMethod {
            scheme,
            method: method.into(),
            epsilon_lower_bound,
            epsilon_upper_bound,
            gdp_mu: None,
        };
        let renyi = |noise, probability, steps| {
            let found = rdp::epsilon_upper_bound(noise, probability, steps, delta);
            entry("Renyi divergences", None, Some(found))
        };
        let mut found = match self {
            Self::NoBuffer => return Vec::new(),
            &Self::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps }) => {
                vec![renyi(noise_multiplier, sampling_probability, steps)]
            }
            Self::Scheme(setting) => {
                let (noise, steps, epochs) =
                    (setting.noise_multiplier, setting.steps_per_epoch, setting.epochs);
                match setting.scheme {
                    BatchScheme::Poisson => {
                        vec![renyi(noise, setting.sampling_probability(), setting.steps())]
                    }
                    BatchScheme::BallsInBins => {
                        let found = random_allocation::epsilon_upper_bound(noise, steps, epochs, delta);
                        vec![entry("Renyi divergences (random allocation)", None, Some(found))]
                    }
                    BatchScheme::Shuffle => {
                        let largest = LargestOutput::shuffle(noise, steps);
                        let found = largest.composed_within(epochs, delta, work).ok();
                        vec![entry("largest output (Chua et al.)", found, None)]
                    }
                    _ => Vec::new(),
                }
            }
        };
        if let Some(epsilon) = bounds.epsilon_upper_bound.filter(|epsilon| epsilon.is_finite()) {
            let same = Gaussian::with_epsilon(epsilon, delta);
            found.push(OtherMethod {
                gdp_mu: Some(same.gdp_mu),
                ..entry("Gaussian mechanism with the same epsilon at most", None, Some(epsilon))
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_given_at_ascending_rates_between_0_and_1() {
        let rates = curve_rates();
        assert!(rates.is_sorted_by(|a, b| a < b) && rates[0] <= 1e-8 && rates[rates.len() - 1] < 1.0);
    }
}
