//! The trade-off curve of a scheme: the smallest false-negative rate of any test at each false-positive rate.
//!
//! A curve says more than one pair (epsilon, delta): a claim about a scheme is a claim about its whole curve (Dong,
//! Roth and Su 2022). A false positive is a prediction `In` although the target was zeroed out. The reverse pair has
//! the inverse curve. Proof and known gaps: `docs/proofs/delta-and-curves.md`.

use crate::gaussian::Gaussian;
use crate::pairs::{EpochLaws, ShiftPair, Target};
use crate::pld::{Aim, LossGrid, Side};
use crate::poisson::SubsampledGaussian;
use crate::scheme_facts::{LowerBounds, SchemeFacts};
use crate::work::{MOST_POINTS_KEPT, OutOfReach, Work};
use misdeal_core::{Adjacency, BatchScheme, BoundMethod, Result, Setting, SideMethod, TradeOffBounds};

/// The laws of exact pairs are accurate down to this delta.
const SHARP_DELTA: f64 = 1e-8;
/// The relative width of the band at which Poisson's grid is fine enough.
const BAND: f64 = 2e-3;
const FIRST_POINTS: f64 = 4e3;
const MOST_POINTS: f64 = 3e5;
/// The fewest points of a grid, if the first grid is out of reach.
const FEWEST_POINTS: f64 = 150.0;
/// The units of work for each point of a step's grid, and for each corner of a curve.
const PER_POINT: f64 = 400.0;
const PER_CORNER: f64 = 50.0;
/// The share of the work for one epoch's laws. The rest is for composing them.
const FOR_LAWS: f64 = 0.75;

/// One side of a trade-off curve.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// The corners from (0, 1) to (1, 0) by ascending false-positive rate, joined by straight lines.
    Corners(Vec<[f64; 2]>),
    /// The Gaussian pair's curve in closed form, rounded to a side.
    Gaussian(Gaussian, Side),
}

impl Curve {
    /// The false-negative rate at `false_positive_rate`.
    pub fn false_negative_rate(&self, false_positive_rate: f64) -> f64 {
        let corners = match self {
            Self::Gaussian(pair, side) => return closed_form(*pair, *side, false_positive_rate),
            Self::Corners(corners) => corners,
        };
        let after = corners.partition_point(|corner| corner[0] < false_positive_rate);
        let Some(&[x, y]) = corners.get(after) else { return 0.0 };
        let Some(&[x0, y0]) = after.checked_sub(1).and_then(|i| corners.get(i)) else { return y };
        y0 + (y - y0) * (false_positive_rate - x0) / (x - x0)
    }
}

/// The closed form, rounded to the safe side for a law of this side.
///
/// It is rounded down for [`Side::Upper`], whose pair leaks more.
///
/// The argument, a quantile and mu, has an error below `ARGUMENT_ERROR` (quantiles are below 40). The distribution
/// function at the argument has an error of 4 units in the last place.
fn closed_form(pair: Gaussian, side: Side, false_positive_rate: f64) -> f64 {
    const ARGUMENT_ERROR: f64 = 2e-13;
    const LAST_BITS: f64 = 4.0 * f64::EPSILON;
    let Gaussian { gdp_mu } = pair;
    let away = ARGUMENT_ERROR + LAST_BITS * gdp_mu;
    let rate = |gdp_mu: f64| Gaussian { gdp_mu }.false_negative_rate(false_positive_rate);
    match side {
        Side::Upper => rate(gdp_mu + away) * (1.0 - LAST_BITS),
        // A rate that underflows is not zero.
        Side::Lower if false_positive_rate < 1.0 => {
            (rate((gdp_mu - away).max(0.0)) * (1.0 + LAST_BITS)).clamp(f64::MIN_POSITIVE, 1.0)
        }
        Side::Lower => 0.0,
    }
}

/// The certified band around a scheme's curve. See [what certified means](crate#what-certified-means).
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The lower curve, never above the scheme's: what a claim promises.
    pub lower: Option<Curve>,
    /// The upper curve, never below the scheme's: some test reaches it.
    pub upper: Option<Curve>,
    /// How the two sides were computed.
    pub method: BoundMethod,
}

impl Band {
    /// Both sides at the given rates.
    pub fn at(&self, false_positive_rates: &[f64]) -> TradeOffBounds {
        let values = |curve: &Curve| {
            false_positive_rates.iter().map(|&rate| curve.false_negative_rate(rate)).collect()
        };
        TradeOffBounds {
            false_positive_rates: false_positive_rates.to_vec(),
            false_negative_rate_lower_bounds: self.lower.as_ref().map(values),
            false_negative_rate_upper_bounds: self.upper.as_ref().map(values),
            method: self.method.clone(),
        }
    }
}

/// The band around the trade-off curve of a setting's scheme.
///
/// ```
/// use misdeal_core::{BatchScheme, Setting};
/// let poisson = Setting { scheme: BatchScheme::Poisson, ..Setting::default() };
/// let band = misdeal_theory::trade_off::band(&poisson)?;
/// let promised = band.lower.unwrap().false_negative_rate(0.01);
/// assert!(0.9 < promised && promised <= 0.99);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// The accountants refuse the setting.
pub fn band(setting: &Setting) -> Result<Band> {
    band_within(setting, &Work::default())
}

/// The band as in [`band`], within the rest of `work`. If that is too little, the band is wider or a side is `None`.
///
/// # Errors
/// The accountants refuse the setting.
pub fn band_within(setting: &Setting, work: &Work) -> Result<Band> {
    let (noise, epochs) = (setting.noise_multiplier, setting.epochs);
    if setting.adjacency != Adjacency::ZeroOut {
        return Ok(Band { lower: None, upper: None, method: SideMethod::OtherAdjacencyOfCurve.into() });
    }
    let pair = Gaussian::fixed_order(noise, epochs);
    let fixed_order = Curve::Gaussian(pair, Side::Upper);
    Ok(match SchemeFacts::of(setting)? {
        SchemeFacts::FixedOrder => {
            let upper = Some(Curve::Gaussian(pair, Side::Lower));
            Band { lower: Some(fixed_order), upper, method: SideMethod::ClosedForm.into() }
        }
        SchemeFacts::Poisson => poisson_within(noise, setting.sampling_probability(), setting.steps(), work)?,
        SchemeFacts::DominatingPair(pair) => match of_pair(&pair, epochs, work) {
            Ok([lower, upper]) => {
                Band { lower: Some(lower), upper: Some(upper), method: SideMethod::DominatingPair.into() }
            }
            Err(OutOfReach) => {
                Band { lower: Some(fixed_order), upper: None, method: SideMethod::HowGoodIsOutOfReach.into() }
            }
        },
        SchemeFacts::OnceAnEpoch(LowerBounds { pair: Some(pair), epochs, .. }) => {
            match of_pair(&pair, epochs, work) {
                Ok([_, upper]) => Band {
                    lower: Some(fixed_order),
                    upper: Some(upper),
                    method: SideMethod::SomeTestsAsGood.into(),
                },
                Err(OutOfReach) => Band {
                    lower: Some(fixed_order),
                    upper: None,
                    method: SideMethod::HowGoodIsOutOfReach.into(),
                },
            }
        }
        SchemeFacts::OnceAnEpoch(LowerBounds { pair: None, .. }) => {
            Band { lower: Some(fixed_order), upper: None, method: SideMethod::NoTestBetter.into() }
        }
        SchemeFacts::Subsets => {
            let poisson = band_within(&Setting { scheme: BatchScheme::Poisson, ..setting.clone() }, work)?;
            let method = match poisson.upper {
                Some(_) => SideMethod::PoissonsAboveAlone.into(),
                None => poisson.method,
            };
            Band { lower: None, method, ..poisson }
        }
    })
}

/// The band of Poisson sampling with any probability.
///
/// # Errors
/// An argument is out of range.
pub fn poisson_within(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    work: &Work,
) -> Result<Band> {
    let pair = SubsampledGaussian::new(noise_multiplier, sampling_probability)?;
    let band = |[lower, upper]: [Curve; 2]| Band {
        lower: Some(lower),
        upper: Some(upper),
        method: SideMethod::PrivacyLoss.into(),
    };
    if sampling_probability >= 1.0 {
        let all = Gaussian::fixed_order(noise_multiplier, steps);
        return Ok(band([Side::Upper, Side::Lower].map(|side| Curve::Gaussian(all, side))));
    }
    let mut points = FIRST_POINTS;
    let mut found = None;
    loop {
        let curves = work.charge(PER_POINT * points).and_then(|()| {
            let [pessimistic, optimistic] = pair.discretised(points, SHARP_DELTA / steps as f64);
            Ok([composed(&pessimistic, steps, work)?, composed(&optimistic, steps, work)?])
        });
        match (curves, found) {
            (Ok(curves), _) if points >= MOST_POINTS || is_narrow(&curves) => return Ok(band(curves)),
            (Ok(curves), _) => {
                found = Some(curves);
                points *= 3.0;
            }
            // The previous grid was the finest affordable one.
            (Err(OutOfReach), Some(curves)) => return Ok(band(curves)),
            (Err(OutOfReach), None) if points > FEWEST_POINTS => {
                points /= 3.0;
                found = None;
            }
            (Err(OutOfReach), None) => {
                return Ok(Band { lower: None, upper: None, method: SideMethod::OutOfReach.into() });
            }
        }
    }
}

/// The curve of a pair of the shuffling family, from below and from above.
fn of_pair(pair: &ShiftPair, epochs: u64, work: &Work) -> std::result::Result<[Curve; 2], OutOfReach> {
    let target = Target { epochs, delta: SHARP_DELTA };
    let laws = work.part(FOR_LAWS * work.left(), |work| EpochLaws::within(pair, target, work))?;
    Ok([composed(&laws.upper.forward, epochs, work)?, composed(&laws.lower.forward, epochs, work)?])
}

fn composed(law: &LossGrid, times: u64, work: &Work) -> std::result::Result<Curve, OutOfReach> {
    let sum = law.compose_on(times, Aim::Whole, MOST_POINTS_KEPT, work)?;
    work.charge(PER_CORNER * sum.points() as f64)?;
    Ok(Curve::Corners(sum.untilted().trade_off_curve()))
}

/// Whether the two curves are close at all rates that an audit uses.
fn is_narrow([lower, upper]: &[Curve; 2]) -> bool {
    [1e-6, 1e-4, 1e-2, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99].into_iter().all(|rate| {
        let (least, most) = (lower.false_negative_rate(rate), upper.false_negative_rate(rate));
        // If both are small, the detected share is as small as the rate.
        most - least <= BAND * least.min(1.0 - least).max(1e-9)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{BatchScheme, normal};

    fn setting(scheme: BatchScheme, steps_per_epoch: u64) -> Setting {
        Setting { scheme, steps_per_epoch, ..Setting::default() }
    }

    /// One step of Poisson sampling. The best test rejects large outputs, and both of its errors are known.
    #[test]
    fn one_poisson_step_in_closed_form() {
        let (noise, q) = (0.8, 0.3);
        let band = poisson_within(noise, q, 1, &Work::default()).unwrap();
        let [lower, upper] = [band.lower.unwrap(), band.upper.unwrap()];
        for i in 1..40 {
            let threshold = f64::from(i) * 0.1 - 1.0;
            let rate = normal::cdf(-threshold / noise);
            let exact =
                (1.0 - q) * normal::cdf(threshold / noise) + q * normal::cdf((threshold - 1.0) / noise);
            let (least, most) = (lower.false_negative_rate(rate), upper.false_negative_rate(rate));
            assert!(least <= exact + 1e-12 && exact <= most + 1e-12, "{threshold}: {least} {exact} {most}");
            assert!(most - least < 1e-3, "{threshold}: {least} {most}");
        }
    }

    /// A curve and the divergences of its pair are equivalent: delta(e) = max over rates of 1 - f(x) - e^e x.
    #[test]
    fn agrees_with_epsilon() {
        for scheme in
            [BatchScheme::Poisson, BatchScheme::Shuffle, BatchScheme::BallsInBins, BatchScheme::FixedOrder]
        {
            let setting = setting(scheme, 20);
            let band = band(&setting).unwrap();
            let delta = |curve: &Curve, epsilon: f64| {
                let at = |i: i32| {
                    let rate = 10_f64.powf(-f64::from(i) / 100.0);
                    1.0 - curve.false_negative_rate(rate) - epsilon.exp() * rate
                };
                (0..1000).map(at).fold(0.0, f64::max)
            };
            let epsilon = 0.7;
            let found = crate::delta::bounds(&setting, epsilon).unwrap();
            let from_lower = delta(&band.lower.unwrap(), epsilon);
            let from_upper = delta(&band.upper.unwrap(), epsilon);
            assert!(
                (from_lower / found.delta_upper_bound.unwrap() - 1.0).abs() < 0.01,
                "{scheme}: {from_lower} {found:?}"
            );
            assert!(
                (from_upper / found.delta_lower_bound.unwrap() - 1.0).abs() < 0.01,
                "{scheme}: {from_upper} {found:?}"
            );
        }
    }

    /// Exact values from mpmath at 40 digits lie between both sides of the closed form. Earlier code had one number for
    /// both sides.
    #[test]
    fn the_closed_form_is_rounded_to_both_sides() {
        for (noise, epochs, rate, exact) in [
            (1.0, 1, 1e-08, 0.99999800594696403449),
            (1.0, 1, 0.01, 0.90763775192630606285),
            (1.0, 1, 0.5, 0.15865525393145705141),
            (1.0, 1, 0.99, 0.00043996018047378640319),
            (0.02, 1, 0.5, 0.0), // 1.08e-545
            (0.3, 4, 1e-08, 0.14578918557630172802),
            (0.3, 4, 0.01, 7.113807727229774111e-6),
            (0.3, 4, 0.5, 1.3083924686053003125e-11),
            (0.3, 4, 0.99, 1.2027020738675839688e-19),
            (1000.0, 1, 1e-08, 0.99999998994203406749),
            (1000.0, 1, 0.01, 0.98997331683711539439),
            (1000.0, 1, 0.5, 0.49960105778608893742),
            (1000.0, 1, 0.99, 0.0099733788392822189938),
        ] {
            let pair = Gaussian::fixed_order(noise, epochs);
            let [least, most] =
                [Side::Upper, Side::Lower].map(|side| Curve::Gaussian(pair, side).false_negative_rate(rate));
            assert!(least <= exact && exact < most, "{noise} {epochs} {rate}: {least} {exact} {most}");
            assert!(
                most - least <= 1e-11 * most + f64::MIN_POSITIVE,
                "{noise} {epochs} {rate}: {least} {most}"
            );
        }
    }

    #[test]
    fn bands_are_ordered_for_every_scheme() {
        let noises = [0.04, 1.0];
        let all = BatchScheme::NAMES.iter().flat_map(|name| noises.map(|noise| (*name, noise)));
        for (name, noise_multiplier) in all {
            let buffer = BatchScheme::has_buffer(name).then_some(300);
            let scheme = BatchScheme::from_name(name, buffer).unwrap();
            let band = band(&Setting { noise_multiplier, ..setting(scheme, 10) }).unwrap();
            let (Some(lower), Some(upper)) = (band.lower, band.upper) else { continue };
            for i in 0..=100 {
                let rate = f64::from(i) / 100.0;
                let (least, most) = (lower.false_negative_rate(rate), upper.false_negative_rate(rate));
                assert!(
                    (0.0..=1.0).contains(&least) && least <= most + 1e-12 && most <= 1.0,
                    "{name} {rate}: {least} {most}"
                );
                assert!(most <= 1.0 - rate + 1e-9, "{name} {rate}: guessing does better than {most}");
            }
        }
    }
}
