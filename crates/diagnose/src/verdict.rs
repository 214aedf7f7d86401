//! Makes a diagnosis from the candidates.
//!
//! # When is a diagnosis certain?
//! Every other scheme is ruled out, by tests at 1e-6 (after Bonferroni) or by a lead of ten nats in complete epochs.
//! The tests of the scheme itself have a p-value above 1e-3, and the log is long enough for them to see dependence (`long_enough`).
//! For a full shuffle, no sliding buffer of less than nine tenths of the records explains the log.
//! A log is `unknown` if the tests rule out its likeliest scheme. Then `structure` may give a likely cause a name, without certainty.

use crate::logged_epochs::LoggedEpochs;
use crate::long_enough::too_short;
use crate::orders::Orders;
use crate::schemes::{CERTAIN_LEAD, SchemeEvidence, draws_anew};
use crate::{hints, structure};
use misdeal_core::ClosedSet;
use misdeal_results::{Candidate, Defect, DefectName, Diagnosis, LoggedScheme, SchemeParameters};
use std::fmt::Write;

/// A scheme is ruled out if the p-value of its tests is below this.
pub const RULED_OUT: f64 = 1e-6;

/// A full shuffle is not certain where a sliding buffer of less than this share of the records could have made the log. No log rules out a buffer of
/// all records but one, so that a larger buffer counts as a full shuffle.
const NEARLY_ALL: f64 = 0.9;

/// A scheme is not certain if the p-value of its tests is this or below. An honest loader is doubted once in a thousand times.
const DOUBTED: f64 = 1e-3;

/// The candidates that are compatible with the log, in the order of `candidates` (most likely first).
///
/// A test can rule a scheme out. A lead of [`CERTAIN_LEAD`] can too, but only among schemes that use each record once an epoch,
/// and only if the log's epochs are complete. The reason is that likelihoods do not count the records that a log leaves out.
///
/// For example, a sorted batch is more likely in file order than as a random subset that the loader sorted, but both are possible.
pub fn compatible<'a>(candidates: &'a [Candidate], logged: &LoggedEpochs) -> Vec<&'a Candidate> {
    let draws_places = |one: &Candidate| draws_anew(one.scheme) || one.scheme == LoggedScheme::BallsInBins;
    let likelihoods = candidates.iter().filter(|one| !draws_places(one)).filter_map(|one| one.log_likelihood);
    let best = likelihoods.fold(f64::NEG_INFINITY, f64::max);
    let is_complete = logged.is_complete();
    let is_possible = |one: &&Candidate| {
        let led = |value: f64| is_complete && !draws_places(one) && value <= best - CERTAIN_LEAD;
        one.p_value >= RULED_OUT && one.log_likelihood.is_some_and(|value| !led(value))
    };
    candidates.iter().filter(is_possible).collect()
}

/// Defects that batches drawn anew show by chance.
const BY_CHANCE: [DefectName; 4] = [
    DefectName::RecordsNeverDealt,
    DefectName::RecordsDropped,
    DefectName::RecordsDuplicated,
    DefectName::PaddedWithDuplicates,
];

/// Names the most likely candidate, unless its tests rule it out. `candidates` are sorted, most likely first.
pub fn diagnosis(
    evidence: &SchemeEvidence<'_>,
    candidates: Vec<Candidate>,
    mut defects: Vec<Defect>,
) -> Diagnosis {
    let (logged, orders) = (evidence.logged, evidence.orders);
    let value = |place: usize| candidates.get(place).and_then(|candidate| candidate.log_likelihood);
    let lead = value(0).map(|best| best - value(1).unwrap_or(f64::NEG_INFINITY));
    let best = &candidates[0];
    let fits = lead.is_some() && best.p_value >= RULED_OUT;
    if let Some(orders) = orders {
        defects.extend(repeated_orders(logged, orders, best.scheme));
    } else if best.scheme != LoggedScheme::WithReplacement || !fits {
        defects.extend(twice_in_a_batch(logged));
    }
    if !fits {
        let (hints, epochs_concerned) = hints::of(evidence);
        if let Some(found) = structure::found(evidence) {
            let explanation = format!("No scheme fits. It is probably {}: {}.", found.scheme, found.evidence);
            let (scheme, parameters) = (found.scheme, found.parameters);
            let candidates = std::iter::once(found).chain(candidates).collect();
            return Diagnosis {
                scheme,
                parameters,
                certain: false,
                explanation,
                hints,
                epochs_concerned,
                candidates,
                defects,
                remarks: Vec::new(),
            };
        }
        let certain = candidates.iter().all(|candidate| candidate.p_value < RULED_OUT);
        let explanation = unknown(&candidates, certain);
        let parameters = SchemeParameters::default();
        let scheme = LoggedScheme::Unknown;
        let remarks = Vec::new();
        return Diagnosis {
            scheme,
            parameters,
            certain,
            explanation,
            hints,
            epochs_concerned,
            candidates,
            defects,
            remarks,
        };
    }
    let least_buffer = orders.filter(|_| best.scheme == LoggedScheme::Shuffle).map(|orders| {
        let reach = orders.reach();
        (reach, (reach as f64) < NEARLY_ALL * orders.dataset_size as f64)
    });
    let possible_buffer = least_buffer.and_then(|(reach, is_possible)| is_possible.then_some(reach));
    let is_reused = best.parameters.order_is_reused == Some(true);
    let too_short = too_short(evidence, best.scheme, is_reused);
    let is_doubted = best.p_value <= DOUBTED;
    let is_alone = compatible(&candidates, logged).len() == 1;
    let certain = is_alone
        && lead.is_some_and(|lead| lead >= CERTAIN_LEAD)
        && possible_buffer.is_none()
        && too_short.is_none()
        && !is_doubted;
    if compatible(&candidates, logged).iter().any(|one| draws_anew(one.scheme)) {
        defects.retain(|defect| !BY_CHANCE.contains(&defect.defect));
    }
    let mut explanation = sentence(best, logged);
    if !certain {
        explanation.push(' ');
        explanation.push_str(&doubt(&candidates, possible_buffer, too_short, logged));
    }
    let (hints, epochs_concerned) = if is_doubted { hints::of(evidence) } else { Default::default() };
    let (scheme, parameters) = (best.scheme, best.parameters);
    let remarks = Vec::new();
    Diagnosis {
        scheme,
        parameters,
        certain,
        explanation,
        hints,
        epochs_concerned,
        candidates,
        defects,
        remarks,
    }
}

/// Reports records that are twice in one batch. Their gradients add up, so that they count twice in the noise's place.
fn twice_in_a_batch(logged: &LoggedEpochs) -> Option<Defect> {
    let mut sorted = Vec::new();
    let mut records = 0;
    for step in logged.epochs.iter().flat_map(super::logged_epochs::LoggedEpoch::steps) {
        sorted.clear();
        sorted.extend_from_slice(step);
        sorted.sort_unstable();
        records += sorted.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64;
    }
    let message = format!(
        "{records} entries repeat a record of their own batch: its gradient is added twice, which is as if the noise were halved for it."
    );
    (records > 0).then_some(Defect { defect: DefectName::RecordsTwiceInABatch, records, message })
}

/// Reports epochs that have the same order as the epoch before.
fn repeated_orders(logged: &LoggedEpochs, orders: &Orders, scheme: LoggedScheme) -> Option<Defect> {
    if scheme == LoggedScheme::FixedOrder {
        return None;
    }
    let repeated = orders.epochs.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let records = orders.dataset_size as u64;
    // Orders of very few records or batches repeat by chance. That is not a defect.
    let chance = orders.log_chance_of_repeating(scheme == LoggedScheme::BatchThenShuffle);
    if repeated == 0 || chance * repeated as f64 > libm::log(RULED_OUT) {
        return None;
    }
    let epochs = orders.epochs.len();
    let who = if orders.reused {
        format!("All {epochs} epochs have")
    } else {
        format!("{repeated} of {epochs} epochs repeat")
    };
    let message = if logged.ranks > 1 {
        format!(
            "{who} the same order, on all {} ranks: set_epoch(epoch) of the distributed sampler was not called.",
            logged.ranks
        )
    } else {
        format!(
            "{who} the same order: the permutation was drawn once, or the generator starts anew from the same seed in every epoch \
             (a forgotten set_epoch does that)."
        )
    };
    let defect =
        if logged.ranks > 1 { DefectName::SetEpochForgotten } else { DefectName::SameOrderEveryEpoch };
    Some(Defect { defect, records, message })
}

fn sentence(best: &Candidate, logged: &LoggedEpochs) -> String {
    let buffer = best.parameters.buffer_size.unwrap_or(0);
    let share = best.parameters.sampling_probability.unwrap_or(0.0);
    let passes = logged.epochs.len();
    let mut text = match best.scheme {
        LoggedScheme::FixedOrder => {
            "Every epoch deals the records in the same, known order: nothing is shuffled.".to_owned()
        }
        LoggedScheme::Shuffle => {
            format!("Each of the {passes} epochs is a fresh permutation of all records.")
        }
        LoggedScheme::ShuffleOnce => format!("One permutation of all records serves all {passes} epochs."),
        LoggedScheme::PartialShuffle => format!(
            "Blocks of {buffer} consecutive records are shuffled, and no record ever leaves its block."
        ),
        LoggedScheme::StreamShuffle => format!(
            "Records pass through a sliding buffer of {buffer}, and none comes out before it was read."
        ),
        LoggedScheme::BatchThenShuffle => {
            "Consecutive records always share a batch; only the order of the batches is shuffled.".to_owned()
        }
        LoggedScheme::Poisson => {
            format!("Every record joins every batch independently, with probability {share:.4}.")
        }
        LoggedScheme::WithoutReplacement => {
            format!("Every batch is a fresh random subset with the share {share:.4} of the records.")
        }
        LoggedScheme::BallsInBinsOnce => format!(
            "Every record joined one batch, chosen uniformly, and keeps it in all {passes} epochs: the bins were drawn once."
        ),
        LoggedScheme::TruncatedPoisson => format!(
            "Every record joins every batch independently, with probability {share:.4}, and batches are cut at {} records.",
            best.parameters.largest_batch.unwrap_or(0)
        ),
        LoggedScheme::CyclicPoisson => format!(
            "The records are in {} groups that take turns. A record joins each batch of its group with probability {share:.4}.",
            best.parameters.cycle_length.unwrap_or(0)
        ),
        LoggedScheme::Allocation => format!(
            "Every record joins {} batches of each epoch, chosen at random.",
            best.parameters.uses.unwrap_or(0)
        ),
        LoggedScheme::WithReplacement => {
            "Every entry of a batch is drawn anew from all records, so that a batch can have a record twice."
                .to_owned()
        }
        _ => "Every record joins one batch of each epoch, chosen uniformly and independently of the others."
            .to_owned(),
    };
    if let Some(portion) = best.parameters.refilled_by {
        let _ = write!(text, " It is refilled whenever {portion} records have left, not record by record.");
    }
    if best.parameters.order_is_reused.is_some() {
        text.push_str(" The order is drawn once and serves all epochs.");
    }
    text
}

fn doubt(
    candidates: &[Candidate],
    possible_buffer: Option<usize>,
    too_short: Option<String>,
    logged: &LoggedEpochs,
) -> String {
    if candidates[0].p_value <= DOUBTED {
        return format!("It is not certain: {}.", candidates[0].evidence);
    }
    let others: Vec<&str> =
        compatible(candidates, logged).iter().skip(1).map(|one| one.scheme.name()).collect();
    let second = candidates.get(1).map_or("another scheme", |second| second.scheme.name());
    let pair = [candidates[0].scheme.name(), second];
    if logged.epochs.len() == 1 && pair.contains(&"shuffle") && pair.contains(&"shuffle-once") {
        return "One epoch cannot tell whether the permutation is drawn anew: log two or more.".to_owned();
    }
    if let Some(buffer) = possible_buffer {
        return format!(
            "It is not certain: a sliding buffer of {buffer} records could have made this log, too. Log more epochs."
        );
    }
    if let Some(why) = too_short.filter(|_| others.is_empty()) {
        return format!("It is not certain: {why}. Log more.");
    }
    let others = if others.is_empty() { second.to_owned() } else { others.join(", ") };
    format!(
        "It is not certain: the log is too short to rule out {others}. Log more epochs, or smaller batches."
    )
}

fn unknown(candidates: &[Candidate], certain: bool) -> String {
    let nearest = candidates.iter().find(|candidate| candidate.log_likelihood.is_some());
    let why = if let Some(nearest) = nearest {
        format!("The nearest is {}, but {}.", nearest.scheme, nearest.evidence)
    } else {
        let mut reasons: Vec<&str> = candidates.iter().map(|one| one.evidence.as_str()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        format!("None is even possible: {}.", reasons.join("; "))
    };
    let strength = if certain {
        "The log is none of the known schemes."
    } else {
        "The log fits none of the known schemes well."
    };
    format!("{strength} {why}")
}
