//! The leakage of an unnamed batch law. The law is estimated on half of the records and audited on the other half.

use misdeal_core::{Result, Setting, Stream, World};
use misdeal_diagnose::Orders;
use misdeal_game::{Shifts, TargetModel, log_likelihood_ratio};
use misdeal_schemes::{PositionLaw, Weights};
use misdeal_statistics::{ClopperPearson, ThresholdChoice, from_scores};
use rayon::prelude::*;

/// Approximate number of Gaussian draws in an audit.
const DRAWS: u64 = 20_000_000;
/// Fewest and most trials in each world.
const TRIALS: std::ops::RangeInclusive<u64> = 1_000..=200_000;
/// Largest number of epochs simulated. Fewer epochs can only make the estimate smaller.
const MOST_EPOCHS: usize = 64;
/// Largest number of draws for the fewest trials: some seconds on one core.
const MOST_DRAWS: u64 = 100_000_000;
/// Largest number of record places kept, over all epochs together: 200 MB.
const MOST_PLACES: usize = 50_000_000;

/// Returns the epsilon found by an adversary who knows a law estimated from the log.
///
/// The law says how far, in steps, records of even index move from their places in the file. Each trial picks a random record of
/// odd index. This record is the target, in the very steps where the log has it. The trial scores the outputs with the law of the
/// even records. Shifts are pooled over records and epochs, so the estimate is too small if the law depends on the place. Returns
/// `None` if there are too few records, or too many steps to simulate.
///
/// # Errors
/// The delta is refused.
pub fn audited(orders: &Orders, setting: &Setting, delta: f64) -> Result<Option<f64>> {
    let (n, steps) = (orders.dataset_size, setting.steps_per_epoch);
    let most = MOST_EPOCHS.min(setting.epochs as usize).min((MOST_PLACES / n.max(1)).max(1));
    let epochs = &orders.epochs[..orders.epochs.len().min(most)];
    if n < 4 {
        return Ok(None);
    }
    let home = |record: usize| (record as u64 * steps / n as u64) as i64;
    // The step of every record in every epoch; records that an epoch leaves out stay at home.
    let mut places: Vec<Vec<u32>> = Vec::with_capacity(epochs.len());
    for epoch in epochs {
        let mut step_of: Vec<u32> = (0..n).map(|record| home(record) as u32).collect();
        for (step, records) in epoch.steps().enumerate() {
            for &record in records {
                step_of[record as usize] = step as u32;
            }
        }
        places.push(step_of);
    }
    let shifts = |parity: usize| {
        let places = &places;
        places.iter().flat_map(move |of| {
            (parity..n).step_by(2).map(move |record| i64::from(of[record]) - home(record))
        })
    };
    let (least, most) = shifts(0).fold((0, 0), |(least, most), shift| (shift.min(least), shift.max(most)));
    let mut counts = vec![0.5; (most - least + 1) as usize];
    shifts(0).for_each(|shift| counts[(shift - least) as usize] += 1.0);

    let window = counts.len() as u64;
    // No more epochs than the fewest trials have draws for; not even one where steps are too many.
    let affordable = MOST_DRAWS / (2 * window * TRIALS.start());
    if affordable == 0 {
        return Ok(None);
    }
    places.truncate(usize::try_from(affordable).unwrap_or(usize::MAX));
    let trials = (DRAWS / (2 * window * places.len() as u64)).clamp(*TRIALS.start(), *TRIALS.end());
    let stream = Stream::new(&setting.hash());
    let model_shifts = Shifts { present: 2.0, zeroed: 1.0 };
    let score = |world: World, trial: u64| {
        let random = stream.uniform(misdeal_core::Purpose::Position, world, trial, 0);
        let record = 2 * ((u128::from(random) * (n as u128 / 2)) >> 64) as usize + 1;
        let home = home(record);
        let first = (home + least).max(0);
        let end = (home + most + 1).min(steps as i64);
        let from = (first - home - least) as usize;
        let law = &counts[from..from + (end - first) as usize];
        let total: f64 = law.iter().sum();
        let weights = law.iter().map(|count| count / total).collect();
        let batches = first as u64..end as u64;
        let model = TargetModel {
            law: PositionLaw::OnceAnEpoch(Weights::new(batches.start, weights)),
            shifts: model_shifts,
        };
        let mut outputs = Vec::with_capacity((end - first) as usize * places.len());
        for of in &places {
            for batch in first..end {
                let noise = setting.noise_multiplier * stream.gaussian(world, trial, outputs.len() as u32);
                let is_there = i64::from(of[record]) == batch;
                outputs.push(noise + if is_there { model_shifts.in_world(world) } else { 0.0 });
            }
        }
        log_likelihood_ratio(&model, setting.noise_multiplier, &batches, &outputs)
    };
    let scores =
        |world: World| (0..trials).into_par_iter().map(|trial| score(world, trial)).collect::<Vec<f64>>();
    let (scores_in, scores_out) = (scores(World::In), scores(World::Out));
    let estimate = from_scores(&scores_in, &scores_out, ThresholdChoice::Band, &ClopperPearson, delta, 0.05)?;
    Ok(Some(*estimate.empirical_epsilon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::BatchScheme;
    use misdeal_diagnose::LoggedEpochs;
    use misdeal_files::batch_log::BatchLog;
    use misdeal_schemes::sampler;
    use misdeal_theory::account;

    /// An audit with an estimated law finds less than the exact law leaks. For a buffer, whose law only shifts, the result is near
    /// the exact leakage. A bound with 95 % confidence exceeds the truth once in twenty times. The seeds here avoid such a case.
    #[test]
    fn estimates_are_below_the_exact_leakage_and_near_it_where_the_law_only_shifts() {
        let cases = [(BatchScheme::Shuffle, 0.1), (BatchScheme::StreamShuffle { buffer_size: 100 }, 0.5)];
        for (scheme, least) in cases {
            let setting =
                Setting { steps_per_epoch: 100, batch_size: 20, epochs: 2, scheme, ..Setting::default() };
            let mut sampler = sampler(&setting, &Stream::new(&setting.hash()), World::In, 0);
            let mut log = BatchLog::default();
            for epoch in 0..2 {
                for batch in sampler.next_epoch().iter() {
                    log.push(epoch, 0, None, batch.iter().copied()).unwrap();
                }
            }
            let (logged, _) = LoggedEpochs::new(&log, None).unwrap();
            let orders = Orders::of(&logged).0.unwrap();
            let estimate = audited(&orders, &setting, 1e-5).unwrap().unwrap();
            // The first record of the file is the one that a sliding buffer hides least.
            let exact = account::bounds(&setting, 1e-5).unwrap().epsilon_upper_bound.unwrap();
            assert!((least * exact..exact).contains(&estimate), "{scheme}: {estimate}, exact {exact}");
        }
    }
}
