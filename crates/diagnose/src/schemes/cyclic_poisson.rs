//! Cyclic Poisson sampling: groups of records take turns, and each step samples its group.

use super::SchemeEvidence;
use crate::companions::{Companions, Pairs};
use crate::logged_epochs::LoggedEpoch;
use crate::p_values::{Tests, dispersion};
use libm::{lgamma, log, log1p};
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

const SCHEME: LoggedScheme = LoggedScheme::CyclicPoisson;

/// The likelihood of a log under this scheme.
///
/// The cycle length k is the greatest common divisor of all distances between steps of one record, counted over the whole log or
/// within epochs. Every record is in one of k groups, with probability 1 / k each, and joins its group's steps with probability kq.
pub fn candidate(evidence: &SchemeEvidence<'_>) -> Candidate {
    let incidence = evidence.incidence;
    if incidence.twice_in_a_step.is_some() {
        return Candidate::impossible(SCHEME, "some record is twice in one batch");
    }
    let logged = evidence.logged;
    let n = logged.dataset_size;
    let [through, restarting] = cycles(&logged.epochs, n);
    let (cycle, restarts) = if through > 1 { (through, false) } else { (restarting, true) };
    if cycle < 2 {
        return Candidate::impossible(SCHEME, "records join steps at all distances from each other");
    }
    // The steps of each group, in order.
    let mut turns: Vec<LoggedEpoch> = vec![LoggedEpoch::default(); cycle];
    let mut number = 0;
    for epoch in &logged.epochs {
        for (step, records) in epoch.steps().enumerate() {
            let turn = &mut turns[if restarts { step } else { number } % cycle];
            turn.records.extend_from_slice(records);
            turn.ends.push(turn.records.len());
            number += 1;
        }
    }
    let share = incidence.entries() / (n as f64 * number as f64);
    let probability = share * cycle as f64;
    if probability >= 1.0 - 1e-9 {
        return Candidate::impossible(
            SCHEME,
            "every record joins every step of its turn: nothing is sampled",
        );
    }
    let steps = number as f64 / cycle as f64;
    let records = n as f64;
    let mut log_likelihood = incidence.entries() * log(probability)
        + (records * steps - incidence.entries()) * log1p(-probability)
        - records * log(cycle as f64);
    if logged.steps_are_ordered {
        log_likelihood -= incidence.sizes.iter().map(|size| lgamma(size + 1.0)).sum::<f64>();
    }
    let tests = tests(&turns, incidence.counts.as_slice(), steps, probability);
    Candidate {
        scheme: SCHEME,
        parameters: SchemeParameters {
            sampling_probability: Some(probability),
            cycle_length: Some(cycle as u64),
            ..SchemeParameters::default()
        },
        log_likelihood: Some(log_likelihood),
        p_value: tests.p_value(),
        evidence: tests.evidence(),
    }
}

/// Tests whether each group is sampled by Poisson's law.
fn tests(turns: &[LoggedEpoch], counts: &[u32], steps: f64, probability: f64) -> Tests {
    let mut tests = Tests::default();
    let variance = steps * probability * (1.0 - probability);
    let mean = steps * probability;
    let squares: f64 =
        counts.iter().map(|&count| (f64::from(count) - mean) * (f64::from(count) - mean) / variance).sum();
    let n = counts.len() as f64;
    let excess = (1.0 - 6.0 * probability * (1.0 - probability)) / variance;
    tests.insert(
        "that some records are dealt too often, or all too equally often",
        dispersion(squares, n - 1.0, (n - 1.0) * (2.0 + excess.max(-1.0))),
    );
    let (mut squares, mut freedom) = (0.0, 0.0);
    let mut largest = 1.0_f64;
    let mut group_of = vec![0_u32; counts.len()];
    for turn in turns {
        // The group's records, renumbered.
        let mut members = turn.records.clone();
        members.sort_unstable();
        members.dedup();
        for (place, &record) in members.iter().enumerate() {
            group_of[record as usize] = place as u32;
        }
        let renumbered = LoggedEpoch {
            records: turn.records.iter().map(|&record| group_of[record as usize]).collect(),
            ends: turn.ends.clone(),
        };
        let companions = Companions::of(std::slice::from_ref(&renumbered), members.len(), Pairs::OfSteps);
        largest = largest.min(companions.p_value());
        // Sizes within a group, whose mean is its own.
        let mean = turn.records.len() as f64 / turn.ends.len().max(1) as f64;
        if mean > 0.0 {
            let of_group = renumbered.steps().map(|step| step.len() as f64 - mean);
            squares += of_group.map(|off| off * off).sum::<f64>() / (mean * (1.0 - probability));
            freedom += turn.ends.len() as f64 - 1.0;
        }
    }
    tests.insert(
        "batch sizes too alike or too unlike",
        dispersion(squares, freedom, 2.0 * freedom + freedom / steps.max(1.0)),
    );
    tests.insert(super::poisson::MEET_AGAIN, (largest * turns.len() as f64).min(1.0));
    tests
}

/// The greatest common divisors of the distances between a record's steps: counted through the log, and from each epoch's begin.
fn cycles(epochs: &[LoggedEpoch], n: usize) -> [usize; 2] {
    let mut first = vec![[u32::MAX; 2]; n];
    let mut divisors = [0_u32; 2];
    let mut number = 0_u32;
    for epoch in epochs {
        for (step, records) in epoch.steps().enumerate() {
            let at = [number, step as u32];
            for &record in records {
                let first = &mut first[record as usize];
                for ((divisor, first), at) in divisors.iter_mut().zip(first).zip(at) {
                    if *first == u32::MAX {
                        *first = at;
                    } else if *divisor != 1 {
                        *divisor = common(*divisor, first.abs_diff(at));
                    }
                }
            }
            number += 1;
            if divisors == [1, 1] {
                return [1, 1];
            }
        }
    }
    divisors.map(|divisor| divisor as usize)
}

fn common(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { common(other, one % other) }
}
