//! Bounds on a setting's epsilon, through one function for all accountants.
//!
//! Proofs: `docs/proofs/overview.md`.

use crate::gaussian::Gaussian;
use crate::pairs::{self, Target};
use crate::pld::Side;
use crate::poisson::Interval;
use crate::revealed_uses::RevealedUses;
use crate::scheme_facts::{LowerBounds, SchemeFacts};
use crate::subsets::{self, Subset};
use crate::work::Work;
use crate::{check_delta, poisson, rdp};
use misdeal_core::{Adjacency, BatchScheme, BoundMethod, Bounds, Result, Setting, SideMethod};

/// Bounds on the epsilon of a setting's scheme at `delta`, for all adversaries and zero-out neighbours.
///
/// The setting's threat model and seed have no effect. The target matters only for buffered schemes, whose lower bound
/// is for that record.
///
/// A lower bound is never too large, and an upper bound is never too small. A side that is not proven is `None`.
///
/// ```
/// use misdeal_core::{BatchScheme, Setting};
/// let shuffle = misdeal_theory::account::bounds(&Setting::default(), 1e-5)?;
/// let poisson = Setting { scheme: BatchScheme::Poisson, ..Setting::default() };
/// let poisson = misdeal_theory::account::bounds(&poisson, 1e-5)?;
/// assert!(shuffle.epsilon_lower_bound > poisson.epsilon_upper_bound); // 4.06 against 0.718
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// `delta` is not between 0 and 1.
pub fn bounds(setting: &Setting, delta: f64) -> Result<Bounds> {
    bounds_within(setting, delta, &Work::default())
}

/// Bounds as in [`bounds`], within the rest of `work`. If that is too little, bounds are wider or `None`.
///
/// Bounds in closed form are always returned.
///
/// # Errors
/// `delta` is not between 0 and 1.
pub fn bounds_within(setting: &Setting, delta: f64, work: &Work) -> Result<Bounds> {
    BoundsRequest { setting, known: &SchemeFacts::of(setting)?, side: None }.bounds(delta, work)
}

/// One side of [`bounds_within`], which may cost far less. The other side is `None` unless it is free.
///
/// # Errors
/// `delta` is not between 0 and 1.
pub fn side_within(setting: &Setting, delta: f64, side: Side, work: &Work) -> Result<Bounds> {
    BoundsRequest { setting, known: &SchemeFacts::of(setting)?, side: Some(side) }.bounds(delta, work)
}

/// A request for bounds: a setting, facts about its scheme, and one side or both (`None`).
pub(crate) struct BoundsRequest<'a> {
    pub setting: &'a Setting,
    pub known: &'a SchemeFacts,
    pub side: Option<Side>,
}

/// The share of the work for a pair, if there is another lower bound too.
const FOR_PAIR: f64 = 0.95;
/// The units of work for Renyi divergences of all orders.
const RENYI: f64 = 2e8;

impl BoundsRequest<'_> {
    pub(crate) fn bounds(&self, delta: f64, work: &Work) -> Result<Bounds> {
        check_delta(delta)?;
        let setting = self.setting;
        let (noise, epochs) = (setting.noise_multiplier, setting.epochs);
        match (setting.adjacency, setting.scheme) {
            (Adjacency::ZeroOut, _) | (Adjacency::AddRemove, BatchScheme::Poisson) => {}
            _ => {
                return Ok(Bounds::unknown(SideMethod::OtherAdjacency));
            }
        }
        let fixed_order = Gaussian::fixed_order(noise, epochs);
        let at_most = fixed_order.epsilon_upper_bound(delta);
        // At most the fixed order's Gaussian, because each record is used once an epoch.
        let at_most_alone = |lower| Bounds {
            epsilon_lower_bound: None,
            epsilon_upper_bound: Some(at_most),
            method: BoundMethod::sides(lower, SideMethod::FixedOrder),
        };
        Ok(match self.known {
            SchemeFacts::FixedOrder => Bounds {
                epsilon_lower_bound: Some(fixed_order.epsilon_lower_bound(delta)),
                epsilon_upper_bound: Some(at_most),
                method: SideMethod::ClosedForm.into(),
            },
            SchemeFacts::Poisson => self.poisson(delta, work)?,
            SchemeFacts::DominatingPair(_) if delta <= pairs::LEAST_DELTA => {
                at_most_alone(SideMethod::OutOfReachAtThisDelta)
            }
            SchemeFacts::DominatingPair(pair) => {
                match pairs::interval_within(pair, Target { epochs, delta }, work)? {
                    Ok(found) => Bounds {
                        epsilon_lower_bound: Some(found.epsilon_lower_bound),
                        epsilon_upper_bound: Some(found.epsilon_upper_bound.min(at_most)),
                        method: SideMethod::DominatingPair.into(),
                    },
                    Err(_) => at_most_alone(SideMethod::OutOfReach),
                }
            }
            SchemeFacts::OnceAnEpoch(_) if self.side == Some(Side::Upper) => {
                at_most_alone(SideMethod::NotAskedFor)
            }
            SchemeFacts::OnceAnEpoch(at_least) => {
                let (lower, method) = lower_bound(at_least, delta, work)?;
                Bounds { epsilon_lower_bound: lower.map(|lower| lower.min(at_most)), ..at_most_alone(method) }
            }
            SchemeFacts::Subsets => self.subsets(delta, work)?,
        })
    }

    fn poisson(&self, delta: f64, work: &Work) -> Result<Bounds> {
        let setting = self.setting;
        let (noise, probability) = (setting.noise_multiplier, setting.sampling_probability());
        poisson_bounds_within(noise, probability, setting.steps(), delta, work)
    }

    /// The interval of the dominating profile, where the noise and the work allow it.
    fn subset_interval(&self, delta: f64, work: &Work) -> Option<Interval> {
        let (noise, share) = (self.setting.noise_multiplier, self.setting.sampling_probability());
        if noise < subsets::LEAST_NOISE || share >= 1.0 {
            return None;
        }
        work.part(FOR_PAIR * work.left(), |work| {
            Subset { noise, share }.epsilon_within(self.setting.steps(), delta, work).ok()
        })
    }

    fn subsets(&self, delta: f64, work: &Work) -> Result<Bounds> {
        let setting = self.setting;
        let (noise_multiplier, sampling_probability, steps) =
            (setting.noise_multiplier, setting.sampling_probability(), setting.steps());
        let found = self.subset_interval(delta, work).filter(|found| found.epsilon_upper_bound.is_finite());
        if let Some(found) = found {
            let mut lower = found.epsilon_lower_bound;
            if self.side != Some(Side::Upper) {
                // Poisson sampling's pair is one of the scheme's, too. Its grid reaches further if sampling is rare.
                lower = lower.max(self.poisson(delta, work)?.epsilon_lower_bound.unwrap_or(0.0));
            }
            return Ok(Bounds {
                epsilon_lower_bound: Some(lower.min(found.epsilon_upper_bound)),
                epsilon_upper_bound: Some(found.epsilon_upper_bound),
                method: BoundMethod::sides(SideMethod::ExactPair, SideMethod::DominatingProfile),
            });
        }
        let revealed = RevealedUses { noise_multiplier, sampling_probability, steps };
        let upper = if self.side == Some(Side::Lower) || sampling_probability >= 1.0 {
            None
        } else if work.charge(revealed.work()).is_ok() {
            Some((revealed.epsilon_upper_bound(delta), SideMethod::ToldUses))
        } else {
            let all = Gaussian::fixed_order(noise_multiplier, steps);
            Some((all.epsilon_upper_bound(delta), SideMethod::EveryStep))
        };
        let poisson = match (self.side, &upper) {
            (Some(Side::Upper), Some(_)) => Bounds::unknown(SideMethod::NotAskedFor),
            _ => self.poisson(delta, work)?,
        };
        // If every record is in every step, both bounds are those of the fixed order.
        let (epsilon_upper_bound, how) = upper
            .map_or((poisson.epsilon_upper_bound, SideMethod::ToldUses), |(upper, how)| (Some(upper), how));
        let lower = match poisson.epsilon_lower_bound {
            Some(_) => SideMethod::Poissons,
            None => SideMethod::OutOfReach,
        };
        Ok(Bounds {
            epsilon_lower_bound: poisson.epsilon_lower_bound,
            epsilon_upper_bound,
            method: BoundMethod::sides(lower, how),
        })
    }
}

/// The best lower bound within the work, and the name of its method.
fn lower_bound(known: &LowerBounds, delta: f64, work: &Work) -> Result<(Option<f64>, SideMethod)> {
    let epochs = known.epochs;
    let exact = match &known.pair {
        Some(pair) if delta > pairs::LEAST_DELTA => {
            let share = if known.largest_output.is_some() { FOR_PAIR } else { 1.0 };
            let target = Target { epochs, delta };
            Some(work.part(share * work.left(), |work| pairs::interval_within(pair, target, work))?)
        }
        _ => None,
    };
    let is_beyond_work = matches!(exact, Some(Err(_)));
    let exact = exact.and_then(std::result::Result::ok).map(|found| found.epsilon_lower_bound);
    let largest = known.largest_output.and_then(|largest| match exact {
        // This second bound is computed only on the finest grid.
        Some(_) => largest.composed_at(epochs, delta, 1.0, work).ok(),
        None => largest.composed_within(epochs, delta, work).ok(),
    });
    let method = match (exact, largest) {
        // A valid lower bound for shuffling, not an upper bound: adaptive gradients can leak more than this pair.
        (Some(_), _) => SideMethod::ExactPair,
        (None, Some(_)) => SideMethod::LargestOutput,
        (None, None) if is_beyond_work || known.largest_output.is_some() => SideMethod::OutOfReach,
        (None, None) if known.pair.is_some() => SideMethod::OutOfReachAtThisDelta,
        (None, None) => SideMethod::OutOfReachAtThisNoise,
    };
    Ok(([exact, largest].into_iter().flatten().reduce(f64::max), method))
}

/// Bounds for Poisson sampling with any probability and number of steps.
///
/// # Errors
/// An argument is out of range.
pub fn poisson_bounds(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
) -> Result<Bounds> {
    poisson_bounds_within(noise_multiplier, sampling_probability, steps, delta, &Work::default())
}

/// Bounds for Poisson sampling with any probability and number of steps, within the rest of `work`.
///
/// If no grid is affordable, Renyi divergences give the upper bound.
///
/// # Errors
/// An argument is out of range.
pub fn poisson_bounds_within(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    delta: f64,
    work: &Work,
) -> Result<Bounds> {
    let found = poisson::epsilon_within(noise_multiplier, sampling_probability, steps, delta, work)?;
    let lower = match found {
        Ok(interval) if interval.epsilon_upper_bound.is_finite() => {
            return Ok(Bounds {
                epsilon_lower_bound: Some(interval.epsilon_lower_bound),
                epsilon_upper_bound: Some(interval.epsilon_upper_bound),
                method: SideMethod::PrivacyLoss.into(),
            });
        }
        // The affordable grid is too coarse for an upper bound.
        Ok(interval) => Some(interval.epsilon_lower_bound),
        Err(_) => None,
    };
    let mut upper = Gaussian::fixed_order(noise_multiplier, steps).epsilon_upper_bound(delta);
    let mut how = SideMethod::EveryStep;
    if work.charge(RENYI).is_ok() {
        let renyi = rdp::safe_epsilon_upper_bound(noise_multiplier, sampling_probability, steps, delta);
        (upper, how) = (upper.min(renyi), SideMethod::Renyi);
    }
    let lower_method = if lower.is_some() { SideMethod::PrivacyLoss } else { SideMethod::OutOfReach };
    Ok(Bounds {
        epsilon_lower_bound: lower.map(|lower| lower.min(upper)),
        epsilon_upper_bound: Some(upper),
        method: BoundMethod::sides(lower_method, how),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(scheme: BatchScheme, noise_multiplier: f64, epochs: u64) -> Bounds {
        bounds(&Setting { scheme, noise_multiplier, epochs, ..Setting::default() }, 1e-5).unwrap()
    }

    #[test]
    fn every_scheme_answers_in_order() {
        for name in BatchScheme::NAMES {
            let buffer = name.starts_with("partial") || name.starts_with("stream");
            let scheme = BatchScheme::from_name(name, buffer.then_some(500)).unwrap();
            for (noise, epochs) in [(0.011, 10), (0.04, 1), (0.5, 1), (1.0, 10), (5.0, 3)] {
                let found = at(scheme, noise, epochs);
                if let (Some(lower), Some(upper)) = (found.epsilon_lower_bound, found.epsilon_upper_bound) {
                    assert!(0.0 <= lower && lower <= upper, "{name} {found:?}");
                }
            }
        }
    }

    #[test]
    fn every_scheme_answers_at_the_least_delta() {
        for name in BatchScheme::NAMES {
            let buffer = name.starts_with("partial") || name.starts_with("stream");
            let scheme = BatchScheme::from_name(name, buffer.then_some(500)).unwrap();
            let found = bounds(&Setting { scheme, ..Setting::default() }, 1e-300).unwrap();
            assert!(found.epsilon_upper_bound.is_some_and(f64::is_finite), "{name} {found:?}");
            assert!(found.epsilon_lower_bound <= found.epsilon_upper_bound, "{name} {found:?}");
        }
    }

    #[test]
    fn special_cases_coincide() {
        // A buffer of one batch is a fixed order, and a buffer of all records is a shuffle.
        let fixed = at(BatchScheme::FixedOrder, 1.0, 4);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 100 }, 1.0, 4), fixed);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 20 }, 1.0, 4), fixed);
        let shuffle = at(BatchScheme::Shuffle, 1.0, 4);
        assert_eq!(at(BatchScheme::PartialShuffle { buffer_size: 10_000 }, 1.0, 4), shuffle);
        assert_eq!(at(BatchScheme::StreamShuffle { buffer_size: 1 }, 1.0, 4), fixed);
        let sliding = at(BatchScheme::StreamShuffle { buffer_size: 10_000 }, 1.0, 1);
        let full = at(BatchScheme::Shuffle, 1.0, 1);
        assert!((sliding.epsilon_lower_bound.unwrap() - full.epsilon_lower_bound.unwrap()).abs() < 1e-3);
        // A smaller buffer hides less.
        let lower = |scheme| at(scheme, 1.0, 1).epsilon_lower_bound.unwrap();
        let blocks =
            [10_000, 1_500, 550, 150].map(|buffer_size| lower(BatchScheme::PartialShuffle { buffer_size }));
        assert!(blocks.is_sorted(), "{blocks:?}");
        let buffers =
            [10_000, 1_500, 550, 150].map(|buffer_size| lower(BatchScheme::StreamShuffle { buffer_size }));
        assert!(buffers.is_sorted(), "{buffers:?}");
        // With a hundred opposing records the batch is recognised, so the bounds meet.
        let ordered = at(BatchScheme::BatchThenShuffle, 1.0, 1);
        assert!(ordered.epsilon_lower_bound.unwrap() > 0.9999 * ordered.epsilon_upper_bound.unwrap());
    }

    #[test]
    fn little_noise_falls_back_on_the_largest_output() {
        let found = at(BatchScheme::Shuffle, 0.05, 1);
        let exact = Gaussian::fixed_order(0.05, 1).epsilon_lower_bound(1e-5);
        let (lower, upper) = (found.epsilon_lower_bound.unwrap(), found.epsilon_upper_bound.unwrap());
        assert!(lower <= exact && exact <= upper && upper < 1.001 * lower, "{found:?}");
        assert_eq!(found.method.lower(), &SideMethod::LargestOutput);
    }

    #[test]
    fn a_side_out_of_reach_says_whether_noise_or_delta_is_in_the_way() {
        let scheme = BatchScheme::StreamShuffle { buffer_size: 500 };
        for (noise_multiplier, delta, reason) in
            [(0.05, 1e-5, SideMethod::OutOfReachAtThisNoise), (1.0, 1e-16, SideMethod::OutOfReachAtThisDelta)]
        {
            let found = bounds(&Setting { scheme, noise_multiplier, ..Setting::default() }, delta).unwrap();
            assert!(found.epsilon_lower_bound.is_none() && found.method.lower() == &reason, "{found:?}");
        }
    }

    /// A grid may leave no lower bound if sampling is rare, and no upper bound at the least deltas.
    #[test]
    fn subsets_have_both_bounds_where_a_grid_has_none() {
        let at = |noise_multiplier: f64, steps_per_epoch: u64, epochs: u64, delta: f64| {
            let scheme = BatchScheme::WithoutReplacement;
            let setting = Setting { scheme, noise_multiplier, steps_per_epoch, epochs, ..Setting::default() };
            bounds(&setting, delta).unwrap()
        };
        let rare = at(0.5, 100_000, 1, 1e-6);
        let poisson = poisson_bounds(0.5, 1e-5, 100_000, 1e-6).unwrap();
        assert!(rare.epsilon_lower_bound >= poisson.epsilon_lower_bound, "{rare:?} {poisson:?}");
        let tiny = at(1.0, 100, 10_000, 1e-300);
        assert!(tiny.epsilon_upper_bound.is_some_and(f64::is_finite), "{tiny:?}");
    }

    #[test]
    fn other_adjacencies_are_refused_by_name() {
        let setting = Setting { adjacency: Adjacency::ReplaceOne, ..Setting::default() };
        let found = bounds(&setting, 1e-5).unwrap();
        assert_eq!((found.epsilon_lower_bound, found.epsilon_upper_bound), (None, None));
        assert_eq!(found.method, SideMethod::OtherAdjacency.into());
        assert!(bounds(&Setting::default(), 0.0).is_err());
    }
}
