//! The leakage under the scheme that was found.

use super::{dropped, empirical_law};
use crate::{Analysis, EngineChoice, MechanismAudit, Result, RunOptions, Unwatched, measure_mechanism};
use misdeal_core::{Allowance, BatchScheme, BoundMethod, Bounds, ClosedSet, Device, Setting, SideMethod};
use misdeal_diagnose::{DiagnosedLog, LoggedEpoch, LoggedEpochs, Orders, compatible, draws_anew};
use misdeal_results::request::DiagnoseRequest;
use misdeal_results::{Candidate, DefectName, Diagnosis, Leakage, LoggedScheme, SchemeParameters, Theory};
use misdeal_statistics::{ThresholdChoice, binomial};
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::work::Work;
use misdeal_theory::{account, check_delta};

/// Largest number of observations for auditing a scheme without a formula.
const OBSERVATIONS: u64 = 200_000;

/// Total steps that such an audit plays: half a second on one core. A million observations of 3,000 epochs took half an hour.
const STEPS_PLAYED: u64 = 40_000_000;

/// Fewest observations for such an audit. With fewer, it would show less than theory.
const FEWEST_OBSERVATIONS: u64 = 1_000;

/// Units of work for all bounds of a diagnosis: about two seconds of one core. Less work gives coarser grids, which stay certified.
const WORK: f64 = 2e9;

/// The confidence level of intervals and simulations.
const CONFIDENCE: f64 = 0.95;

/// The noise multiplier and delta of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NoiseLevel {
    /// Noise standard deviation divided by the clipping norm.
    noise_multiplier: f64,
    /// The delta that belongs to epsilon.
    delta: f64,
}

impl NoiseLevel {
    /// Returns the noise and delta at which a request asks for the leakage.
    pub(super) fn of(request: &DiagnoseRequest) -> Option<Self> {
        let delta = request.delta;
        request.noise_multiplier.map(|noise_multiplier| NoiseLevel { noise_multiplier, delta })
    }
}

/// The leakage found, and theory's bounds for other schemes with the same number of steps.
pub struct Costs {
    pub leakage: Leakage,
    pub beside: Theory,
}

/// Refuses an invalid request before the log is read.
pub fn check(request: &DiagnoseRequest) -> Result<()> {
    if let Some(NoiseLevel { noise_multiplier, delta }) = NoiseLevel::of(request) {
        let epochs = request.epochs.unwrap_or(1);
        Setting { noise_multiplier, epochs, ..Setting::default() }.validated()?;
        check_delta(delta)?;
    }
    Ok(())
}

/// Returns bounds on the leakage of the diagnosed scheme over `epochs` epochs. The default is the number of epochs in the log.
///
/// Defects are counted on the safe side. For the upper bound, every record is used as often as the most used one, and all its uses
/// in an epoch fall into one step. For the lower bound, a record is missing as often as the scheme leaves one out. A value
/// estimated from the log is taken at the safe end of its 95 % interval.
///
/// # Errors
/// The noise or the number of epochs is refused.
pub fn of(
    DiagnosedLog { logged, orders, diagnosis }: &DiagnosedLog,
    noise: NoiseLevel,
    epochs: Option<u64>,
) -> Result<Costs> {
    let orders = orders.as_ref();
    let NoiseLevel { noise_multiplier, delta } = noise;
    let epochs = epochs.unwrap_or(logged.epochs.len() as u64);
    let setting = Setting {
        noise_multiplier,
        steps_per_epoch: logged.epochs.iter().map(|epoch| epoch.ends.len()).max().unwrap_or(1) as u64,
        epochs,
        batch_size: logged.batch_size as u64,
        ..Setting::default()
    }
    .validated()?;
    let work = Work::of(WORK);
    let shuffled = bounds(&Setting { scheme: BatchScheme::Shuffle, ..setting.clone() }, delta, &work);
    let beside = [
        (BatchScheme::Shuffle.into(), shuffled),
        (BatchScheme::Poisson.into(), claimed(logged, &setting, delta, &work)),
    ];
    let possible: Vec<&Candidate> = compatible(&diagnosis.candidates, logged);
    let subject =
        Subject { logged, orders, setting: &setting, delta, is_alone: possible.len() == 1, work: &work };
    let is_named =
        compatible_with_the_name(diagnosis, &possible) && diagnosis.parameters.refilled_by.is_none();
    let mut schemes: Vec<LoggedScheme> = possible.iter().map(|one| one.scheme).collect();
    let found = if is_named {
        let all: Vec<Cost> = possible.iter().map(|one| subject.cost_of(one)).collect::<Result<_>>()?;
        all.into_iter().reduce(Cost::or)
    } else {
        None
    };
    let is_estimate = found.is_none();
    let Cost { bounds: found, confidence } = if let Some(found) = found {
        found
    } else {
        schemes.clear();
        let bounds = of_unknown(orders, &setting, delta)?;
        Cost { bounds: subject.with_uses(bounds, LoggedScheme::Unknown), confidence: None }
    };
    let Bounds { epsilon_lower_bound, mut epsilon_upper_bound, mut method } = found;
    // A law that misdeal does not know may have made the log. Then none of the known ones bounds it from above.
    if let Some(why) = unbounded(diagnosis, logged, epochs, is_estimate) {
        epsilon_upper_bound = None;
        method = BoundMethod::sides(method.lower().clone(), why);
    }
    let leakage = Leakage {
        epsilon_lower_bound,
        epsilon_upper_bound,
        is_estimate,
        confidence,
        schemes,
        method,
        noise_multiplier,
        delta,
        epochs,
    };
    Ok(Costs { leakage, beside: beside.into_iter().collect() })
}

/// Returns what a library that accounts for Poisson sampling computes: at the rate of a batch's share of the data set.
///
/// An epoch has as many steps as there are full batches, or as the log has if these are fewer.
fn claimed(logged: &LoggedEpochs, setting: &Setting, delta: f64, work: &Work) -> Bounds {
    let sizes = || logged.epochs.iter().flat_map(LoggedEpoch::steps).map(<[u32]>::len);
    let (batches, full) = (sizes().count(), sizes().filter(|&size| size == logged.batch_size).count());
    // Sizes that vary have their mean as the batch size.
    let is_fixed = 2 * full >= batches;
    let mean = sizes().sum::<usize>() as f64 / batches.max(1) as f64;
    let size = if is_fixed { logged.batch_size as f64 } else { mean };
    let probability = (size / logged.dataset_size as f64).min(1.0);
    let whole = ((1.0 / probability + 1e-9).floor() as u64).max(1);
    let steps = setting.steps_per_epoch.min(if is_fixed { whole } else { u64::MAX }) * setting.epochs;
    let noise = setting.noise_multiplier;
    let found = work.part(0.5 * work.left(), |work| {
        account::poisson_bounds_within(noise, probability, steps, delta, work)
    });
    found.unwrap_or_else(|error| Bounds::unknown(error.to_string()))
}

/// Whether a scheme with a law was named, and is one of those that the log does not rule out.
fn compatible_with_the_name(diagnosis: &Diagnosis, possible: &[&Candidate]) -> bool {
    diagnosis.scheme != LoggedScheme::Unknown && possible.iter().any(|one| one.scheme == diagnosis.scheme)
}

/// Why there is no upper bound; `None` if the scheme is certain and its independence was tested.
fn unbounded(
    diagnosis: &Diagnosis,
    logged: &LoggedEpochs,
    epochs: u64,
    is_estimate: bool,
) -> Option<SideMethod> {
    let shares_a_seed = diagnosis.defects.iter().any(|defect| defect.defect == DefectName::RanksShareSeed);
    // One epoch cannot show that epochs are independent. In fixed order that makes no difference.
    let depends_on_epochs = !draws_anew(diagnosis.scheme) && diagnosis.scheme != LoggedScheme::FixedOrder;
    let is_one = depends_on_epochs && logged.epochs.len() == 1 && epochs > 1;
    if is_estimate {
        Some(SideMethod::UnknownLaw)
    } else if !diagnosis.certain {
        Some(SideMethod::NotCertain)
    } else if shares_a_seed {
        Some(SideMethod::RecordsTogether)
    } else if is_one {
        Some(SideMethod::OneEpoch)
    } else {
        None
    }
}

/// Returns theory's bounds, or the reason why there are none.
///
/// All bounds of a diagnosis share the work of one command. Each takes at most half of the remaining work.
fn bounds(setting: &Setting, delta: f64, work: &Work) -> Bounds {
    let found = work.part(0.5 * work.left(), |work| account::bounds_within(setting, delta, work));
    found.unwrap_or_else(|error| Bounds::unknown(error.to_string()))
}

/// Bounds, and their confidence if they rest on more than theory.
struct Cost {
    bounds: Bounds,
    confidence: Option<f64>,
}

impl Cost {
    /// Returns bounds that hold whichever of two schemes ran: the smaller lower bound and the larger upper bound.
    fn or(self, other: Self) -> Self {
        let [one, two] = [self.bounds, other.bounds];
        let both =
            |pick: fn(f64, f64) -> f64, a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| pick(a, b));
        let bounds = Bounds {
            epsilon_lower_bound: both(f64::min, one.epsilon_lower_bound, two.epsilon_lower_bound),
            epsilon_upper_bound: both(f64::max, one.epsilon_upper_bound, two.epsilon_upper_bound),
            method: one.method.or(two.method),
        };
        Cost { bounds, confidence: self.confidence.or(other.confidence) }
    }
}

/// A log at a given noise level.
struct Subject<'a> {
    logged: &'a LoggedEpochs,
    orders: Option<&'a Orders>,
    setting: &'a Setting,
    delta: f64,
    /// Whether only one scheme is possible. An audit is then worth its time, because it may give a sharper lower bound.
    is_alone: bool,
    work: &'a Work,
}

impl Subject<'_> {
    /// Returns the leakage of one scheme that may have made the log.
    fn cost_of(&self, candidate: &Candidate) -> Result<Cost> {
        let &Subject { logged, orders, setting, delta, is_alone, work } = self;
        let parameters = &candidate.parameters;
        let buffer = parameters.buffer_size.map(|size| size.min(setting.dataset_size()));
        let Setting { noise_multiplier, epochs, .. } = *setting;
        let mut confidence = None;
        if let Some(known) = self.of_further_law(candidate) {
            return Ok(Cost {
                bounds: self.with_uses(known, candidate.scheme),
                confidence: Some(CONFIDENCE),
            });
        }
        let found = match BatchScheme::from_name(candidate.scheme.name(), buffer)? {
            BatchScheme::Poisson => {
                confidence = Some(CONFIDENCE);
                of_poisson(logged, setting, 1, delta, work)
            }
            BatchScheme::WithoutReplacement => {
                confidence = Some(CONFIDENCE);
                of_fresh_subsets(logged, setting, delta, is_alone, work)?
            }
            scheme => {
                let (scheme, at_most) = with_the_largest_buffer(scheme, parameters, setting);
                // A reused order is one epoch at less noise, because the sums over epochs are sufficient.
                let is_reused = parameters.order_is_reused == Some(true);
                let once = Setting {
                    scheme,
                    noise_multiplier: noise_multiplier / (epochs as f64).sqrt(),
                    epochs: 1,
                    ..setting.clone()
                };
                let setting = if is_reused { once.clone() } else { Setting { scheme, ..setting.clone() } };
                let mut found =
                    dropped::allowing_for(bounds(&setting, delta, work), &setting, orders, delta, work);
                if scheme == BatchScheme::BallsInBins && logged.epochs.len() == 1 && epochs > 1 {
                    found.epsilon_upper_bound = bounds(&once, delta, work).epsilon_upper_bound;
                    found.method = found.method.allowing(Allowance::RepeatedBins);
                }
                if let Some(size) = at_most {
                    confidence = Some(CONFIDENCE);
                    found.method = found.method.allowing(Allowance::LargestBuffer(size));
                }
                found
            }
        };
        Ok(Cost { bounds: self.with_uses(found, candidate.scheme), confidence })
    }

    /// Returns the bounds of laws that are no batch scheme of their own; `None` for batch schemes.
    fn of_further_law(&self, candidate: &Candidate) -> Option<Bounds> {
        let &Subject { logged, setting, delta, work, .. } = self;
        let Setting { noise_multiplier, epochs, .. } = *setting;
        match candidate.scheme {
            // A record's outputs are the sums over epochs of its bin's: one epoch at less noise.
            LoggedScheme::BallsInBinsOnce => {
                let noise_multiplier = noise_multiplier / (epochs as f64).sqrt();
                let scheme = BatchScheme::BallsInBins;
                Some(bounds(&Setting { scheme, noise_multiplier, epochs: 1, ..setting.clone() }, delta, work))
            }
            // Only the steps of a record's group depend on it, and these sample it as Poisson's do.
            LoggedScheme::CyclicPoisson => {
                let cycle = candidate.parameters.cycle_length.unwrap_or(1).max(1);
                Some(of_poisson(logged, setting, cycle, delta, work))
            }
            LoggedScheme::TruncatedPoisson | LoggedScheme::Allocation | LoggedScheme::WithReplacement => {
                Some(Bounds::unknown(SideMethod::NoAccount))
            }
            _ => None,
        }
    }

    /// Returns the bounds with an upper bound that allows for records used more often than the scheme intends.
    fn with_uses(&self, mut found: Bounds, scheme: LoggedScheme) -> Bounds {
        // Batches that are drawn anew repeat records by chance, which their bounds know.
        let orders = self.orders.filter(|_| !draws_anew(scheme));
        if let Some((uses, why)) = uses(self.logged, orders) {
            let Setting { noise_multiplier, epochs, .. } = *self.setting;
            let fixed_order = Gaussian::fixed_order(noise_multiplier / uses.sqrt(), epochs);
            found.epsilon_upper_bound = orders.map(|_| fixed_order.epsilon_upper_bound(self.delta));
            found.method = found.method.allowing(why);
        }
        found
    }
}

/// Returns the factor by which defects multiply the square of a record's effect, and the reason.
///
/// Copies by workers are in different steps, so their squares add up. Copies by ranks and repeats within an epoch may meet in one
/// step. There the effects add up before they are squared.
fn uses(logged: &LoggedEpochs, orders: Option<&Orders>) -> Option<(f64, Allowance)> {
    let (ranks, workers) = (logged.uses.by_ranks, logged.uses.by_workers);
    let repeats = orders.map_or(1, |orders| orders.most_uses.max(1)) as u64;
    let all = (ranks as f64 * repeats as f64).powi(2) * workers as f64;
    let why = Allowance::Uses { by_ranks: ranks > 1, by_workers: workers > 1, repeats };
    [ranks, workers, repeats].into_iter().any(|uses| uses > 1).then_some((all, why))
}

/// Returns bounds for Poisson sampling of each record in every `cycle`-th step. The log determines the sampling probability up to a
/// 95 % interval.
fn of_poisson(logged: &LoggedEpochs, setting: &Setting, cycle: u64, delta: f64, work: &Work) -> Bounds {
    let steps: usize = logged.epochs.iter().map(|epoch| epoch.ends.len()).sum();
    let entries: usize = logged.epochs.iter().map(|epoch| epoch.records.len()).sum();
    let chances = |records: usize| (steps * records) as u64;
    let tail = 0.5 * (1.0 - CONFIDENCE);
    let least =
        binomial::lower_bound(entries as u64, chances(logged.largest_size.drawn_anew), tail).value.max(1e-9);
    let most = binomial::upper_bound(entries as u64, chances(logged.dataset_size), tail).value;
    let scaled = |probability: f64| (probability * cycle as f64).min(1.0);
    let at = |probability: f64, steps: u64| {
        let noise = setting.noise_multiplier;
        if steps == 0 {
            return Ok(Bounds { epsilon_lower_bound: Some(0.0), ..Bounds::unknown(SideMethod::PrivacyLoss) });
        }
        work.part(0.5 * work.left(), |work| {
            account::poisson_bounds_within(noise, probability, steps, delta, work)
        })
    };
    // Groups whose turn comes first have one turn more.
    match (at(scaled(least), setting.steps() / cycle), at(scaled(most), setting.steps().div_ceil(cycle))) {
        (Ok(least), Ok(most)) => Bounds {
            epsilon_lower_bound: least.epsilon_lower_bound,
            epsilon_upper_bound: most.epsilon_upper_bound,
            method: least.method.allowing(Allowance::SamplingProbability),
        },
        (Err(error), _) | (_, Err(error)) => Bounds::unknown(error.to_string()),
    }
}

/// Returns bounds for batches that are fresh subsets of fixed size. A record is in a batch with probability q, the batch's share
/// of the data set.
///
/// A setting can only have q = 1 / T with a whole number T. The bounds are therefore those of the nearest T on the safe side.
fn of_fresh_subsets(
    logged: &LoggedEpochs,
    setting: &Setting,
    delta: f64,
    audits: bool,
    work: &Work,
) -> Result<Bounds> {
    let at = |steps_per_epoch: u64, epochs: u64| {
        let scheme = BatchScheme::WithoutReplacement;
        Setting { scheme, steps_per_epoch, epochs: epochs.max(1), ..setting.clone() }
    };
    let steps = setting.steps();
    let batch_size = logged.batch_size.max(1);
    // More batches to choose from, and fewer whole rounds of them, leak less.
    let more = logged.largest_size.drawn_anew.div_ceil(batch_size) as u64;
    let fewer = (logged.dataset_size / batch_size).max(1) as u64;
    let most = bounds(&at(fewer, steps.div_ceil(fewer)), delta, work);
    let least = if steps >= more {
        let setting = at(more, steps / more);
        if audits { by_audit(&setting, delta, work)? } else { bounds(&setting, delta, work) }
    } else {
        // Less than one round: at least what Poisson sampling leaks.
        let probability = 1.0 / more as f64;
        account::poisson_bounds_within(setting.noise_multiplier, probability, steps, delta, work)
            .unwrap_or_else(|error| Bounds::unknown(error.to_string()))
    };
    if most.epsilon_upper_bound.is_none() || steps == more && more == fewer {
        return Ok(Bounds { epsilon_upper_bound: most.epsilon_upper_bound, ..least });
    }
    Ok(Bounds {
        epsilon_lower_bound: least.epsilon_lower_bound,
        epsilon_upper_bound: most.epsilon_upper_bound,
        method: BoundMethod::sides(least.method.lower().clone(), most.method.upper().clone()),
    })
}

/// Returns the scheme with the largest sliding buffer that the log allows, and that size. A smaller buffer leaks at least as much.
fn with_the_largest_buffer(
    scheme: BatchScheme,
    parameters: &SchemeParameters,
    setting: &Setting,
) -> (BatchScheme, Option<u64>) {
    match (scheme, parameters.buffer_size_upper_bound) {
        (BatchScheme::StreamShuffle { buffer_size: likeliest }, Some(most)) if most > likeliest => {
            let buffer_size = most.min(setting.dataset_size());
            (BatchScheme::StreamShuffle { buffer_size }, Some(buffer_size))
        }
        _ => (scheme, None),
    }
}

/// Returns a lower bound from simulation with the scheme's exact likelihood ratio. Used if theory's bound is far from the true
/// leakage.
fn by_audit(setting: &Setting, delta: f64, work: &Work) -> Result<Bounds> {
    let analysis = Analysis { delta, threshold_choice: ThresholdChoice::Band, ..Analysis::default() };
    let observations = OBSERVATIONS.min(STEPS_PLAYED / setting.steps()) / 2 * 2;
    if observations < FEWEST_OBSERVATIONS {
        return Ok(bounds(setting, delta, work));
    }
    let run = RunOptions { analysis, ..RunOptions::new(observations) };
    let request = MechanismAudit { setting: setting.clone(), engine: EngineChoice::on(Device::Cpu), run };
    let measured = *measure_mechanism(&request, &Unwatched)?.estimate.empirical_epsilon;
    let known = bounds(setting, delta, work);
    let (proven, upper) = (known.epsilon_lower_bound.unwrap_or(0.0), known.epsilon_upper_bound);
    if proven >= measured {
        return Ok(known);
    }
    let how = match known.method {
        BoundMethod::Sides { upper, .. } => upper,
        _ => SideMethod::NoneKnown,
    };
    Ok(Bounds {
        epsilon_lower_bound: Some(upper.map_or(measured, |upper| measured.min(upper))),
        epsilon_upper_bound: upper,
        method: BoundMethod::sides(SideMethod::Audit { observations }, how),
    })
}

/// Returns the bound of the empirical law if each record is used once an epoch. Otherwise nothing is known.
fn of_unknown(orders: Option<&Orders>, setting: &Setting, delta: f64) -> Result<Bounds> {
    let Some(orders) = orders else {
        return Ok(Bounds::unknown(SideMethod::UnknownLaw));
    };
    let fixed = account::bounds(&Setting { scheme: BatchScheme::FixedOrder, ..setting.clone() }, delta)?;
    let lower = empirical_law::audited(orders, setting, delta)?;
    Ok(Bounds {
        epsilon_lower_bound: lower.map(|lower| lower.min(fixed.epsilon_upper_bound.unwrap_or(lower))),
        epsilon_upper_bound: fixed.epsilon_upper_bound,
        method: BoundMethod::sides(SideMethod::EstimatedLaw, SideMethod::FixedOrder),
    })
}
