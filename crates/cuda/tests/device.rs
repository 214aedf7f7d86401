//! On a graphics processor: the suite of all engines, counts, splits. Where there is none, every test says so and is skipped.

use misdeal_core::{PHILOX_STREAM_NAME, ScoreStore, Setting, StoreKind, World};
use misdeal_cuda::mirror::Mirror;
use misdeal_cuda::{Cuda, gpus};
use misdeal_game::engines::Engine;
use misdeal_testkit::{skip, suite};

/// Whether there is a device; a device that is there and fails is no reason to skip.
fn is_there() -> bool {
    match gpus() {
        Ok(_) => true,
        Err(reason) if reason.is_missing() => {
            skip(&reason);
            assert!(std::env::var_os("MISDEAL_NEEDS_CUDA").is_none(), "{reason}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_game_agrees_with_the_reference_trial_by_trial() {
    if is_there() {
        let largest = suite::agrees_with_the_reference(3000, |game| Box::new(Cuda::new(game).unwrap()));
        println!("largest error, as a share of what is allowed: {largest:.3}");
    }
}

/// The mirror takes the place of the reference, which is slower, for many more trials of the fast kernels.
#[test]
fn the_fast_kernels_agree_with_their_mirror_over_many_trials() {
    if !is_there() {
        return;
    }
    for (noise_multiplier, steps_per_epoch, epochs) in [
        (1.0, 100, 1),
        (0.5, 100, 1),
        (0.5, 103, 2),
        (0.75, 1000, 1),
        (2.0, 66, 16),
        (0.8, 117, 30),
        (1.0, 440, 509),
    ] {
        let setting = Setting { noise_multiplier, steps_per_epoch, epochs, ..Setting::default() };
        let game = suite::philox_game(&setting);
        let (device, mirror) = (Cuda::new(&game).unwrap(), Mirror::new(&game).unwrap());
        let trials = (3_000_000 / (steps_per_epoch * epochs)).max(100);
        let absolute = 1e-6 * (epochs as f64 / 8.0).max(1.0);
        for world in World::BOTH {
            let mut scores = vec![0.0; trials as usize];
            let mut expected = scores.clone();
            device.score(world, 0..trials, &mut scores);
            mirror.score(world, 0..trials, &mut expected);
            let mut largest: f64 = 0.0;
            for (ours, exact) in scores.into_iter().zip(expected) {
                largest = largest.max((ours - exact).abs() / (1e-5 * exact.abs()).max(absolute));
            }
            println!(
                "{noise_multiplier} {steps_per_epoch} {epochs} {world:?}: {largest:.3} of what is allowed"
            );
            assert!(largest < 1.0, "{setting:?}");
        }
    }
}

/// Counting on the device is counting the scores, for any cut, and a trial does not depend on its company.
#[test]
fn counts_are_those_of_the_scores() {
    if !is_there() {
        return;
    }
    for setting in [Setting::default(), Setting { steps_per_epoch: 7, epochs: 2, ..Setting::default() }] {
        let game = suite::philox_game(&setting);
        let engine = Cuda::new(&game).unwrap();
        let store = |kind| ScoreStore::new(setting.clone(), "cuda", PHILOX_STREAM_NAME, kind).unwrap();
        let (mut whole, mut parts) = (store(StoreKind::Counts), store(StoreKind::Counts));
        let mut exact = store(StoreKind::Exact);
        engine.insert(3..100_003, &mut whole).unwrap();
        engine.insert(3..1000, &mut parts).unwrap();
        engine.insert(1000..100_003, &mut parts).unwrap();
        assert!(whole == parts);
        engine.insert(3..100_003, &mut exact).unwrap();
        let mut recounted = store(StoreKind::Counts);
        let scores = World::BOTH.map(|world| exact.exact_scores(world).next().unwrap().1.to_vec());
        recounted.insert(3..100_003, &scores[0], &scores[1]).unwrap();
        assert!(whole == recounted);
    }
}
