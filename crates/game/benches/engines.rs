//! Time of one Gaussian draw, from random bits to its part of a score, on one core. `cargo bench -p misdeal-game`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use misdeal_core::{Setting, World};
use misdeal_game::{Game, engines};
use std::hint::black_box;

fn engines(criterion: &mut Criterion) {
    for steps_per_epoch in [100, 1000] {
        let setting = Setting { steps_per_epoch, ..Setting::default() };
        let game = Game::new(&setting);
        let trials = 200_000 / steps_per_epoch * 16;
        let mut group = criterion.benchmark_group(format!("shuffle, {steps_per_epoch} steps"));
        group.sample_size(20);
        for name in engines::cpu::available_names().chain(["reference"]) {
            let engine = engines::choose(&game, name).expect("this processor has it");
            let trials = if name == "reference" { trials / 16 } else { trials };
            group.throughput(Throughput::Elements(trials * steps_per_epoch));
            let mut scores = vec![0.0; trials as usize];
            group.bench_function(name, |bencher| {
                bencher.iter(|| engine.score(World::In, 0..trials, black_box(&mut scores)));
            });
        }
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
