//! The kernels' arithmetic, in plain Rust, against the reference: what machines without a graphics processor can test.

use misdeal_core::{BatchScheme, Setting};
use misdeal_cuda::KernelPlan;
use misdeal_cuda::mirror::Mirror;
use misdeal_testkit::suite;

#[test]
fn the_kernels_arithmetic_agrees_with_the_reference_in_every_game() {
    let largest = suite::agrees_with_the_reference(300, |game| Box::new(Mirror::new(game).unwrap()));
    println!("largest error, as a share of what is allowed: {largest:.3}");
}

#[test]
fn the_fast_kernel_plays_the_games_that_it_is_for() {
    let fast = |setting: Setting| {
        matches!(KernelPlan::new(&suite::philox_game(&setting)), Ok(KernelPlan::Equal { .. }))
    };
    assert!(fast(Setting::default()));
    assert!(fast(Setting { steps_per_epoch: 1000, noise_multiplier: 0.1, ..Setting::default() }));
    assert!(fast(Setting { scheme: BatchScheme::ShuffleOnce, epochs: 100, ..Setting::default() }));
    assert!(!fast(Setting { noise_multiplier: 0.09, ..Setting::default() }));
    assert!(!fast(Setting { steps_per_epoch: 10, ..Setting::default() }));
    assert!(!fast(Setting { scheme: BatchScheme::Poisson, ..Setting::default() }));
}
