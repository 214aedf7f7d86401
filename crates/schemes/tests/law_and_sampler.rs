//! Every batch scheme is written twice, as a sampler and as a law: the two must agree.
//!
//! Small data sets are dealt many times, and where each record went in two epochs is compared with the law of that
//! record's position. The comparison is the relative entropy of the observed frequencies to the law, whose tail is
//! bounded for every sample size and every law: no asymptotics, and no cells to pool.

use misdeal_core::BatchScheme::{
    BallsInBins, BatchThenShuffle, FixedOrder, PartialShuffle, Poisson, Shuffle, ShuffleOnce, StreamShuffle,
    WithoutReplacement,
};
use misdeal_core::{BatchScheme, Setting, Stream, World};
use misdeal_schemes::{Batches, PositionLaw, Weights, position_law, sampler};
use std::collections::HashSet;

/// The chance that any comparison of this file fails although law and sampler agree.
pub const FALSE_ALARM_RATE: f64 = 1e-6;

/// An upper bound on the comparisons that the rate is shared among; the table's test checks it.
const MOST_COMPARISONS: f64 = 1000.0;

const TRIALS: u64 = 40_000;

fn setting(scheme: BatchScheme, steps_per_epoch: u64, batch_size: u64) -> Setting {
    let setting = Setting { scheme, steps_per_epoch, batch_size, epochs: 2, ..Setting::default() };
    setting.validated().expect("a valid setting")
}

/// Every scheme on twelve records in four batches, and some on other sizes.
fn table() -> Vec<Setting> {
    let mut table = vec![];
    for scheme in [
        Poisson,
        Shuffle,
        ShuffleOnce,
        BatchThenShuffle,
        BallsInBins,
        WithoutReplacement,
        FixedOrder,
        PartialShuffle { buffer_size: 1 },
        PartialShuffle { buffer_size: 2 }, // within a batch, or across a border
        PartialShuffle { buffer_size: 3 }, // one batch
        PartialShuffle { buffer_size: 5 }, // borders inside batches, a last block of two
        PartialShuffle { buffer_size: 6 }, // two batches
        PartialShuffle { buffer_size: 9 }, // a shorter last block
        PartialShuffle { buffer_size: 12 }, // all records
        StreamShuffle { buffer_size: 1 },
        StreamShuffle { buffer_size: 2 },
        StreamShuffle { buffer_size: 3 },
        StreamShuffle { buffer_size: 5 },
        StreamShuffle { buffer_size: 11 },
        StreamShuffle { buffer_size: 12 },
    ] {
        table.push(setting(scheme, 4, 3));
    }
    for scheme in [Poisson, Shuffle, BallsInBins, WithoutReplacement, StreamShuffle { buffer_size: 4 }] {
        table.push(setting(scheme, 5, 1));
        table.push(setting(scheme, 2, 4));
    }
    table
}

/// What one record did: bit t for batch t of a first epoch, bit T + t for batch t of a second.
pub type Outcome = usize;

/// The batches that hold `record`, as bits.
fn bits(batches: &Batches, record: u64) -> Outcome {
    bits_of(batches.iter(), record)
}

/// The batches that hold `record`, as bits.
pub fn bits_of<'a>(batches: impl Iterator<Item = &'a [u64]>, record: u64) -> Outcome {
    (0..).zip(batches).filter(|(_, batch)| batch.contains(&record)).map(|(t, _)| 1 << t).sum()
}

/// The probability of an outcome in two epochs of `steps` batches.
pub fn probability(law: &PositionLaw, steps: usize, outcome: Outcome) -> f64 {
    let epochs = [outcome % (1 << steps), outcome >> steps];
    let weight = |weights: &Weights, epoch: Outcome| {
        if epoch.is_power_of_two() { weights.weight(epoch.ilog2().into()) } else { 0.0 }
    };
    match law {
        PositionLaw::OnceAnEpoch(weights) => weight(weights, epochs[0]) * weight(weights, epochs[1]),
        PositionLaw::KeptForAllEpochs(_) if epochs[0] != epochs[1] => 0.0,
        PositionLaw::KeptForAllEpochs(weights) => weight(weights, epochs[0]),
        PositionLaw::EachStep { probability } => {
            let present = outcome.count_ones() as i32;
            probability.powi(present) * (1.0 - probability).powi(2 * steps as i32 - present)
        }
    }
}

/// The natural logarithm of an upper bound on the probability of counts at least this far from the law.
///
/// With N trials, k possible outcomes and the relative entropy D of the frequencies to the law,
/// P(N D >= g) <= e^-g (e g / (k - 1))^(k - 1) for g > k - 1 (Agrawal, "Finite-sample concentration of the
/// multinomial in relative entropy", 2020). Impossible outcomes make it minus infinity.
fn log_p_value(law: &PositionLaw, steps: usize, counts: &[u64]) -> f64 {
    log_p_of_counts(counts, |outcome| probability(law, steps, outcome))
}

/// [`log_p_value`] for any law of outcomes.
pub fn log_p_of_counts(counts: &[u64], probability: impl Fn(Outcome) -> f64) -> f64 {
    let trials: u64 = counts.iter().sum();
    let (mut possible, mut divergence, mut total) = (0_u32, 0.0, 0.0);
    for (outcome, &count) in counts.iter().enumerate() {
        let probability = probability(outcome);
        total += probability;
        possible += u32::from(probability > 0.0);
        if count > 0 {
            divergence += count as f64 * (count as f64 / (trials as f64 * probability)).ln();
        }
    }
    assert!((total - 1.0_f64).abs() < 1e-12, "a law whose probabilities sum to {total}");
    let freedom = f64::from(possible - 1);
    if divergence == f64::INFINITY {
        f64::NEG_INFINITY
    } else if divergence <= freedom || possible == 1 {
        0.0
    } else {
        freedom * (1.0 + (divergence / freedom).ln()) - divergence
    }
}

fn agrees(law: &PositionLaw, steps: usize, counts: &[u64]) -> bool {
    log_p_value(law, steps, counts) > (FALSE_ALARM_RATE / MOST_COMPARISONS).ln()
}

/// Deals the first two epochs of every trial to `visit`.
fn deal(setting: &Setting, mut visit: impl FnMut(&Batches, &Batches)) {
    let stream = Stream::new(&setting.hash());
    for trial in 0..TRIALS {
        let mut sampler = sampler(setting, &stream, World::In, trial);
        let first = sampler.next_epoch().clone();
        visit(&first, sampler.next_epoch());
    }
}

/// How often each record had each outcome.
fn tally(setting: &Setting) -> Vec<Vec<u64>> {
    let steps = setting.steps_per_epoch as usize;
    let mut counts = vec![vec![0; 1 << (2 * steps)]; setting.dataset_size() as usize];
    deal(setting, |first, second| {
        for (record, counts) in (0..).zip(&mut counts) {
            counts[bits(first, record) | bits(second, record) << steps] += 1;
        }
    });
    counts
}

/// The law of `scheme` for the record at `target_index`.
fn law_of(scheme: BatchScheme, setting: &Setting, target_index: u64) -> PositionLaw {
    position_law(scheme, &Setting { target_index, ..setting.clone() })
}

/// Both epochs at once: the law of each, fresh or kept, and their independence.
#[test]
fn samplers_follow_the_law_of_every_record() {
    let mut comparisons = 0;
    for setting in table() {
        for (record, counts) in (0..).zip(tally(&setting)) {
            let law = law_of(setting.scheme, &setting, record);
            let steps = setting.steps_per_epoch as usize;
            let log_p = log_p_value(&law, steps, &counts);
            assert!(agrees(&law, steps, &counts), "{} {record}: e^{log_p}, {counts:?}", setting.scheme);
            comparisons += 1;
        }
    }
    assert!(f64::from(comparisons) + 2.0 < MOST_COMPARISONS, "the other comparisons are two");
}

/// The test above can fail: laws that are nearly right are rejected for at least one record.
#[test]
fn wrong_laws_are_rejected() {
    for (dealt, believed) in [
        (PartialShuffle { buffer_size: 6 }, StreamShuffle { buffer_size: 6 }),
        (StreamShuffle { buffer_size: 6 }, PartialShuffle { buffer_size: 6 }),
        (StreamShuffle { buffer_size: 5 }, StreamShuffle { buffer_size: 6 }),
        (StreamShuffle { buffer_size: 11 }, Shuffle),
        (PartialShuffle { buffer_size: 11 }, Shuffle),
        (Shuffle, ShuffleOnce),
        (ShuffleOnce, Shuffle),
        (FixedOrder, BatchThenShuffle),
        (WithoutReplacement, Shuffle),
        (Poisson, BallsInBins),
        (BallsInBins, Poisson),
    ] {
        let setting = setting(dealt, 4, 3);
        let rejected =
            |(record, counts): (u64, Vec<u64>)| !agrees(&law_of(believed, &setting, record), 4, &counts);
        assert!((0..).zip(tally(&setting)).any(rejected), "{dealt} passes for {believed}");
    }
    let setting = setting(StreamShuffle { buffer_size: 5 }, 4, 3);
    let next_record = |(record, counts): (u64, Vec<u64>)| {
        !agrees(&law_of(setting.scheme, &setting, record + 1), 4, &counts)
    };
    assert!((0..11).zip(tally(&setting)).any(next_record), "a law that is off by one record passes");
}

/// Poisson and balls-in-bins: neighbours in the file behave in one epoch as one record does in two.
#[test]
fn independent_records_are_independent() {
    for scheme in [Poisson, BallsInBins] {
        let setting = setting(scheme, 4, 3);
        let mut counts = vec![0; 1 << 8];
        deal(&setting, |batches, _| counts[bits(batches, 4) | bits(batches, 5) << 4] += 1);
        assert!(agrees(&position_law(scheme, &setting), 4, &counts), "{scheme}: {counts:?}");
        let shuffle = Setting { scheme: Shuffle, ..setting };
        let mut counts = vec![0; 1 << 8];
        deal(&shuffle, |batches, _| counts[bits(batches, 4) | bits(batches, 5) << 4] += 1);
        assert!(!agrees(&position_law(Shuffle, &shuffle), 4, &counts), "a shuffle passes for independent");
    }
}

/// What holds in every epoch without exception: batches, sizes, records dealt once, orders kept.
#[test]
fn every_epoch_keeps_the_promises_of_its_scheme() {
    for setting in table() {
        let scheme = setting.scheme;
        let everyone: Vec<u64> = (0..setting.dataset_size()).collect();
        deal(&setting, |first, second| {
            assert_eq!(second.len() as u64, setting.steps_per_epoch);
            for batch in second.iter() {
                assert!(
                    !scheme.has_fixed_batch_sizes() || batch.len() as u64 == setting.batch_size,
                    "{scheme}"
                );
                assert_eq!(
                    batch.iter().collect::<HashSet<_>>().len(),
                    batch.len(),
                    "{scheme}: twice in a batch"
                );
            }
            let mut dealt = second.iter().flatten().copied().collect::<Vec<_>>();
            dealt.sort_unstable();
            assert!(!scheme.uses_each_record_once() || dealt == everyone, "{scheme}");
            assert!(dealt.last() <= everyone.last());
            assert!(!matches!(scheme, ShuffleOnce | FixedOrder) || first == second, "{scheme}");
        });
    }
}
