//! `diagnose` on logs too short to tell schemes apart: no bound and no certainty rests on what they happen to show.

use misdeal::diagnose_batches;
use misdeal::request::DiagnoseRequest;
use misdeal_core::{BatchScheme, ClosedSet, Setting, SideMethod, Stream, World};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Diagnosed, LoggedScheme};
use misdeal_schemes::sampler;
use misdeal_theory::account;

const DELTA: f64 = 1e-5;

/// The batches of every epoch of a setting's sampler.
fn dealt(setting: &Setting) -> Vec<Vec<Vec<u64>>> {
    let mut sampler = sampler(setting, &Stream::new(&setting.hash()), World::In, 0);
    let epochs = 0..setting.epochs;
    epochs.map(|_| sampler.next_epoch().iter().map(<[u64]>::to_vec).collect()).collect()
}

fn diagnosed(
    epochs: &[Vec<Vec<u64>>],
    dataset_size: Option<u64>,
    noise_multiplier: impl Into<Option<f64>>,
) -> Diagnosed {
    let mut log = BatchLog::default();
    for (epoch, batches) in epochs.iter().enumerate() {
        for batch in batches {
            log.push(epoch as u32, 0, None, batch.iter().copied()).unwrap();
        }
    }
    let noise_multiplier = noise_multiplier.into();
    let request =
        DiagnoseRequest { dataset_size, noise_multiplier, delta: DELTA, ..DiagnoseRequest::default() };
    diagnose_batches(&log, &request).unwrap()
}

/// A scheme under the plainest of its names.
fn plainest_names(setting: &Setting) -> Vec<&'static str> {
    let all = setting.dataset_size();
    let mut names = vec![setting.scheme.name()];
    match (setting.scheme, setting.scheme.buffer_size()) {
        (BatchScheme::BatchThenShuffle, _) if setting.batch_size == 1 => names.push("shuffle"),
        (_, Some(1)) => names.push("fixed-order"),
        (_, Some(size)) if size == all => names.push("shuffle"),
        _ => {}
    }
    if setting.epochs == 1 && names.contains(&"shuffle") {
        names.push("shuffle-once");
    }
    if setting.steps_per_epoch == 1 && setting.scheme.has_fixed_batch_sizes() {
        // The whole data set in one batch, in an order that means nothing.
        names.extend(["fixed-order", "shuffle", "shuffle-once", "without-replacement", "batch-then-shuffle"]);
    }
    names
}

/// Schemes of all kinds, with 2 to 200 records in batches of any size and 1 to 4 epochs.
fn configuration(index: u64) -> Setting {
    let spread = |root: f64| ((index + 1) as f64 * root.sqrt()).fract();
    let records = (2.0 * 100_f64.powf(spread(2.0))) as u64;
    let steps_per_epoch = 1 + (records as f64 * spread(3.0)) as u64;
    let batch_size = (records / steps_per_epoch).max(1);
    let all = steps_per_epoch * batch_size;
    let name = BatchScheme::NAMES[(index % 9) as usize];
    let buffer_size = BatchScheme::has_buffer(name).then_some(1 + ((all - 1) as f64 * spread(7.0)) as u64);
    let scheme = BatchScheme::from_name(name, buffer_size).unwrap();
    let epochs = 1 + (4.0 * spread(5.0)) as u64;
    Setting { steps_per_epoch, batch_size, epochs, scheme, seed: index, ..Setting::default() }
}

/// Whoever made the log: it is not called another scheme with certainty, and its own leakage lies between the bounds.
#[test]
fn small_logs_of_every_scheme_are_judged_on_the_safe_side() {
    let (mut certain, mut wrong) = (0, Vec::new());
    let (mut confident, mut beyond) = (0, Vec::new());
    for index in 0..36 {
        let setting = configuration(index);
        let epochs = dealt(&setting);
        if epochs.iter().flatten().all(Vec::is_empty) {
            continue;
        }
        let stated = index.is_multiple_of(2).then_some(setting.dataset_size());
        let report = diagnosed(&epochs, stated, 1.0);
        let found = &report.diagnosis;
        let note = || format!("{index}: {setting:?}: {found:#?} {:#?}", report.leakage);
        certain += usize::from(found.certain);
        if found.certain && !plainest_names(&setting).contains(&found.scheme.name()) {
            wrong.push(note());
        }
        let leakage = report.leakage.as_ref().unwrap();
        if leakage.is_estimate {
            continue;
        }
        let truth = account::bounds(&setting, DELTA).unwrap();
        let [at_least, no_more] = [truth.epsilon_lower_bound.unwrap(), truth.epsilon_upper_bound.unwrap()];
        let holds = leakage.epsilon_lower_bound.is_none_or(|lower| lower <= no_more + 1e-9)
            && leakage.epsilon_upper_bound.is_none_or(|upper| upper >= at_least - 1e-9);
        // The rate of Poisson sampling is known up to a 95 % interval.
        confident += usize::from(leakage.confidence.is_some());
        if !holds && leakage.confidence.is_some() {
            beyond.push(index);
        } else {
            assert!(holds, "{}", note());
        }
    }
    println!(
        "{certain} certain, {} wrong; {} of {confident} beyond a 95 % interval",
        wrong.len(),
        beyond.len()
    );
    assert!(beyond.len() * 20 <= confident, "{beyond:?} of {confident}");
    assert!(certain > 2, "{certain}");
    // A lead of ten nats errs in one of 22,000.
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

/// A full shuffle of a few epochs may look like a large sliding buffer, and the other way about.
#[test]
fn sliding_buffers_are_not_called_a_full_shuffle_with_certainty() {
    for (steps_per_epoch, batch_size, buffer_size) in [(20, 5, 75), (20, 5, 85), (12, 3, 25), (100, 10, 890)]
    {
        for (epochs, seed) in [(1, 0), (2, 1), (2, 2), (3, 3), (5, 4)] {
            let scheme = BatchScheme::StreamShuffle { buffer_size };
            let setting = Setting { steps_per_epoch, batch_size, epochs, scheme, seed, ..Setting::default() };
            let found = diagnosed(&dealt(&setting), Some(setting.dataset_size()), None).diagnosis;
            assert!(!found.certain || found.scheme != LoggedScheme::Shuffle, "{setting:?}: {found:#?}");
        }
    }
    let setting = Setting { steps_per_epoch: 100, batch_size: 10, epochs: 3, ..Setting::default() };
    assert!(diagnosed(&dealt(&setting), None, None).diagnosis.certain);
}

/// Two draws may be anything, so the upper bound covers Poisson sampling and fresh subsets, which leak more than a shuffle.
#[test]
fn two_draws_are_bounded_for_every_scheme_that_may_have_made_them() {
    for batches in [vec![vec![0_u64], vec![1]], vec![vec![3, 1], vec![0, 2]], vec![vec![0], vec![0]]] {
        let report = diagnosed(std::slice::from_ref(&batches), None, 1.0);
        let leakage = report.leakage.unwrap();
        assert!(!report.diagnosis.certain, "{:#?}", report.diagnosis);
        // Each of two Poisson batches with probability 1/2.
        let poisson = account::poisson_bounds(1.0, 0.5, 2, DELTA).unwrap().epsilon_lower_bound.unwrap();
        assert!(poisson > 4.5, "{poisson}");
        assert!(leakage.epsilon_upper_bound.is_none_or(|upper| upper >= poisson), "{batches:?}: {leakage:?}");
    }
}

/// One batch of 2 of 100 records may be a Poisson batch.
#[test]
fn one_small_batch_proves_little() {
    for batch in [[17_u64, 63], [0, 1], [98, 99]] {
        let report = diagnosed(&[vec![batch.to_vec()]], Some(100), 1.0);
        let most = account::poisson_bounds(1.0, 0.02, 1, DELTA).unwrap().epsilon_upper_bound.unwrap();
        let leakage = report.leakage.unwrap();
        assert!(leakage.epsilon_lower_bound.is_none_or(|lower| lower <= most), "{leakage:?} {most}");
        assert!(!report.diagnosis.certain);
    }
}

/// Sixty subsets of ten of 100,000 records meet twice on average: that none does shows nothing.
#[test]
fn fresh_subsets_of_many_records_are_not_called_a_shuffle_with_certainty() {
    for seed in 0..5 {
        let setting = Setting {
            steps_per_epoch: 10_000,
            batch_size: 10,
            scheme: BatchScheme::WithoutReplacement,
            seed,
            ..Setting::default()
        };
        let batches: Vec<_> = dealt(&setting)[0][..60].to_vec();
        for dataset_size in [None, Some(100_000)] {
            for epochs in [vec![batches.clone()], batches.chunks(20).map(<[Vec<u64>]>::to_vec).collect()] {
                let found = diagnosed(&epochs, dataset_size, 1.0);
                // A record that one epoch has twice does show it.
                let is_right = found.diagnosis.scheme == LoggedScheme::WithoutReplacement;
                assert!(!found.diagnosis.certain || is_right, "{seed}: {:#?}", found.diagnosis);
                let truth = account::poisson_bounds(1.0, 1e-4, 60, DELTA).unwrap();
                let lower = found.leakage.unwrap().epsilon_lower_bound.unwrap_or(0.0);
                assert!(lower <= 2.0 * truth.epsilon_upper_bound.unwrap() + 1e-3, "{seed}: {lower}");
            }
        }
    }
}

/// Bins that all epochs repeat leak as one epoch at noise s / sqrt(E), and are not called fresh ones.
#[test]
fn repeated_bins_are_not_given_the_bound_of_fresh_ones() {
    for (steps_per_epoch, batch_size) in [(5, 2), (20, 10), (117, 20)] {
        let setting =
            Setting { steps_per_epoch, batch_size, scheme: BatchScheme::BallsInBins, ..Setting::default() };
        let bins = dealt(&setting).remove(0);
        for epochs in [2, 10] {
            let report = diagnosed(&vec![bins.clone(); epochs], None, 1.0);
            let once = Setting { noise_multiplier: 1.0 / (epochs as f64).sqrt(), ..setting.clone() };
            let leaks = account::bounds(&once, DELTA).unwrap().epsilon_lower_bound.unwrap();
            let leakage = report.leakage.unwrap();
            assert!(report.diagnosis.scheme != LoggedScheme::BallsInBins, "{:#?}", report.diagnosis);
            assert!(leakage.epsilon_upper_bound.is_none_or(|upper| upper >= leaks), "{leakage:?} {leaks}");
        }
    }
}

/// A loader may sort the indices of a batch. File order is likelier then, and rules nothing out.
#[test]
fn sorted_batches_do_not_rule_random_subsets_out() {
    for scheme in [BatchScheme::Poisson, BatchScheme::WithoutReplacement] {
        let most = account::poisson_bounds(1.0, 0.25, 1, DELTA).unwrap().epsilon_upper_bound.unwrap();
        let mut above = 0;
        for seed in 0..12 {
            let setting = Setting { steps_per_epoch: 4, batch_size: 10, scheme, seed, ..Setting::default() };
            let mut batch = dealt(&setting)[0][0].clone();
            batch.sort_unstable();
            let report = diagnosed(&[vec![batch]], Some(40), 1.0);
            let leakage = report.leakage.unwrap();
            assert!(!report.diagnosis.certain, "{:#?}", report.diagnosis);
            assert!(leakage.schemes.iter().any(|one| one.name() == scheme.name()), "{seed}: {leakage:?}");
            above += usize::from(leakage.epsilon_lower_bound.is_some_and(|lower| lower > most + 1e-9));
        }
        // Rates are known up to 95 % intervals: 5 or more of 12 happen once in 5,000 times.
        assert!(above <= 4, "{scheme}: {above} of 12 lower bounds are above the truth");
    }
}

/// Fresh subsets in 3,000 epochs were audited with a million observations, which took half an hour.
#[test]
fn many_epochs_of_fresh_subsets_are_audited_with_fewer_observations() {
    let setting = Setting {
        steps_per_epoch: 10,
        batch_size: 5,
        epochs: 3_000,
        scheme: BatchScheme::WithoutReplacement,
        ..Setting::default()
    };
    let report = diagnosed(&dealt(&setting), Some(50), 1.0);
    assert_eq!(report.diagnosis.scheme, LoggedScheme::WithoutReplacement);
    let leakage = report.leakage.unwrap();
    assert!(
        leakage.method.lower() == &SideMethod::Audit { observations: 6666 }
            || leakage.epsilon_lower_bound > Some(0.0),
        "{}",
        leakage.method
    );
}

/// Arrays of the data set's length were made for every epoch: a hundred thousand epochs of one record took an hour and more.
#[test]
fn many_short_epochs_of_a_large_data_set_are_diagnosed() {
    let mut log = BatchLog::default();
    for epoch in 0..100_000_u32 {
        log.push(epoch, 0, None, [u64::from(epoch.wrapping_mul(2_654_435_761) % (1 << 25))]).unwrap();
    }
    let request = DiagnoseRequest { dataset_size: Some(1 << 25), ..DiagnoseRequest::default() };
    let report = diagnose_batches(&log, &request).unwrap();
    assert_eq!((report.epochs, report.steps_per_epoch), (100_000, 1));
}

/// One rank with a million batches and thousands with one: every step asked all ranks.
#[test]
fn ranks_of_unlike_length_cost_their_length() {
    let mut log = BatchLog::default();
    for batch in 0..300_000_u64 {
        log.push(0, 0, None, [batch]).unwrap();
    }
    for rank in 1..20_000_u32 {
        log.push(0, rank, None, [300_000 + u64::from(rank)]).unwrap();
    }
    let request = DiagnoseRequest::default();
    assert_eq!(diagnose_batches(&log, &request).unwrap().ranks, 20_000);
}
