//! Compares the observed trade-off curve with the promised ones, and tests each claimed one.

use crate::Result;
use crate::accounted::curve_rates;
use crate::claimed_curve::{ClaimedCurve, gaussian};
use crate::standing::Standing;
use misdeal_core::{BatchScheme, ScoreStore, Setting};
use misdeal_results::{PromisedCurve, TradeOff};
use misdeal_statistics::{
    CurveTest, TradeOffEstimate, claimed_curve, test_curve, test_curve_on_scores, trade_off_from_scores,
};
use misdeal_theory::trade_off::{self, Curve};
use misdeal_theory::work::{COMMAND, Work};

/// Scores in a store or in arrays.
pub(crate) enum Observed<'a> {
    Store(&'a ScoreStore),
    Scores { scores_in: &'a [f64], scores_out: &'a [f64] },
}

impl Observed<'_> {
    fn trade_off(&self, significance: f64) -> misdeal_core::Result<TradeOffEstimate> {
        match *self {
            Self::Store(store) => misdeal_statistics::trade_off(store, significance),
            Self::Scores { scores_in, scores_out } => {
                trade_off_from_scores(scores_in, scores_out, significance)
            }
        }
    }

    fn test(
        &self,
        curve: misdeal_statistics::CurveFunction<'_>,
        significance: f64,
    ) -> misdeal_core::Result<CurveTest> {
        match *self {
            Self::Store(store) => test_curve(store, curve, significance),
            Self::Scores { scores_in, scores_out } => {
                test_curve_on_scores(scores_in, scores_out, curve, significance)
            }
        }
    }
}

/// A trade-off curve, and whether it is claimed.
struct Promise {
    name: String,
    curve: Box<dyn Fn(f64) -> f64 + Sync>,
    /// Rates at which the curve is not smooth. Without these points, the drawn curve would lie above the true one.
    corners: Vec<f64>,
    is_claim: bool,
}

impl Promise {
    /// Returns the false-positive rates at which the curve is reported, ascending, with its corners.
    fn rates(&self) -> Vec<f64> {
        let mut rates = curve_rates();
        rates.extend(self.corners.iter().filter(|corner| (0.0..=1.0).contains(*corner)));
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        rates
    }
}

/// Tests the claimed curves: that of the claimed (epsilon, delta), and the curve claimed as a whole.
///
/// Two more curves are reported without a test. One is the curve of Poisson sampling. The other is a curve that some test on the
/// setting's scheme is known to reach.
///
/// Tests and bounds use the scores' share of the significance. So they hold whenever a confidence sequence ended, and however a
/// guess was picked. If no test holds for the scores, they are reported without a test.
///
/// # Errors
/// The curve of Poisson sampling is claimed for scores without a setting.
pub(crate) fn trade_off_report(
    observed: &Observed<'_>,
    setting: Option<&Setting>,
    claim: (Option<f64>, Option<&ClaimedCurve>),
    delta: f64,
    significance: f64,
    standing: &Standing,
) -> Result<TradeOff> {
    let (claimed_epsilon, claimed_curve) = claim;
    let mut promises = Vec::new();
    match (setting, claimed_curve) {
        (Some(setting), curve) => {
            promises.extend(of_setting(setting, curve == Some(&ClaimedCurve::Poisson))?);
        }
        (None, Some(curve @ ClaimedCurve::Poisson)) => drop(curve.promised(None, claimed_epsilon, delta)?),
        (None, _) => {}
    }
    if let Some(epsilon) = claimed_epsilon {
        promises.push(Promise {
            name: format!("({epsilon:.4}, {delta:e})-DP"),
            curve: Box::new(move |rate| claimed_curve::of_epsilon(epsilon, delta, rate)),
            corners: claimed_curve::corners_of_epsilon(epsilon, delta).into(),
            is_claim: true,
        });
    }
    match claimed_curve {
        Some(&ClaimedCurve::Gaussian { gdp_mu }) => promises.push(Promise {
            name: format!("{gdp_mu:.4}-GDP"),
            curve: Box::new(move |rate| gaussian(gdp_mu, rate)),
            corners: Vec::new(),
            is_claim: true,
        }),
        None | Some(ClaimedCurve::Poisson) => {}
        Some(other) => {
            let curve = other.promised(setting, claimed_epsilon, delta)?;
            promises.push(Promise {
                name: other.name(),
                corners: curve.corners().collect(),
                curve: Box::new(move |rate| curve.false_negative_rate(rate)),
                is_claim: true,
            });
        }
    }
    let promised = promises.into_iter().map(|promise| {
        let false_positive_rates = promise.rates();
        let Promise { name, curve, is_claim, .. } = promise;
        let false_negative_rates = false_positive_rates.iter().map(|&rate| curve(rate)).collect();
        let test = match *standing {
            Standing::Share(share) if is_claim => {
                Some(observed.test(&*curve, significance)?.at_share(share, significance))
            }
            _ => None,
        };
        Ok(PromisedCurve { name, false_positive_rates, false_negative_rates, test })
    });
    Ok(TradeOff {
        observed: observed.trade_off(standing.share() * significance)?,
        promised: promised.collect::<Result<_>>()?,
        not_tested: standing.objection().map(str::to_owned),
    })
}

/// Units of work that curves may take beside an audit's bounds.
pub(crate) const WORK_FOR_CURVES: f64 = 0.4 * COMMAND;

/// Returns Poisson's promise, and what is known about the scheme that runs.
fn of_setting(setting: &Setting, claims_poisson: bool) -> Result<Vec<Promise>> {
    let boxed = |curve: Curve| Box::new(move |rate: f64| curve.false_negative_rate(rate)) as Box<_>;
    let mut promises = Vec::new();
    let work = Work::of(WORK_FOR_CURVES);
    let poisson = Setting { scheme: BatchScheme::Poisson, ..setting.clone() };
    let band = work.part(0.5 * work.left(), |work| trade_off::band_within(&poisson, work))?;
    if let Some(lower) = band.lower {
        promises.push(Promise {
            name: "Poisson sampling".into(),
            curve: boxed(lower),
            corners: Vec::new(),
            is_claim: claims_poisson,
        });
    }
    if setting.scheme != BatchScheme::Poisson
        && let Some(upper) = trade_off::band_within(setting, &work)?.upper
    {
        promises.push(Promise {
            name: format!("{}, known", setting.scheme),
            curve: boxed(upper),
            corners: Vec::new(),
            is_claim: false,
        });
    }
    Ok(promises)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_of_epsilon_is_given_at_its_corners() {
        let scores = |shift: f64| -> Vec<f64> { (0..200).map(|i| f64::from(i) + shift).collect() };
        let (scores_in, scores_out) = (scores(50.0), scores(0.0));
        let observed = Observed::Scores { scores_in: &scores_in, scores_out: &scores_out };
        let (epsilon, delta) = (1.0_f64, 1e-5);
        let report =
            trade_off_report(&observed, None, (Some(epsilon), None), delta, 0.05, &Standing::ALONE).unwrap();
        let curve = &report.promised[0];
        assert!(curve.false_positive_rates.is_sorted_by(|a, b| a < b));
        let corner = (1.0 - delta) / (1.0 + epsilon.exp());
        let at = curve.points().find(|[x, _]| (x - corner).abs() < 1e-12).unwrap();
        assert!((at[1] - corner).abs() < 1e-12, "the curve is symmetric: {at:?}");
        // Drawn straight from point to point it is the promise itself.
        for pair in curve.points().collect::<Vec<_>>().windows(2) {
            let middle = [0, 1].map(|i| 0.5 * (pair[0][i] + pair[1][i]));
            assert!(
                (middle[1] - claimed_curve::of_epsilon(epsilon, delta, middle[0])).abs() < 1e-12,
                "{pair:?}"
            );
        }
    }
}
