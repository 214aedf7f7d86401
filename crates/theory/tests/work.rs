//! What theory may cost: no setting in the documented ranges takes more work or memory than it is given.
//!
//! No test asserts a time. Work is counted, and a unit is about a nanosecond; the suite gives less of it than a command has, so that all
//! answers here are the coarse ones.

use misdeal_core::{BatchScheme, Setting};
use misdeal_theory::gaussian::Gaussian;
use misdeal_theory::pld::Side;
use misdeal_theory::shuffle_max::LargestOutput;
use misdeal_theory::work::Work;
use misdeal_theory::{account, delta, trade_off};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Units that one question has here.
const LITTLE: f64 = 3e8;

/// All tests of this file together stay below this, on however many threads.
const MOST_MEGABYTES: f32 = 900.0;

fn setting(name: &str, steps_per_epoch: u64, epochs: u64, noise_multiplier: f64) -> Setting {
    let buffer = BatchScheme::has_buffer(name).then_some(1000.min(steps_per_epoch * 100));
    let scheme = BatchScheme::from_name(name, buffer).unwrap();
    Setting { scheme, steps_per_epoch, epochs, noise_multiplier, ..Setting::default() }.validated().unwrap()
}

/// Asks for bounds, delta and the curve with `units` of work each. They must not spend more, must be in order, and must be there at all
/// where there is a closed form.
fn ask(setting: &Setting, delta: f64, units: f64) {
    let work = Work::of(units);
    let found = account::bounds_within(setting, delta, &work).unwrap();
    assert!(work.spent() <= units, "{setting:?}: {}", work.spent());
    let upper = found.epsilon_upper_bound.unwrap_or_else(|| panic!("{setting:?} {found:?}"));
    assert!(upper.is_finite() && upper >= found.epsilon_lower_bound.unwrap_or(0.0), "{setting:?} {found:?}");

    let work = Work::of(units);
    let found = delta::bounds_within(setting, 1.0, &work).unwrap();
    assert!(work.spent() <= units, "{setting:?}: {}", work.spent());
    let (lower, upper) = (found.delta_lower_bound.unwrap_or(0.0), found.delta_upper_bound.unwrap());
    assert!(0.0 <= lower && lower <= upper && upper <= 1.0, "{setting:?} {found:?}");

    let work = Work::of(units);
    let band = trade_off::band_within(setting, &work).unwrap();
    assert!(work.spent() <= units, "{setting:?}: {}", work.spent());
    if let (Some(lower), Some(upper)) = (&band.lower, &band.upper) {
        for rate in [1e-6, 0.01, 0.5, 0.99] {
            let (least, most) = (lower.false_negative_rate(rate), upper.false_negative_rate(rate));
            assert!(least <= most + 1e-9, "{setting:?} at {rate}: {least} {most}");
        }
    }
    assert!(MEMORY.peak_usage_as_mb() < MOST_MEGABYTES, "{setting:?}: {} MB", MEMORY.peak_usage_as_mb());
}

/// `account --epochs 1e7`. The old code took 1.8 GB and minutes, whatever the scheme, or aborted for want of memory.
#[test]
fn ten_million_epochs_are_answered() {
    for name in BatchScheme::NAMES {
        ask(&setting(name, 100, 10_000_000, 1.0), 1e-5, LITTLE);
    }
}

/// `account --sampling-probability 0.5 --steps 2147483648`. The old code took more than 2.8 GB.
#[test]
fn two_billion_poisson_steps_are_answered() {
    let work = Work::of(LITTLE);
    let found = account::poisson_bounds_within(1.0, 0.5, 1 << 31, 1e-5, &work).unwrap();
    let every_step = Gaussian::fixed_order(1.0, 1 << 31).epsilon_upper_bound(1e-5);
    assert!(found.epsilon_upper_bound.is_some_and(|upper| upper <= every_step), "{found:?}");
    assert!(work.spent() <= LITTLE && MEMORY.peak_usage_as_mb() < MOST_MEGABYTES);
}

/// `account --trade-off` and `--epsilon` with 1,000 epochs at noise 0.01. The old code went on for more than 12 s.
#[test]
fn little_noise_is_answered() {
    for name in BatchScheme::NAMES {
        ask(&setting(name, 100, 1000, 0.01), 1e-5, LITTLE);
    }
}

/// `account --compare --epochs 100000`, and `audit --epochs 10000 --trade-off`: the old code took 1.2 GB and 2 GB.
#[test]
fn many_epochs_of_the_largest_output_are_answered() {
    for (noise, epochs) in [(1.0, 100_000), (1.0, 10_000_000), (0.01, 1000), (1000.0, 1_000_000)] {
        let work = Work::of(LITTLE);
        let found = LargestOutput::shuffle(noise, 100).composed_within(epochs, 1e-5, &work).unwrap();
        let most = Gaussian::fixed_order(noise, epochs).epsilon_upper_bound(1e-5);
        assert!((0.0..=most).contains(&found), "{noise} {epochs}: {found} above {most}");
        assert!(work.spent() <= LITTLE, "{noise} {epochs}: {}", work.spent());
    }
    ask(&setting("shuffle", 100, 10_000, 1.0), 1e-5, LITTLE);
    assert!(MEMORY.peak_usage_as_mb() < MOST_MEGABYTES);
}

/// Losses whose Q underflows end up on the grid's last point, which must not lie above them. On coarse grids it did: epsilon was
/// 1677721 at a noise of 0.01 and 100 epochs, where 504264 is proven to be enough.
#[test]
fn underflow_does_not_raise_a_lower_bound() {
    for noise in [0.01, 0.02, 0.03] {
        for epochs in [2, 100] {
            for units in [1e8, 1e9] {
                let found =
                    LargestOutput::shuffle(noise, 100).composed_within(epochs, 1e-5, &Work::of(units));
                let most = Gaussian::fixed_order(noise, epochs).epsilon_upper_bound(1e-5);
                assert!(found.unwrap() <= most, "{noise} {epochs}");
            }
        }
    }
}

/// The upper side of what is used once an epoch is a closed form. `calibrate --target-epsilon 1e-6 --epochs 1e6` computed the lower side too,
/// at each of some twenty noises, which took 1.1 GB and minutes.
#[test]
fn a_closed_form_costs_nothing() {
    for name in
        ["fixed-order", "shuffle", "shuffle-once", "partial-shuffle", "stream-shuffle", "batch-then-shuffle"]
    {
        let work = Work::of(0.0);
        let setting = setting(name, 100, 1_000_000, 5.0);
        let found = account::side_within(&setting, 1e-5, Side::Upper, &work).unwrap();
        let exact = Gaussian::fixed_order(5.0, 1_000_000).epsilon_upper_bound(1e-5);
        assert_eq!(found.epsilon_upper_bound, Some(exact), "{name}");
    }
}

/// `stream-shuffle` with 1e9 steps an epoch. The old code listed the probabilities of all batches: 8 to 17 GB.
#[test]
fn a_billion_batches_behind_a_buffer_are_answered() {
    for name in ["stream-shuffle", "partial-shuffle"] {
        for buffer_size in [1001, 999_999_999] {
            let scheme = BatchScheme::from_name(name, Some(buffer_size)).unwrap();
            let setting = Setting { scheme, steps_per_epoch: 1_000_000_000, ..Setting::default() };
            ask(&setting.validated().unwrap(), 1e-5, LITTLE);
        }
    }
}

/// Less work costs width and no truth: all intervals hold the same epsilon, and one that had enough is the same for more.
#[test]
fn coarse_bounds_hold_what_fine_bounds_hold() {
    for name in ["poisson", "shuffle", "balls-in-bins", "stream-shuffle", "batch-then-shuffle"] {
        for (steps, epochs, noise) in [(10, 2, 1.0), (100, 1000, 3.0), (4, 1, 0.3)] {
            let setting = setting(name, steps, epochs, noise);
            let at = |units: f64| account::bounds_within(&setting, 1e-5, &Work::of(units)).unwrap();
            let found = [1e7, 1e8, 3e8, 1e9].map(at);
            let lowers = found.iter().filter_map(|found| found.epsilon_lower_bound);
            let uppers = found.iter().filter_map(|found| found.epsilon_upper_bound);
            let (most, least) = (lowers.fold(0.0, f64::max), uppers.fold(f64::INFINITY, f64::min));
            assert!(most <= least, "{name} {steps} {epochs} {noise}: {found:?}");
        }
    }
}

/// Corners of all documented ranges, drawn by a fixed rule.
#[test]
fn no_corner_takes_more_than_it_is_given() {
    let noises = [0.01, 0.1, 0.5, 1.0, 10.0, 1000.0];
    let steps = [1, 2, 117, 100_000, 1_000_000_000];
    let epochs = [1, 2, 10, 1000, 100_000, 10_000_000];
    let deltas = [1e-300, 1e-15, 1e-12, 1e-5, 0.5];
    let mut draw = 0x9e37_79b9_u64;
    let mut next = |among: usize| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as usize % among
    };
    for _ in 0..12 {
        for name in BatchScheme::NAMES {
            let (noise, delta) = (noises[next(noises.len())], deltas[next(deltas.len())]);
            let steps = steps[next(steps.len())];
            let epochs = epochs[next(epochs.len())].min((1 << 31) / steps);
            ask(&setting(name, steps, epochs, noise), delta, 0.1 * LITTLE);
        }
    }
}
