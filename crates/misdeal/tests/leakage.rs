//! What `diagnose` says a log leaks, against closed forms: both bounds hold whatever the defects.

use misdeal::diagnose_batches;
use misdeal::request::DiagnoseRequest;
use misdeal_core::{BatchScheme, ClosedSet, Setting, SideMethod, Stream, World};
use misdeal_files::batch_log::BatchLog;
use misdeal_results::{Leakage, LoggedScheme};
use misdeal_schemes::sampler;
use misdeal_theory::account;
use misdeal_theory::gaussian::Gaussian;

const DELTA: f64 = 1e-5;

/// Batches of an epoch each, in the order in which they are dealt.
type Epochs = Vec<Vec<Vec<u64>>>;

fn dealt(setting: &Setting) -> Epochs {
    let mut sampler = sampler(setting, &Stream::new(&setting.hash()), World::In, 0);
    (0..setting.epochs).map(|_| sampler.next_epoch().iter().map(<[u64]>::to_vec).collect()).collect()
}

fn shuffled() -> Setting {
    Setting { steps_per_epoch: 20, batch_size: 50, epochs: 3, ..Setting::default() }
}

/// The name that was found and what it leaks.
fn leakage(epochs: &Epochs, dataset_size: Option<u64>, noise_multiplier: f64) -> (&'static str, Leakage) {
    let mut log = BatchLog::default();
    for (epoch, batches) in (0..).zip(epochs) {
        for batch in batches {
            log.push(epoch, 0, None, batch.iter().copied()).unwrap();
        }
    }
    let noise_multiplier = Some(noise_multiplier);
    let request =
        DiagnoseRequest { dataset_size, noise_multiplier, delta: DELTA, ..DiagnoseRequest::default() };
    let report = diagnose_batches(&log, &request).unwrap();
    (report.diagnosis.scheme.name(), report.leakage.unwrap())
}

#[test]
fn without_defects_it_is_theory_s() {
    let (scheme, found) = leakage(&dealt(&shuffled()), None, 1.0);
    let theory = account::bounds(&shuffled(), DELTA).unwrap();
    assert_eq!(scheme, "shuffle");
    // A diagnosis shares its work among several bounds, so that its grids are coarser.
    let [lower, upper] = [found.epsilon_lower_bound, found.epsilon_upper_bound].map(Option::unwrap);
    let [at_least, at_most] = theory.sides().map(Option::unwrap);
    let is_near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    assert!(is_near(lower, at_least) && is_near(upper, at_most), "{lower} {upper}: {at_least} {at_most}");
}

/// A record that one epoch deals m times may move one sum by m: a Gaussian with m times the shift.
#[test]
fn repeats_count_with_their_square() {
    for copies in [2_u64, 7, 40] {
        let mut epochs = dealt(&shuffled());
        let (record, batch) = (epochs[1][3][0], 3);
        epochs[1][batch][1..copies as usize].fill(record);
        let (scheme, found) = leakage(&epochs, None, 4.0);
        let worst = Gaussian::fixed_order(4.0 / copies as f64, 3).epsilon_upper_bound(DELTA);
        let upper = found.epsilon_upper_bound.unwrap();
        assert!((upper / worst - 1.0).abs() < 1e-9, "{copies} ({scheme}): {upper} {worst}, {}", found.method);
        assert!(found.method.to_string().contains(&format!("{copies} times")), "{}", found.method);
    }
}

/// Ranks that deal the same records add up, and so does what each of them repeats: 2 x 2 times the shift, or what is above that.
#[test]
fn copies_by_ranks_and_repeats_multiply() {
    let mut epochs = dealt(&Setting { epochs: 30, ..shuffled() });
    epochs[0][5][1] = epochs[0][5][0];
    let mut log = BatchLog::default();
    for (epoch, batches) in (0..).zip(&epochs) {
        for batch in batches {
            for rank in 0..2 {
                log.push(epoch, rank, None, batch.iter().copied()).unwrap();
            }
        }
    }
    let noise_multiplier = Some(4.0);
    let request = DiagnoseRequest { noise_multiplier, delta: DELTA, ..DiagnoseRequest::default() };
    let found = diagnose_batches(&log, &request).unwrap().leakage.unwrap();
    let worst = Gaussian::fixed_order(1.0, 30).epsilon_upper_bound(DELTA);
    // Where equal ranks leave the scheme in doubt, there is no upper bound.
    assert!(found.epsilon_upper_bound.is_none_or(|upper| upper >= worst), "{found:?} {worst}");
}

/// A loader that leaves its last, short batch out: a record takes part with probability 20/21 in each epoch, and what is claimed
/// is no more than the mixture shows.
#[test]
fn records_left_out_lower_the_lower_bound() {
    let whole = account::bounds(&shuffled(), DELTA).unwrap().epsilon_lower_bound.unwrap();
    let with_last = Setting { steps_per_epoch: 21, ..shuffled() };
    let mut epochs = dealt(&with_last);
    for epoch in &mut epochs {
        epoch.truncate(20);
    }
    let (scheme, found) = leakage(&epochs, None, 1.0);
    assert_eq!(scheme, "shuffle");
    let lower = found.epsilon_lower_bound.unwrap();
    assert!(lower < whole - 3.0 * (21_f64 / 20.0).ln() && lower > 0.7 * whole, "{lower} {whole}");
    assert_eq!(found.method.lower(), &SideMethod::LargestOutputIfPresent);

    // One batch of 100 records may be the first of a shuffle, or drawn anew: p N(1) + (1-p) N(0) against N(0), by thresholds.
    for records in [199, 200, 300, 2_000] {
        one_batch_of(records);
    }
}

fn one_batch_of(records: u64) {
    let all = Setting { steps_per_epoch: records, batch_size: 1, epochs: 1, ..Setting::default() };
    let order = dealt(&all)[0].concat();
    let (_, found) = leakage(&vec![vec![order[..100].to_vec()]], Some(records), 1.0);
    let possible = [LoggedScheme::Shuffle, LoggedScheme::Poisson, LoggedScheme::WithoutReplacement];
    assert!(possible.iter().all(|scheme| found.schemes.contains(scheme)));
    let presence = 100.0 / records as f64;
    let tail = |level: f64, mean: f64| misdeal_core::normal::cdf(mean - level);
    let shown = (0..6000)
        .map(|i| f64::from(i) * 0.002 - 2.0)
        .map(|level| {
            let absent = tail(level, 0.0);
            let present = presence * tail(level, 1.0) + (1.0 - presence) * absent;
            ((present - DELTA) / absent).ln()
        })
        .filter(|epsilon| epsilon.is_finite())
        .fold(0.0, f64::max);
    // One batch rules out no law, and some laws have no account.
    let Some(lower) = found.epsilon_lower_bound else {
        return assert!(found.schemes.len() > possible.len(), "{found:?}");
    };
    // What is proven falls behind what a mixture shows where most records are left out.
    let share = if records < 300 { 0.5 } else { 0.0 };
    assert!(share * shown <= lower && lower <= shown, "{records}: {lower} {shown}: {}", found.method);
}

/// Epochs that end early behind a sliding buffer, or before all batches of a file were dealt: with the record in `k` epochs, of which everybody
/// may know, they leak what k uses of the Gaussian mechanism leak, and no more is claimed.
#[test]
fn no_more_is_claimed_than_the_epochs_with_the_record_leak() {
    let at_most = |presence: f64, epochs: u64, noise: f64| {
        let delta = |epsilon: f64| -> f64 {
            let of = |k: u64| {
                let ways = (0..k).fold(1.0, |ways, i| ways * (epochs - i) as f64 / (i + 1) as f64);
                let mass = ways * presence.powi(k as i32) * (1.0 - presence).powi((epochs - k) as i32);
                let mu = (k as f64).sqrt() / noise;
                let cdf = misdeal_core::normal::cdf;
                mass * (cdf(mu / 2.0 - epsilon / mu) - epsilon.exp() * cdf(-mu / 2.0 - epsilon / mu))
            };
            (1..=epochs).map(of).sum()
        };
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if delta(middle) > DELTA { low = middle } else { high = middle }
        }
        high
    };
    // A buffer of 600 of 2,000 records, and the first 20 of 40 batches.
    let scheme = BatchScheme::StreamShuffle { buffer_size: 600 };
    let stream = Setting { scheme, steps_per_epoch: 40, batch_size: 50, epochs: 6, ..Setting::default() };
    let batches = Setting { scheme: BatchScheme::BatchThenShuffle, ..stream.clone() };
    let behind = 1.0 - (1.0 - 1.0 / 600.0_f64).powi(1_000);
    for (setting, kept, presence) in [(&stream, 20, behind), (&batches, 20, 0.5), (&batches, 36, 0.9)] {
        let mut epochs = dealt(setting);
        for epoch in &mut epochs {
            epoch.truncate(kept);
        }
        let (scheme, found) = leakage(&epochs, Some(2_000), 1.0);
        assert_eq!(scheme, setting.scheme.name());
        let most = at_most(presence, 6, 1.0);
        let lower = found.epsilon_lower_bound.unwrap();
        assert!(lower <= most && lower > 0.4 * most, "{scheme} {kept}: {lower} {most}: {}", found.method);
    }
}

/// The sampling probability of a log is an estimate: the interval contains the truth's bounds.
#[test]
fn poisson_allows_for_what_the_log_does_not_show() {
    let setting = Setting { scheme: BatchScheme::Poisson, seed: 3, ..shuffled() };
    let truth = account::bounds(&setting, DELTA).unwrap();
    let (scheme, found) = leakage(&dealt(&setting), Some(setting.dataset_size()), 1.0);
    assert_eq!((scheme, found.confidence), ("poisson", Some(0.95)));
    assert!(found.epsilon_lower_bound < truth.epsilon_lower_bound, "{found:?} {truth:?}");
    assert!(found.epsilon_upper_bound > truth.epsilon_upper_bound, "{found:?} {truth:?}");
    assert!(
        found.epsilon_upper_bound.unwrap() < 1.3 * truth.epsilon_upper_bound.unwrap(),
        "{found:?} {truth:?}"
    );
}

/// The likeliest buffer is the smallest, which leaks the most: the lower bound is that of the largest that the log allows.
#[test]
fn a_buffer_is_taken_at_the_end_of_its_interval() {
    for seed in 0..5 {
        let scheme = BatchScheme::StreamShuffle { buffer_size: 300 };
        let setting = Setting { scheme, seed, ..shuffled() };
        let (name, found) = leakage(&dealt(&setting), None, 1.0);
        assert_eq!(name, "stream-shuffle");
        let truth = account::bounds(&setting, DELTA).unwrap().epsilon_lower_bound.unwrap();
        let lower = found.epsilon_lower_bound.unwrap();
        assert!(lower <= 1.001 * truth && lower > 0.8 * truth, "{seed}: {lower} {truth}: {}", found.method);
    }
}

/// A scheme without a formula is audited, at any noise.
#[test]
fn without_replacement_is_audited_at_any_noise() {
    let setting = Setting { scheme: BatchScheme::WithoutReplacement, ..shuffled() };
    let epochs = dealt(&setting);
    for noise in [0.2, 1.0] {
        let (scheme, found) = leakage(&epochs, Some(setting.dataset_size()), noise);
        assert_eq!((scheme, found.confidence), ("without-replacement", Some(0.95)));
        let theory = account::bounds(&Setting { noise_multiplier: noise, ..setting.clone() }, DELTA).unwrap();
        assert!(found.epsilon_lower_bound >= theory.epsilon_lower_bound, "{found:?} {theory:?}");
        assert_eq!(found.epsilon_upper_bound, theory.epsilon_upper_bound);
        assert!(
            found.epsilon_lower_bound.unwrap() > 0.1 && found.epsilon_lower_bound < found.epsilon_upper_bound
        );
    }
}
