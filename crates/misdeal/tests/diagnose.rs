//! `diagnose` against logs whose scheme is known: those of our own samplers.

use misdeal::diagnose_batches;
use misdeal::request::DiagnoseRequest;
use misdeal_core::{BatchScheme, ClosedSet, Setting, Stream, World};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Diagnosed, LoggedScheme};
use misdeal_schemes::sampler;

/// Epochs of a setting's sampler, as a loader would log them.
fn log_of(setting: &Setting) -> BatchLog {
    let mut sampler = sampler(setting, &Stream::new(&setting.hash()), World::In, 0);
    let mut log = BatchLog::default();
    for epoch in 0..setting.epochs {
        for batch in sampler.next_epoch().iter() {
            log.push(epoch as u32, 0, None, batch.iter().copied()).unwrap();
        }
    }
    log
}

fn request() -> DiagnoseRequest {
    DiagnoseRequest { log: Some("log".into()), ..DiagnoseRequest::default() }
}

fn diagnosed(setting: &Setting) -> Diagnosed {
    diagnose_batches(&log_of(setting), &request()).unwrap()
}

/// Numbers between 0 and 1 that are spread well: multiples of irrational numbers.
fn spread(index: u64, which: u64) -> f64 {
    let root = [2.0_f64, 3.0, 5.0, 7.0, 11.0][which as usize].sqrt();
    ((index + 1) as f64 * root).fract()
}

/// A configuration: records from 100 to a million, 1 to 20 epochs, buffers from one record to all.
fn configuration(index: u64) -> Setting {
    let records = 100.0 * 10_000_f64.powf(spread(index, 0));
    let steps = (2.0 * (records / 4.0).powf(spread(index, 1))) as u64;
    let steps_per_epoch = steps.clamp(2, 20_000);
    let batch_size = (records as u64 / steps_per_epoch).max(1);
    let all = steps_per_epoch * batch_size;
    let most_epochs = if all > 100_000 { 3.0 } else { 20.0 };
    let epochs = 1 + (most_epochs * spread(index, 2)) as u64;
    let name = BatchScheme::NAMES[(index % 9) as usize];
    // Half of the buffers by order of magnitude, half of them evenly.
    let part = spread(index, 3);
    let buffer = if index.is_multiple_of(2) { (all as f64).powf(part) } else { all as f64 * part };
    let buffer_size = BatchScheme::has_buffer(name).then_some((buffer as u64).clamp(1, all));
    let scheme = BatchScheme::from_name(name, buffer_size).unwrap();
    Setting { steps_per_epoch, batch_size, epochs, scheme, seed: index, ..Setting::default() }
}

/// A buffer of one record is the file's order, a buffer of all is a full shuffle, and batches of one record make no difference
/// between shuffling them and shuffling records.
fn plainest_name(setting: &Setting) -> &'static str {
    match setting.scheme {
        BatchScheme::BatchThenShuffle if setting.batch_size == 1 => "shuffle",
        scheme => match scheme.buffer_size() {
            Some(1) => "fixed-order",
            Some(size) if size == setting.dataset_size() => "shuffle",
            _ => scheme.name(),
        },
    }
}

/// Right in at least 99 % of the cases where the true scheme's log-likelihood leads by ten or more, and never certain elsewhere. Only
/// buffers of nine tenths of the records or more may be called a full shuffle with certainty.
#[test]
fn names_the_scheme_of_two_hundred_configurations() {
    let (mut leading, mut right, mut wrong) = (0, 0, Vec::new());
    for index in 0..200 {
        let setting = configuration(index);
        let report = diagnosed(&setting);
        let truth = plainest_name(&setting);
        let found = &report.diagnosis;
        let value = |name: &str| {
            found.candidates.iter().find(|one| one.scheme.name() == name).and_then(|one| one.log_likelihood)
        };
        let others = found
            .candidates
            .iter()
            .filter(|one| one.scheme.name() != truth)
            .filter_map(|one| one.log_likelihood);
        let best_other = others.fold(f64::NEG_INFINITY, f64::max);
        let leads = value(truth).is_some_and(|truth| truth - best_other >= 10.0);
        let note = format!("{index}: {setting:?}: {found:#?}");
        if leads {
            leading += 1;
            if found.scheme.name() == truth { right += 1 } else { wrong.push(note) }
        } else {
            let is_large = |size: u64| {
                size as f64 >= 0.9 * setting.dataset_size() as f64 && BatchScheme::has_buffer(truth)
            };
            let nearly_all =
                setting.scheme.buffer_size().is_some_and(is_large) && found.scheme == LoggedScheme::Shuffle;
            assert!(!found.certain || nearly_all, "{note}");
        }
    }
    println!("{right} of {leading} right");
    assert!(leading >= 120, "{leading}");
    assert!(right * 100 >= leading * 99, "{right} of {leading}: {}", wrong.join("\n"));
}

#[test]
fn sizes_and_rates_are_estimated() {
    let base = Setting { steps_per_epoch: 100, batch_size: 100, epochs: 3, ..Setting::default() };
    for scheme in
        [BatchScheme::PartialShuffle { buffer_size: 1000 }, BatchScheme::StreamShuffle { buffer_size: 1000 }]
    {
        let found = diagnosed(&Setting { scheme, ..base.clone() }).diagnosis;
        assert!(found.certain && found.scheme.name() == scheme.name(), "{found:#?}");
        assert_eq!(found.parameters.buffer_size, Some(1000), "{found:#?}");
    }
    let found = diagnosed(&Setting { scheme: BatchScheme::Poisson, ..base }).diagnosis;
    let rate = found.parameters.sampling_probability.unwrap();
    assert!(
        found.certain && found.scheme == LoggedScheme::Poisson && (rate - 0.01).abs() < 5e-4,
        "{found:#?}"
    );
}

/// Loaders that sort their batches leave sets: the schemes are found all the same, and buffers nearly.
#[test]
fn batches_without_an_order_are_enough() {
    let base = Setting { steps_per_epoch: 200, batch_size: 50, epochs: 3, ..Setting::default() };
    let schemes = [
        BatchScheme::Shuffle,
        BatchScheme::ShuffleOnce,
        BatchScheme::PartialShuffle { buffer_size: 1000 },
        BatchScheme::PartialShuffle { buffer_size: 730 },
        BatchScheme::StreamShuffle { buffer_size: 1000 },
        BatchScheme::StreamShuffle { buffer_size: 20 },
        BatchScheme::WithoutReplacement,
    ];
    for scheme in schemes {
        let dealt = log_of(&Setting { scheme, ..base.clone() });
        let mut sorted = BatchLog::default();
        for (batch, records) in dealt.iter() {
            let mut records: Vec<u64> = records.iter().copied().map(u64::from).collect();
            records.sort_unstable();
            sorted.push(batch.epoch, 0, None, records).unwrap();
        }
        let found = diagnose_batches(&sorted, &request()).unwrap().diagnosis;
        assert!(found.certain && found.scheme.name() == scheme.name(), "{scheme}: {found:#?}");
        if let Some(size) = scheme.buffer_size() {
            let estimate = found.parameters.buffer_size.unwrap();
            assert!(estimate.abs_diff(size) * 10 <= size, "{scheme}: {found:#?}");
        }
    }
}

/// The defect's name if there is exactly one.
fn only_defect(report: &Diagnosed) -> &'static str {
    match &report.diagnosis.defects[..] {
        [one] => one.defect.name(),
        others => panic!("{others:#?}"),
    }
}

/// From an epoch, a step in it and its records to what each rank logs.
type Dealing<'a> = dyn Fn(u32, usize, &[u32]) -> Vec<(u32, Vec<u64>)> + 'a;

#[test]
fn defects_are_told_apart_from_schemes() {
    let setting = Setting { steps_per_epoch: 50, batch_size: 20, epochs: 3, ..Setting::default() };
    let dealt = log_of(&setting);
    let make = |keep: &Dealing<'_>| {
        let mut log = BatchLog::default();
        for (number, (batch, records)) in dealt.iter().enumerate() {
            for (rank, records) in keep(batch.epoch, number % 50, records) {
                log.push(batch.epoch, rank, None, records).unwrap();
            }
        }
        diagnose_batches(&log, &request()).unwrap()
    };
    let whole = |records: &[u32]| records.iter().copied().map(u64::from).collect::<Vec<u64>>();
    let dropped = make(&|_, step, records| if step == 49 { vec![] } else { vec![(0, whole(records))] });
    assert_eq!(
        (dropped.diagnosis.scheme.name(), only_defect(&dropped)),
        ("shuffle", "records-dropped"),
        "{:#?}",
        dropped.diagnosis
    );
    assert!(dropped.diagnosis.certain);
    let same_ranks = make(&|_, _, records| vec![(0, whole(records)), (1, whole(records))]);
    assert_eq!(
        (same_ranks.diagnosis.scheme.name(), only_defect(&same_ranks)),
        ("shuffle", "ranks-deal-the-same-records")
    );
    let twice = make(&|_, step, records| {
        let mut records = whole(records);
        if step == 30 {
            records[3] = records[4];
        }
        vec![(0, records)]
    });
    let names: Vec<_> = twice.diagnosis.defects.iter().map(|defect| defect.defect.name()).collect();
    assert_eq!(names, ["records-duplicated", "records-dropped"], "{:#?}", twice.diagnosis);
    // Every second record only.
    let gaps = make(&|_, _, records| vec![(0, whole(records).iter().map(|record| 2 * record).collect())]);
    assert_eq!((gaps.diagnosis.scheme.name(), only_defect(&gaps)), ("shuffle", "records-never-dealt"));
}

#[test]
fn what_is_no_scheme_is_unknown() {
    // Shards of 100 records in random order, each shuffled inside: neither a buffer nor a full shuffle.
    let setting = Setting { steps_per_epoch: 50, batch_size: 40, epochs: 3, ..Setting::default() };
    let shuffled = log_of(&setting);
    let mut log = BatchLog::default();
    for (epoch, records) in (0..).zip(shuffled.iter().collect::<Vec<_>>().chunks(50)) {
        let order: Vec<u64> =
            records.iter().flat_map(|(_, records)| records.iter().copied().map(u64::from)).collect();
        let shards: Vec<u64> = order.iter().copied().filter(|&record| record < 20).collect();
        let inside: Vec<u64> = order.iter().copied().filter(|&record| record < 100).collect();
        let dealt: Vec<u64> =
            shards.iter().flat_map(|shard| inside.iter().map(move |record| shard * 100 + record)).collect();
        for batch in dealt.chunks(40) {
            log.push(epoch, 0, None, batch.iter().copied()).unwrap();
        }
    }
    let found = diagnose_batches(&log, &request()).unwrap().diagnosis;
    assert!(found.scheme == LoggedScheme::Unknown && found.certain, "{found:#?}");
    // With replacement.
    let mut log = BatchLog::default();
    for (number, (batch, records)) in shuffled.iter().enumerate() {
        let records: Vec<u64> =
            records.iter().map(|&record| (u64::from(record) * 7919 + number as u64) % 1500).collect();
        log.push(batch.epoch, 0, None, records).unwrap();
    }
    let found = diagnose_batches(&log, &request()).unwrap().diagnosis;
    assert!(found.scheme == LoggedScheme::Unknown, "{found:#?}");
    assert!(found.explanation.contains("replacement"), "{}", found.explanation);
}

/// Logs too small to tell anything are diagnosed without certainty, or with it where nothing else is possible, and none makes trouble.
#[test]
fn the_smallest_logs_make_no_trouble() {
    let logs: [&[(u32, &[u64])]; 9] = [
        &[(0, &[0])],
        &[(0, &[5])],
        &[(0, &[0, 0])],
        &[(0, &[]), (0, &[1, 0])],
        &[(0, &[0, 1]), (1, &[])],
        &[(0, &[0]), (0, &[0]), (0, &[0])],
        &[(0, &[1]), (0, &[0]), (1, &[0]), (1, &[1])],
        &[(3, &[0, 1, 2]), (9, &[2, 1, 0])],
        &[(0, &[0, 2]), (0, &[1, 2])],
    ];
    for batches in logs {
        let mut log = BatchLog::default();
        for (epoch, records) in batches {
            log.push(*epoch, 0, None, records.iter().copied()).unwrap();
        }
        let noise_multiplier = Some(1.0);
        let report = diagnose_batches(&log, &DiagnoseRequest { noise_multiplier, ..request() }).unwrap();
        assert!(
            report.diagnosis.candidates.iter().all(|one| (0.0..=1.0).contains(&one.p_value)),
            "{report:#?}"
        );
        assert!(!report.diagnosis.certain || report.diagnosis.scheme == LoggedScheme::Unknown, "{report:#?}");
    }
    let mut log = BatchLog::default();
    log.push(0, 0, None, [4_000_000_000]).unwrap();
    let refusal = diagnose_batches(&log, &request()).unwrap_err().to_string();
    assert!(refusal.contains("positions, not identifiers"), "{refusal}");
}

/// Twenty logs of every scheme: none of their p-values is below 1e-6 / 200, which chance does with probability 1e-6.
#[test]
fn p_values_of_the_truth_are_not_small() {
    let schemes = [
        BatchScheme::Poisson,
        BatchScheme::Shuffle,
        BatchScheme::ShuffleOnce,
        BatchScheme::PartialShuffle { buffer_size: 70 },
        BatchScheme::StreamShuffle { buffer_size: 70 },
        BatchScheme::BatchThenShuffle,
        BatchScheme::BallsInBins,
        BatchScheme::WithoutReplacement,
    ];
    for scheme in schemes {
        let mut values = Vec::new();
        for seed in 0..20 {
            let (steps_per_epoch, batch_size) = [(2, 100), (50, 20), (500, 3), (40, 40)][seed as usize % 4];
            let setting = Setting {
                steps_per_epoch,
                batch_size,
                epochs: 1 + seed % 5,
                scheme,
                seed,
                ..Setting::default()
            };
            let found = diagnosed(&setting).diagnosis;
            let truth = found.candidates.iter().find(|one| one.scheme.name() == scheme.name()).unwrap();
            values.push(truth.p_value);
        }
        let smallest = values.iter().copied().fold(1.0, f64::min);
        assert!(smallest > 5e-9, "{scheme}: {values:?}");
        assert!(values.iter().filter(|&&value| value < 0.05).count() <= 8, "{scheme}: {values:?}");
    }
}
