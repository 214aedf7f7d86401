//! Lower bounds that still hold if epochs leave records out.
//!
//! # Why the largest output?
//! A missing record can only make the largest output smaller, wherever in the epoch the record would be. Let p be the probability
//! that the record is in all epochs. The scheme's lower bound at delta / p, minus ln(1/p), then holds at delta. The docs of
//! `LargestOutput::epsilon_lower_bound_if_present` give the proof.

use libm::{exp, pow};
use misdeal_core::{BatchScheme, BoundMethod, Bounds, Setting, SideMethod};
use misdeal_diagnose::{LoggedEpoch, Orders};
use misdeal_statistics::binomial;
use misdeal_theory::shuffle_max::LargestOutput;
use misdeal_theory::work::Work;

/// Returns a scheme's bounds, with a lower bound that holds even if its record may be missing from an epoch.
///
/// The record depends on the scheme. Under a full shuffle it is any record. Under a sliding buffer it is the first record of the
/// file. If batches are shuffled, it is any record of a batch. In fixed order, and under shuffles within blocks, the first record
/// is in every epoch, so the bounds do not change.
pub fn allowing_for(
    whole: Bounds,
    setting: &Setting,
    orders: Option<&Orders>,
    delta: f64,
    work: &Work,
) -> Bounds {
    let Some(orders) = orders.filter(|orders| orders.shortest() < orders.largest_size) else { return whole };
    let Setting { noise_multiplier, epochs, .. } = *setting;
    let log_presence = orders.log_presence(epochs);
    let lower = match setting.scheme {
        BatchScheme::PartialShuffle { buffer_size } if buffer_size < setting.dataset_size() => return whole,
        BatchScheme::Shuffle
        | BatchScheme::ShuffleOnce
        | BatchScheme::PartialShuffle { .. }
        | BatchScheme::BallsInBins
            if log_presence >= 0.0 =>
        {
            return whole;
        }
        BatchScheme::Shuffle | BatchScheme::PartialShuffle { .. } => {
            let presence = exp(log_presence);
            by_largest_output(noise_multiplier, setting.steps_per_epoch, epochs, delta, presence, work)
        }
        BatchScheme::ShuffleOnce => {
            let noise = noise_multiplier / (epochs as f64).sqrt();
            let presence = exp(orders.log_presence(1));
            by_largest_output(noise, setting.steps_per_epoch, 1, delta, presence, work)
        }
        BatchScheme::StreamShuffle { buffer_size } => {
            behind_a_buffer(setting, orders, buffer_size, delta, work)
        }
        BatchScheme::BatchThenShuffle => {
            let share = orders.least_share_of_batches();
            if share >= 1.0 {
                return whole;
            }
            let Setting { steps_per_epoch, batch_size, .. } = *setting;
            let pair = LargestOutput::batch_then_shuffle(noise_multiplier, steps_per_epoch, batch_size);
            let presence = pow(share, epochs as f64);
            pair.epsilon_lower_bound_if_present(epochs, delta, presence, work)
        }
        BatchScheme::BallsInBins => {
            // Which share of the bins an epoch shows is known from the records in them alone.
            let size = orders.largest_size as u64;
            let shown =
                |epoch: &LoggedEpoch| binomial::lower_bound(epoch.records.len() as u64, size, 1e-6).value;
            let presence = orders.epochs.iter().map(shown).fold(1.0, f64::min);
            let steps_per_epoch = setting.steps_per_epoch;
            let pair = LargestOutput { noise_multiplier, steps_per_epoch, mean_in: 1.0, mean_out: 0.0 };
            pair.epsilon_lower_bound_if_present(epochs, delta, pow(presence, epochs as f64), work)
        }
        _ => return whole,
    };
    let method = BoundMethod::sides(SideMethod::LargestOutputIfPresent, whole.method.upper().clone());
    Bounds { epsilon_lower_bound: Some(lower), method, ..whole }
}

fn by_largest_output(noise: f64, steps: u64, epochs: u64, delta: f64, presence: f64, work: &Work) -> f64 {
    LargestOutput::shuffle(noise, steps).epsilon_lower_bound_if_present(epochs, delta, presence, work)
}

/// Returns the lower bound for the first record of the file under a sliding buffer.
///
/// The bound looks only at the first steps of an epoch, and uses the number of steps that shows most. The record's law within
/// these steps has no effect on the law of the largest output.
fn behind_a_buffer(setting: &Setting, orders: &Orders, buffer_size: u64, delta: f64, work: &Work) -> f64 {
    let shortest = orders.shortest() as u64;
    let of_first = |steps: u64| {
        let dealt = (steps * setting.batch_size).min(shortest);
        let presence = presence_behind(buffer_size, orders.largest_size as u64, dealt);
        let presence = pow(presence, setting.epochs as f64);
        work.part(0.25 * work.left(), |work| {
            by_largest_output(setting.noise_multiplier, steps, setting.epochs, delta, presence, work)
        })
    };
    let doubled = std::iter::successors(Some(1_u64), |steps| steps.checked_mul(2));
    let fewer = doubled.take_while(|&steps| steps < setting.steps_per_epoch);
    fewer.chain([setting.steps_per_epoch]).map(of_first).fold(0.0, f64::max)
}

/// Returns the probability that a record is among the first `dealt` records from a sliding buffer of size K. The record is the
/// first of `records`.
///
/// While records are left to refill the buffer, each draw takes one of the K at random. The probability that all these draws miss
/// the record is (1 - 1/K)^dealt. The last K records come in uniform order.
fn presence_behind(buffer_size: u64, records: u64, dealt: u64) -> f64 {
    let (size, refilled) = (buffer_size as f64, records.saturating_sub(buffer_size));
    let missed = pow(1.0 - 1.0 / size, dealt.min(refilled) as f64);
    let left = if dealt > refilled { (records - dealt.min(records)) as f64 / size } else { 1.0 };
    1.0 - missed * left
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with a sum over all possible orders.
    #[test]
    fn presence_is_that_of_all_ways_to_deal() {
        fn missed(buffer: &[u64], next: u64, records: u64, dealt: u64) -> f64 {
            if dealt == 0 {
                return 1.0;
            }
            let ways = buffer.len() as f64;
            let kept = buffer.iter().enumerate().filter(|&(_, &record)| record != 0).map(|(slot, _)| {
                let mut rest = buffer.to_vec();
                rest.remove(slot);
                if next < records {
                    rest.push(next);
                }
                missed(&rest, next + 1, records, dealt - 1) / ways
            });
            kept.sum()
        }
        for (buffer, records) in [(1, 4), (2, 5), (3, 5), (5, 5), (4, 6)] {
            for dealt in 0..=records {
                let expected = 1.0 - missed(&(0..buffer).collect::<Vec<_>>(), buffer, records, dealt);
                let found = presence_behind(buffer, records, dealt);
                assert!((found - expected).abs() < 1e-12, "{buffer} {records} {dealt}: {found} {expected}");
            }
        }
    }

    #[test]
    fn everything_dealt_leaves_nobody_out() {
        assert_eq!(presence_behind(7, 100, 100), 1.0);
        assert_eq!(presence_behind(1, 100, 1), 1.0);
    }
}
