//! The bounds beside theory's exact pairs.

use super::*;
use crate::Unwatched;
use misdeal_core::BatchScheme;

const DELTA: f64 = 1e-5;

fn setting(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64, seed: u64) -> Setting {
    Setting { noise_multiplier, steps_per_epoch, epochs, batch_size: 10, seed, ..Setting::default() }
}

#[test]
#[ignore]
fn look() {
    let n: u64 = std::env::var("N").map_or(1_000_000, |n| n.parse().unwrap());
    let bins = Setting { scheme: BatchScheme::BallsInBins, ..setting(1.0, 100, 1, 0) };
    for (s, exact) in [
        (setting(1.0, 100, 1, 0), 4.06602),
        (setting(1.5, 100, 1, 0), 1.46689),
        (setting(1.0, 1000, 1, 0), 2.88341),
        (setting(3.3242, 100, 1, 0), 0.1213),
        (bins, 0.62094),
        (setting(3.0, 11, 168, 0), 7.7325),
        (setting(0.79, 117, 10, 0), 17.754),
    ] {
        let start = std::time::Instant::now();
        let b = divergence_lower_bound(&s, DELTA, 0.05, n, &Unwatched).unwrap();
        println!("{:.5} of {exact}: {:.3}%  {:.2}s {}", b.epsilon_lower_bound, (1.0 - b.epsilon_lower_bound / exact) * 100.0, start.elapsed().as_secs_f64(), b.method);
    }
}
