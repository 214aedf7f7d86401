//! Bounds on delta at a given epsilon, for every scheme: the inverse of [`account`](crate::account).
//!
//! Each bound is a delta at which [`account`](crate::account) certifies the matching side. Proof:
//! `docs/proofs/delta-and-curves.md`.

use crate::account::{self, BoundsRequest};
use crate::gaussian::Gaussian;
use crate::pairs::{EpochLaws, ShiftPair, Target};
use crate::root::{Bracket, narrow};
use crate::scheme_facts::{LowerBounds, SchemeFacts};
use crate::work::Work;
use misdeal_core::{Adjacency, BoundMethod, Bounds, DeltaBounds, Error, Result, Setting, SideMethod};

/// The width of a root in ln delta: one part in a thousand.
const ROOT_WIDTH: f64 = 1e-3;

/// The logarithm of the smallest delta of the search. Exact pairs do not reach below it.
const LEAST_LOG_DELTA: f64 = -34.0;

/// The largest delta of the search.
const MOST_DELTA: f64 = 0.999;

/// Bounds on the delta of a setting's scheme at `epsilon`.
///
/// They have the guarantees of [`account::bounds`]: the lower bound is never too large, and the upper bound is never
/// too small. A side without a bound on epsilon is `None`.
///
/// For a delta below about 1.7e-15, the bounds are 0 and 1.7e-15.
///
/// ```
/// use misdeal_core::Setting;
/// let found = misdeal_theory::delta::bounds(&Setting::default(), 4.066)?;
/// assert!((found.delta_lower_bound.unwrap() / 1e-5 - 1.0).abs() < 5e-3);
/// # Ok::<(), misdeal_core::Error>(())
/// ```
///
/// # Errors
/// `epsilon` is negative or not finite.
pub fn bounds(setting: &Setting, epsilon: f64) -> Result<DeltaBounds> {
    bounds_within(setting, epsilon, &Work::default())
}

/// Bounds as in [`bounds`], within the rest of `work`. If that is too little, bounds are wider or `None`.
///
/// # Errors
/// `epsilon` is negative or not finite.
pub fn bounds_within(setting: &Setting, epsilon: f64, work: &Work) -> Result<DeltaBounds> {
    check(epsilon)?;
    let known = SchemeFacts::of(setting)?;
    let fixed_order = Gaussian::fixed_order(setting.noise_multiplier, setting.epochs);
    // Inverting the epsilon of many epochs costs too much, so delta is read from their laws at this epsilon.
    if setting.adjacency == Adjacency::ZeroOut {
        let many = match &known {
            SchemeFacts::DominatingPair(pair) => Some((pair, setting.epochs, true)),
            SchemeFacts::OnceAnEpoch(LowerBounds { pair: Some(pair), epochs, .. }) => {
                Some((pair, *epochs, false))
            }
            _ => None,
        };
        if let Some((pair, epochs, dominates)) = many.filter(|(_, epochs, ..)| *epochs > 1) {
            return Ok(of_epochs(pair, (epochs, epsilon), fixed_order, dominates, work));
        }
    }
    // Fixed order bounds all schemes that permute. Poisson's delta is also below it, so the search starts there.
    let start = fixed_order.log_delta(epsilon);
    let request = BoundsRequest { setting, known: &known, side: None };
    invert(start, epsilon, |delta| work.part(SHARE * work.left(), |work| request.bounds(delta, work)))
}

/// The share of the remaining work for bounds at one delta.
const SHARE: f64 = 1.0 / 8.0;
/// The relative error of the Gaussian's delta, with a margin.
const CLOSED_FORM_ERROR: f64 = 1e-9;

/// Bounds on delta after many epochs of a pair, whose delta is at most the fixed order's.
///
/// The pair's upper bound holds for the scheme if it `dominates`.
fn of_epochs(
    pair: &ShiftPair,
    (epochs, epsilon): (u64, f64),
    fixed_order: Gaussian,
    dominates: bool,
    work: &Work,
) -> DeltaBounds {
    let most = at_most(fixed_order.delta(epsilon));
    // The pair's delta is smaller than the fixed order's, often by a large factor.
    let target = Target { epochs, delta: (1e-3 * most).clamp(1e-12, 1e-3) };
    let found = work
        .part(0.75 * work.left(), |work| EpochLaws::within(pair, target, work))
        .and_then(|laws| laws.deltas(epochs, epsilon, work));
    match found {
        Ok([lower, upper]) => DeltaBounds {
            delta_lower_bound: Some(lower.min(most)),
            delta_upper_bound: Some(if dominates { at_most(upper).min(most) } else { most }),
            method: if dominates {
                SideMethod::DominatingPair.into()
            } else {
                BoundMethod::sides(SideMethod::ExactPair, SideMethod::FixedOrder)
            },
        },
        Err(_) => DeltaBounds {
            delta_lower_bound: None,
            delta_upper_bound: Some(most),
            method: BoundMethod::sides(SideMethod::OutOfReach, SideMethod::FixedOrder),
        },
    }
}

/// An upper bound on a delta that was computed with a relative error of [`CLOSED_FORM_ERROR`].
///
/// It is positive, because a float that underflowed bounds nothing.
fn at_most(delta: f64) -> f64 {
    (delta * (1.0 + CLOSED_FORM_ERROR)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// Bounds on delta for Poisson sampling with any probability and number of steps.
///
/// # Errors
/// An argument is out of range.
pub fn poisson(
    noise_multiplier: f64,
    sampling_probability: f64,
    steps: u64,
    epsilon: f64,
    work: &Work,
) -> Result<DeltaBounds> {
    check(epsilon)?;
    invert(LEAST_LOG_DELTA / 2.0, epsilon, |delta| {
        work.part(SHARE * work.left(), |work| {
            account::poisson_bounds_within(noise_multiplier, sampling_probability, steps, delta, work)
        })
    })
}

fn check(epsilon: f64) -> Result<()> {
    if epsilon.is_finite() && epsilon >= 0.0 {
        return Ok(());
    }
    let hint = "it is the epsilon at which delta is wanted";
    Err(Error::bad_value("epsilon", epsilon, "a finite number from 0", hint))
}

/// Inverts `bounds` at `epsilon`, starting at ln delta = `start`.
fn invert(start: f64, epsilon: f64, bounds: impl Fn(f64) -> Result<Bounds>) -> Result<DeltaBounds> {
    let start = start.clamp(LEAST_LOG_DELTA + 1.0, MOST_DELTA.ln() - 0.1);
    let mut search = Search { bounds, known: Vec::new() };
    let method = search.at(start)?.method;
    let lower = search.fall(start, epsilon, |found| found.epsilon_lower_bound)?;
    let upper = search.fall(start, epsilon, |found| found.epsilon_upper_bound)?;
    Ok(DeltaBounds {
        delta_lower_bound: lower
            .map(|fall| if fall.low.0 > LEAST_LOG_DELTA { fall.low.0.exp() } else { 0.0 }),
        delta_upper_bound: upper
            .map(|fall| if fall.high.0 < MOST_DELTA.ln() { fall.high.0.exp() } else { 1.0 }),
        method,
    })
}

/// A search for delta; both sides share the bounds computed so far.
struct Search<F> {
    bounds: F,
    known: Vec<(f64, Bounds)>,
}

impl<F: Fn(f64) -> Result<Bounds>> Search<F> {
    fn at(&mut self, log_delta: f64) -> Result<Bounds> {
        let same = |&(known, _): &(f64, Bounds)| known.total_cmp(&log_delta).is_eq();
        if let Some(known) = self.known.iter().position(same) {
            return Ok(self.known[known].1.clone());
        }
        let found = (self.bounds)(log_delta.exp())?;
        self.known.push((log_delta, found.clone()));
        Ok(found)
    }

    /// Brackets the delta at which a side falls to `epsilon`: above `epsilon` at `low`, not above it at `high`.
    ///
    /// If the side does not fall to `epsilon` inside the range, both are an end of the range.
    fn fall(
        &mut self,
        start: f64,
        epsilon: f64,
        side: impl Fn(&Bounds) -> Option<f64>,
    ) -> Result<Option<Bracket>> {
        if side(&self.at(start)?).is_none() {
            return Ok(None);
        }
        let (mut refused, mut is_unknown) = (None, false);
        let mut excess = |log_delta: f64| match self.at(log_delta) {
            Ok(found) => side(&found).map_or_else(
                || {
                    is_unknown = true;
                    f64::NAN
                },
                |found| below_zero(found - epsilon),
            ),
            Err(error) => {
                refused = Some(error);
                f64::NAN
            }
        };
        let mut low = (start, excess(start));
        let mut high = low;
        let mut stride = 0.25;
        while low.1 <= 0.0 && low.0 > LEAST_LOG_DELTA {
            high = low;
            low.0 = (low.0 - stride).max(LEAST_LOG_DELTA);
            low.1 = excess(low.0);
            stride *= 3.0;
        }
        if low.1 <= 0.0 {
            high = low;
        }
        while high.1 > 0.0 && high.0 < MOST_DELTA.ln() {
            low = high;
            high.0 = (high.0 + stride).min(MOST_DELTA.ln());
            high.1 = excess(high.0);
            stride *= 3.0;
        }
        let mut found = Bracket { low, high };
        if low.1 > 0.0 && high.1 <= 0.0 {
            found = narrow(&mut excess, found, ROOT_WIDTH);
        }
        // If the work ran out during the search, this side has no bound.
        refused.map_or(Ok((!is_unknown).then_some(found)), Err)
    }
}

/// Counts zero as negative, so that the search finds the smallest delta with exactly this epsilon.
fn below_zero(excess: f64) -> f64 {
    if excess > 0.0 { excess } else { excess.min(-1e-9) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{Adjacency, BatchScheme};

    fn setting(scheme: BatchScheme, noise_multiplier: f64, epochs: u64) -> Setting {
        Setting { scheme, noise_multiplier, epochs, steps_per_epoch: 50, ..Setting::default() }
    }

    #[test]
    fn the_gaussian_closed_form() {
        for epsilon in [0.0, 0.5, 2.0, 6.0] {
            let exact = Gaussian::fixed_order(1.0, 2).delta(epsilon);
            let found = bounds(&setting(BatchScheme::FixedOrder, 1.0, 2), epsilon).unwrap();
            let (lower, upper) = (found.delta_lower_bound.unwrap(), found.delta_upper_bound.unwrap());
            assert!(
                lower <= exact && exact <= upper && upper < 1.003 * lower,
                "{epsilon}: {lower} {exact} {upper}"
            );
        }
    }

    /// Checks that epsilon(delta(e)) = e.
    #[test]
    fn inverts_epsilon() {
        for scheme in [BatchScheme::Poisson, BatchScheme::Shuffle, BatchScheme::BallsInBins] {
            for (noise, epochs, epsilon) in [(1.0, 1, 0.6), (0.8, 1, 3.0)] {
                let setting = setting(scheme, noise, epochs);
                let found = bounds(&setting, epsilon).unwrap();
                let back = |delta| account::bounds(&setting, delta).unwrap();
                let lower = back(found.delta_lower_bound.unwrap()).epsilon_lower_bound.unwrap();
                let upper = back(found.delta_upper_bound.unwrap()).epsilon_upper_bound.unwrap();
                assert!(epsilon <= lower && lower < 1.002 * epsilon, "{scheme} {noise}: {lower}");
                assert!(0.998 * epsilon < upper && upper <= epsilon, "{scheme} {noise}: {upper}");
            }
        }
    }

    /// Delta at epsilon 600 is about e^-11000. Earlier code bounded it by 0.
    #[test]
    fn an_upper_bound_does_not_underflow() {
        for scheme in [BatchScheme::Shuffle, BatchScheme::BallsInBins] {
            let found = bounds(&setting(scheme, 1.0, 5), 600.0).unwrap();
            assert!(
                found.delta_upper_bound.unwrap() > 0.0 && found.delta_lower_bound.unwrap() <= 0.0,
                "{found:?}"
            );
        }
    }

    #[test]
    fn far_away_it_says_what_it_knows() {
        let found = bounds(&setting(BatchScheme::Shuffle, 1.0, 1), 100.0).unwrap();
        assert!(found.delta_lower_bound.unwrap() <= 0.0 && found.delta_upper_bound.unwrap() < 2e-15);
        let replaced = Setting { adjacency: Adjacency::ReplaceOne, ..Setting::default() };
        let unknown = bounds(&replaced, 1.0).unwrap();
        assert_eq!((unknown.delta_lower_bound, unknown.delta_upper_bound), (None, None));
        assert!(bounds(&Setting::default(), -1.0).is_err());
    }
}
