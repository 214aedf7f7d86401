//! Makes a diagnosis from the candidates.
//!
//! # When is a diagnosis certain?
//! Every other scheme is ruled out, by tests at 1e-6 (after Bonferroni) or by a lead of ten nats in complete epochs.
//! For a full shuffle, no sliding buffer of less than nine tenths of the records explains the log.
//! For Poisson sampling, the log has at least twenty batches. A log is `unknown` if the tests rule out its likeliest scheme.

use crate::logged_epochs::LoggedEpochs;
use crate::orders::Orders;
use crate::schemes::{CERTAIN_LEAD, draws_anew};
use misdeal_core::ClosedSet;
use misdeal_results::{Candidate, Defect, DefectName, Diagnosis, LoggedScheme, SchemeParameters};
use std::fmt::Write;

/// A scheme is ruled out if the p-value of its tests is below this.
pub const RULED_OUT: f64 = 1e-6;

/// A full shuffle is not certain where a sliding buffer of less than this share of the records could have made the log. No log rules out a buffer of
/// all records but one, so that a larger buffer counts as a full shuffle.
const NEARLY_ALL: f64 = 0.9;

/// Smallest number of batches that shows how batch sizes vary.
const FEWEST_BATCHES: usize = 20;

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
    logged: &LoggedEpochs,
    orders: Option<&Orders>,
    candidates: Vec<Candidate>,
    mut defects: Vec<Defect>,
) -> Diagnosis {
    let value = |place: usize| candidates.get(place).and_then(|candidate| candidate.log_likelihood);
    let lead = value(0).map(|best| best - value(1).unwrap_or(f64::NEG_INFINITY));
    let best = &candidates[0];
    let fits = lead.is_some() && best.p_value >= RULED_OUT;
    if let Some(orders) = orders {
        defects.extend(repeated_orders(logged, orders, best.scheme));
    }
    if !fits {
        let certain = candidates.iter().all(|candidate| candidate.p_value < RULED_OUT);
        let explanation = unknown(&candidates, certain);
        let parameters = SchemeParameters::default();
        let scheme = LoggedScheme::Unknown;
        return Diagnosis { scheme, parameters, certain, explanation, candidates, defects };
    }
    let least_buffer = orders.filter(|_| best.scheme == LoggedScheme::Shuffle).map(|orders| {
        let reach = orders.reach();
        (reach, (reach as f64) < NEARLY_ALL * orders.dataset_size as f64)
    });
    let possible_buffer = least_buffer.and_then(|(reach, is_possible)| is_possible.then_some(reach));
    let batches: usize = logged.epochs.iter().map(|epoch| epoch.ends.len()).sum();
    let too_few = best.scheme == LoggedScheme::Poisson && batches < FEWEST_BATCHES;
    let is_alone = compatible(&candidates, logged).len() == 1;
    let certain =
        is_alone && lead.is_some_and(|lead| lead >= CERTAIN_LEAD) && possible_buffer.is_none() && !too_few;
    if compatible(&candidates, logged).iter().any(|one| draws_anew(one.scheme)) {
        defects.retain(|defect| !BY_CHANCE.contains(&defect.defect));
    }
    let mut explanation = sentence(best, logged);
    if !certain {
        explanation.push(' ');
        explanation.push_str(&doubt(&candidates, possible_buffer, too_few, logged));
    }
    Diagnosis { scheme: best.scheme, parameters: best.parameters, certain, explanation, defects, candidates }
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
    too_few: bool,
    logged: &LoggedEpochs,
) -> String {
    if too_few {
        return format!(
            "It is not certain: fewer than {FEWEST_BATCHES} batches do not show how batch sizes vary. Log more."
        );
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
