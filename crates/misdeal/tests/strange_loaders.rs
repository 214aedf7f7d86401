//! `diagnose` on loaders that follow none of the nine schemes, or that break: none is wrong and certain.

use misdeal::diagnose_batches;
use misdeal::request::DiagnoseRequest;
use misdeal_core::{BatchScheme, ClosedSet, Purpose, Setting, Stream, World};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{DefectName, Diagnosed, LoggedScheme};
use misdeal_theory::account;

/// Random numbers for one log.
struct Dice {
    stream: Stream,
    index: u32,
}

impl Dice {
    fn new(seed: u64) -> Self {
        Dice { stream: Stream::new(&Setting { seed, ..Setting::default() }.hash()), index: 0 }
    }

    fn below(&mut self, count: usize) -> usize {
        self.index += 1;
        let word = self.stream.uniform(Purpose::Position, World::In, u64::from(self.index), 0);
        ((u128::from(word) * count as u128) >> 64) as usize
    }

    fn chance(&mut self, probability: f64) -> bool {
        (self.below(1 << 30) as f64) < probability * f64::from(1 << 30)
    }

    fn gaussian(&mut self) -> f64 {
        self.index += 1;
        self.stream.gaussian(World::In, u64::from(self.index), 0)
    }

    fn shuffled(&mut self, mut records: Vec<u64>) -> Vec<u64> {
        for place in (1..records.len()).rev() {
            records.swap(place, self.below(place + 1));
        }
        records
    }
}

/// Batches of all epochs.
type Epochs = Vec<Vec<Vec<u64>>>;

fn cut(order: &[u64], size: usize) -> Vec<Vec<u64>> {
    order.chunks(size).map(<[u64]>::to_vec).collect()
}

fn all(records: usize) -> Vec<u64> {
    (0..records as u64).collect()
}

fn poisson(dice: &mut Dice, rates: &[f64]) -> Vec<u64> {
    let records = (0_u64..).zip(rates);
    records.filter(|&(_, &rate)| dice.chance(rate)).map(|(record, _)| record).collect()
}

fn diagnosed(epochs: &Epochs, dataset_size: u64, delta: f64, noise: Option<f64>) -> Diagnosed {
    let mut log = BatchLog::default();
    for (epoch, batches) in (0..).zip(epochs) {
        for batch in batches {
            log.push(epoch, 0, None, batch.iter().copied()).unwrap();
        }
    }
    let request = DiagnoseRequest {
        dataset_size: Some(dataset_size),
        noise_multiplier: noise,
        delta,
        ..DiagnoseRequest::default()
    };
    diagnose_batches(&log, &request).unwrap()
}

/// Groups of records that take turns; each step samples its group.
fn cyclic(dice: &mut Dice, records: usize, steps: usize, epochs: usize, cycle: usize, rate: f64) -> Epochs {
    let group_of: Vec<usize> = (0..records).map(|record| record % cycle).collect();
    let mut number = 0;
    let mut step = |dice: &mut Dice| {
        let rates: Vec<f64> =
            group_of.iter().map(|&group| if group == number % cycle { rate } else { 0.0 }).collect();
        number += 1;
        poisson(dice, &rates)
    };
    (0..epochs).map(|_| (0..steps).map(|_| step(dice)).collect()).collect()
}

/// The loaders, each with the names that it may be given and the only one that may be certain.
#[expect(clippy::too_many_lines, reason = "a list")]
fn loaders(seed: u64) -> Vec<(&'static str, Epochs, &'static [LoggedScheme])> {
    use LoggedScheme as Scheme;
    let dice = &mut Dice::new(seed);
    let n = 1200;
    let fresh = |dice: &mut Dice| cut(&dice.shuffled(all(n)), 20);
    let mut found: Vec<(&'static str, Epochs, &'static [LoggedScheme])> = Vec::new();
    // Easy records first, in an order that the file does not show.
    let hard = dice.shuffled(all(n));
    let stages = |dice: &mut Dice| {
        let order: Vec<u64> = hard.chunks(400).flat_map(|stage| dice.shuffled(stage.to_vec())).collect();
        cut(&order, 20)
    };
    found.push(("stages", (0..3).map(|_| stages(dice)).collect(), &[Scheme::Staged]));
    // Megabatches sorted by length.
    let lengths: Vec<usize> = (0..n).map(|_| dice.below(100)).collect();
    let grouped = |dice: &mut Dice| {
        let order: Vec<u64> = dice
            .shuffled(all(n))
            .chunks(400)
            .flat_map(|mega| {
                let mut mega = mega.to_vec();
                mega.sort_by_key(|&record| lengths[record as usize]);
                mega
            })
            .collect();
        cut(&order, 20)
    };
    found.push((
        "lengths",
        (0..4).map(|_| grouped(dice)).collect(),
        &[Scheme::LengthGrouped, Scheme::Unknown],
    ));
    // Heavier records come earlier.
    let weights: Vec<f64> = (0..n).map(|_| dice.gaussian()).collect();
    let weighted = |dice: &mut Dice| {
        let mut keys: Vec<(f64, u64)> =
            (0..n).map(|record| (weights[record] + 2.0 * dice.gaussian(), record as u64)).collect();
        keys.sort_by(|one, other| one.0.total_cmp(&other.0));
        cut(&keys.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), 20)
    };
    found.push(("weights", (0..3).map(|_| weighted(dice)).collect(), &[Scheme::Unknown]));
    // The same batches in new orders.
    let batches = fresh(dice);
    let reordered = |dice: &mut Dice| {
        dice.shuffled(all(batches.len())).iter().map(|&batch| batches[batch as usize].clone()).collect()
    };
    found.push(("fixed batches", (0..3).map(|_| reordered(dice)).collect(), &[Scheme::Unknown]));
    // Orders that recur after a restart.
    let [a, b] = [fresh(dice), fresh(dice)];
    found.push(("orders that recur", vec![a.clone(), b.clone(), a, b], &[Scheme::Unknown]));
    // Shards permuted once, then a buffer.
    let shards = dice.shuffled(all(60));
    let order: Vec<u64> = shards.iter().flat_map(|&shard| 20 * shard..20 * shard + 20).collect();
    let buffered = |dice: &mut Dice| {
        let (mut buffer, mut dealt) = (order[..100].to_vec(), Vec::new());
        for &next in &order[100..] {
            let slot = dice.below(buffer.len());
            dealt.push(std::mem::replace(&mut buffer[slot], next));
        }
        dealt.extend(dice.shuffled(buffer));
        cut(&dealt, 20)
    };
    found.push(("shards", (0..3).map(|_| buffered(dice)).collect(), &[Scheme::ShardsThenBuffer]));
    // Poisson batches that are cut at a cap.
    let truncated = |dice: &mut Dice| {
        let batch = poisson(dice, &vec![0.02; n]);
        let mut kept = dice.shuffled(batch);
        kept.truncate(28);
        kept
    };
    found.push((
        "truncated",
        (0..3).map(|_| (0..50).map(|_| truncated(dice)).collect()).collect(),
        &[Scheme::TruncatedPoisson],
    ));
    // Buckets of like records; each leaves a short batch.
    let buckets = |dice: &mut Dice| {
        let mut batches: Vec<Vec<u64>> =
            hard.chunks(110).flat_map(|bucket| cut(&dice.shuffled(bucket.to_vec()), 20)).collect();
        let order = dice.shuffled(all(batches.len()));
        order.iter().map(|&batch| std::mem::take(&mut batches[batch as usize])).collect()
    };
    found.push((
        "buckets",
        (0..3).map(|_| buckets(dice)).collect(),
        &[Scheme::LengthGrouped, Scheme::Unknown],
    ));
    // Bins drawn once; the order inside changes.
    let bins = {
        let mut bins = vec![Vec::new(); 60];
        (0..n as u64).for_each(|record| bins[dice.below(60)].push(record));
        bins
    };
    let binned = |dice: &mut Dice| bins.iter().map(|bin| dice.shuffled(bin.clone())).collect();
    found.push(("bins", (0..3).map(|_| binned(dice)).collect(), &[Scheme::BallsInBinsOnce]));
    found.push(("cyclic", cyclic(dice, n, 60, 3, 5, 0.1), &[Scheme::CyclicPoisson]));
    // Each record joins three of 60 steps.
    let allocated = |dice: &mut Dice| {
        let mut steps = vec![Vec::new(); 60];
        for record in 0..n as u64 {
            dice.shuffled(all(60))[..3].iter().for_each(|&step| steps[step as usize].push(record));
        }
        steps
    };
    found.push(("allocation", (0..2).map(|_| allocated(dice)).collect(), &[Scheme::Allocation]));
    let replaced =
        |dice: &mut Dice| (0..60).map(|_| (0..20).map(|_| dice.below(n) as u64).collect()).collect();
    found.push(("replacement", (0..3).map(|_| replaced(dice)).collect(), &[Scheme::WithReplacement]));
    // Rates that differ from record to record.
    let rates: Vec<f64> = (0..n).map(|record| 0.01 * (1 + record % 3) as f64).collect();
    let uneven = |dice: &mut Dice| (0..50).map(|_| poisson(dice, &rates)).collect();
    found.push(("rates", (0..3).map(|_| uneven(dice)).collect(), &[Scheme::Unknown]));
    found
}

#[test]
fn loaders_outside_the_nine_schemes_are_never_wrong_with_certainty() {
    for seed in 0..4 {
        for (loader, epochs, names) in loaders(seed) {
            let report = diagnosed(&epochs, 1200, 1e-5, (seed == 0).then_some(1.0));
            let found = &report.diagnosis;
            assert!(names.contains(&found.scheme), "{seed} {loader}: {found:#?}");
            if let Some(leakage) = &report.leakage {
                let is_bounded = leakage.epsilon_upper_bound.is_some();
                assert!(!is_bounded || found.certain, "{loader}: {leakage:#?}");
            }
            if found.scheme == LoggedScheme::Unknown {
                assert!(!found.hints.is_empty() || loader == "rates", "{loader}: {found:#?}");
            }
        }
    }
}

/// Short logs pass every test, whoever made them: nothing is certain, and nothing is bounded from above.
#[test]
fn short_logs_of_unknown_laws_are_neither_certain_nor_bounded() {
    for seed in 0..6 {
        let dice = &mut Dice::new(100 + seed);
        let (records, steps, epochs) =
            [(20, 5, 3), (20, 10, 3), (30, 6, 2), (12, 12, 4), (40, 8, 2), (24, 4, 3)][seed as usize];
        let pairs = |dice: &mut Dice| {
            let order = dice.shuffled(all(records / 2));
            cut(
                &order.iter().flat_map(|&pair| [2 * pair, 2 * pair + 1]).collect::<Vec<_>>(),
                2 * records.div_ceil(2 * steps),
            )
        };
        let rates: Vec<f64> = (0..records).map(|record| if record % 4 == 0 { 0.5 } else { 0.1 }).collect();
        let logs = [
            cyclic(dice, records, steps, epochs, 2, 0.5),
            cyclic(dice, records, steps, epochs, steps.min(4), 0.6),
            (0..epochs).map(|_| pairs(dice)).collect(),
            (0..epochs).map(|_| (0..steps).map(|_| poisson(dice, &rates)).collect()).collect(),
        ];
        for (law, epochs) in logs.iter().enumerate() {
            let report = diagnosed(epochs, records as u64, 1e-5, Some(2.0));
            let leakage = report.leakage.unwrap();
            assert!(
                !report.diagnosis.certain || report.diagnosis.scheme == LoggedScheme::Unknown,
                "{seed} {law}: {:#?}",
                report.diagnosis
            );
            assert_eq!(leakage.epsilon_upper_bound, None, "{seed} {law}: {leakage:#?}");
        }
    }
}

/// The divergence of the outputs of a group's steps from those without the record, at an epsilon, by simulation.
fn delta_of_cyclic(rate: f64, steps: usize, noise: f64, epsilon: f64, trials: usize) -> f64 {
    let dice = &mut Dice::new(9);
    let precision = 1.0 / (noise * noise);
    let mut sum = 0.0;
    for _ in 0..trials {
        let mut ratio = 0.0_f64;
        for _ in 0..steps {
            let output = noise * dice.gaussian() + f64::from(u8::from(dice.chance(rate)));
            ratio += (1.0 - rate + rate * ((output - 0.5) * precision).exp()).ln();
        }
        sum += (1.0 - (epsilon - ratio).exp()).max(0.0);
    }
    sum / trials as f64
}

/// The bounds of cyclic sampling lie on both sides of what a simulation of that loader finds.
#[test]
fn bounds_of_a_cyclic_loader_hold_in_a_simulation_of_it() {
    let (rate, cycle, steps, epochs, delta, noise) = (0.1, 5, 60, 3, 0.01, 1.0);
    let log = cyclic(&mut Dice::new(4), 1200, steps, epochs, cycle, rate);
    let report = diagnosed(&log, 1200, delta, Some(noise));
    assert!(report.diagnosis.certain, "{:#?}", report.diagnosis);
    let leakage = report.leakage.unwrap();
    let [lower, upper] = leakage.sides().map(Option::unwrap);
    let simulated = |epsilon| delta_of_cyclic(rate, steps * epochs / cycle, noise, epsilon, 60_000);
    // The standard error is 0.0005 at most; rates are known up to a 95 % interval.
    assert!(simulated(upper) < delta + 0.002 && simulated(lower) > delta - 0.002, "{lower} {upper}");
    // Poisson sampling of all records with the same batches would leak less.
    let naive = account::poisson_bounds(noise, rate / cycle as f64, (steps * epochs) as u64, delta).unwrap();
    assert!(upper > naive.epsilon_upper_bound.unwrap());
}

#[test]
fn bins_that_are_drawn_once_leak_as_one_epoch_with_less_noise() {
    let (_, epochs, _) = loaders(0).into_iter().find(|loader| loader.0 == "bins").unwrap();
    let report = diagnosed(&epochs, 1200, 1e-5, Some(1.0));
    assert!(report.diagnosis.certain, "{:#?}", report.diagnosis);
    let once = Setting {
        noise_multiplier: 1.0 / 3_f64.sqrt(),
        steps_per_epoch: 60,
        batch_size: 20,
        scheme: BatchScheme::BallsInBins,
        ..Setting::default()
    };
    let truth = account::bounds(&once, 1e-5).unwrap();
    let [lower, upper] = report.leakage.unwrap().sides().map(Option::unwrap);
    assert!(lower <= truth.epsilon_upper_bound.unwrap() && upper >= truth.epsilon_lower_bound.unwrap());
}

fn names(report: &Diagnosed) -> Vec<DefectName> {
    report.diagnosis.defects.iter().map(|defect| defect.defect).collect()
}

#[test]
fn equal_seeds_on_ranks_are_a_defect_and_have_no_upper_bound() {
    let dice = &mut Dice::new(7);
    let mut log = BatchLog::default();
    for epoch in 0..3 {
        for _ in 0..40 {
            let places = poisson(dice, &vec![0.04; 300]);
            for rank in 0..2 {
                log.push(epoch, rank, None, places.iter().map(|place| 2 * place + u64::from(rank))).unwrap();
            }
        }
    }
    let request = DiagnoseRequest { noise_multiplier: Some(1.0), ..DiagnoseRequest::default() };
    let report = diagnose_batches(&log, &request).unwrap();
    assert!(names(&report).contains(&DefectName::RanksShareSeed), "{:#?}", report.diagnosis);
    assert_eq!(report.leakage.unwrap().epsilon_upper_bound, None);
    // A distributed sampler deals one permutation in turn, which pairs records anew in every epoch.
    let mut honest = BatchLog::default();
    for epoch in 0..3 {
        for batch in cut(&dice.shuffled(all(600)), 20) {
            for rank in 0..2 {
                honest.push(epoch, rank, None, batch.iter().copied().skip(rank as usize).step_by(2)).unwrap();
            }
        }
    }
    let report = diagnose_batches(&honest, &request).unwrap();
    assert!(report.diagnosis.certain && names(&report).is_empty(), "{:#?}", report.diagnosis);
}

#[test]
fn records_counted_from_one_are_noticed() {
    let dice = &mut Dice::new(8);
    let epochs: Epochs = (0..3)
        .map(|_| {
            cut(&dice.shuffled(all(30)), 1)
                .iter()
                .map(|batch| (20 * batch[0] + 1..20 * batch[0] + 21).collect())
                .collect()
        })
        .collect();
    let report = diagnosed(&epochs, 600, 1e-5, None);
    assert_eq!(report.diagnosis.scheme, LoggedScheme::BatchThenShuffle, "{:#?}", report.diagnosis);
    assert_eq!((names(&report), report.dataset_size), (vec![DefectName::RecordsCountedFromOne], 600));
}

#[test]
fn an_epoch_that_begins_again_is_a_defect_with_a_cost() {
    let dice = &mut Dice::new(3);
    let mut epochs: Epochs = (0..3).map(|_| cut(&dice.shuffled(all(600)), 20)).collect();
    let whole = diagnosed(&epochs, 600, 1e-5, Some(1.0));
    let tried: Vec<Vec<u64>> = cut(&dice.shuffled(all(600)), 20)[..12].to_vec();
    epochs[1] = [tried, epochs[1].clone()].concat();
    let report = diagnosed(&epochs, 600, 1e-5, Some(1.0));
    assert!(names(&report).contains(&DefectName::EpochRestarted), "{:#?}", report.diagnosis);
    assert_eq!((report.diagnosis.scheme, report.epochs), (LoggedScheme::Shuffle, 4));
    let upper = |report: &Diagnosed| report.leakage.as_ref().unwrap().epsilon_upper_bound;
    assert!(upper(&report).is_none() || upper(&report) > upper(&whole));
}

#[test]
fn batches_that_are_replayed_after_a_resume_are_a_defect_with_a_cost() {
    let dice = &mut Dice::new(5);
    let mut epochs: Epochs = (0..3).map(|_| cut(&dice.shuffled(all(600)), 20)).collect();
    let whole = diagnosed(&epochs, 600, 1e-5, Some(1.0));
    let again: Vec<Vec<u64>> = epochs[1][5..15].to_vec();
    epochs[1].splice(15..15, again);
    let report = diagnosed(&epochs, 600, 1e-5, Some(1.0));
    assert_eq!(report.diagnosis.scheme, LoggedScheme::Shuffle, "{:#?}", report.diagnosis);
    assert_eq!(names(&report), [DefectName::RecordsDuplicated]);
    assert!(report.diagnosis.defects[0].message.contains("resume"), "{:#?}", report.diagnosis.defects);
    let upper = |report: &Diagnosed| report.leakage.as_ref().unwrap().epsilon_upper_bound;
    assert!(upper(&report).is_none() || upper(&report) > upper(&whole));
}

/// Honest loaders keep their certainty. A log is doubted once in a thousand times, so five or more of 160 with a probability below 1e-6.
#[test]
fn honest_loaders_are_not_accused() {
    let schemes = [
        BatchScheme::Shuffle,
        BatchScheme::Poisson,
        BatchScheme::BallsInBins,
        BatchScheme::StreamShuffle { buffer_size: 100 },
    ];
    let mut doubted = Vec::new();
    for seed in 0..160 {
        let scheme = schemes[seed as usize % 4];
        let (steps_per_epoch, batch_size) =
            [(30, 20), (10, 50), (100, 5), (40, 32), (7, 100)][seed as usize % 5];
        let epochs = [2, 3, 5, 10][(seed / 4) as usize % 4];
        let setting = Setting { steps_per_epoch, batch_size, epochs, scheme, seed, ..Setting::default() };
        let mut sampler = misdeal_schemes::sampler(&setting, &Stream::new(&setting.hash()), World::In, 0);
        let log: Epochs =
            (0..epochs).map(|_| sampler.next_epoch().iter().map(<[u64]>::to_vec).collect()).collect();
        let report = diagnosed(&log, setting.dataset_size(), 1e-5, None);
        let found = report.diagnosis;
        assert_eq!(found.scheme.name(), scheme.name(), "{setting:?}: {found:#?}");
        if !found.certain {
            doubted.push(format!(
                "{scheme} {steps_per_epoch} x {batch_size}, {epochs} epochs: {}",
                found.explanation
            ));
        }
    }
    assert!(doubted.len() <= 4, "{}", doubted.join("\n"));
}
