//! Time of one Gaussian draw, from random bits to its part of a score, on one core. `cargo bench -p misdeal-game`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use misdeal_core::{ClosedSet, EngineName, Setting, World};
use misdeal_game::{Game, engines};
use std::hint::black_box;
use std::time::Instant;

fn engines(criterion: &mut Criterion) {
    for steps_per_epoch in [100, 1000] {
        let setting = Setting { steps_per_epoch, ..Setting::default() };
        let game = Game::new(&setting);
        let trials = 200_000 / steps_per_epoch * 16;
        let mut group = criterion.benchmark_group(format!("shuffle, {steps_per_epoch} steps"));
        group.sample_size(20);
        for name in engines::cpu::available_names().chain([EngineName::Reference]) {
            let engine = engines::choose(&game, name).expect("this processor has it");
            let trials = if name == EngineName::Reference { trials / 16 } else { trials };
            group.throughput(Throughput::Elements(trials * steps_per_epoch));
            let mut scores = vec![0.0; trials as usize];
            group.bench_function(name.name(), |bencher| {
                bencher.iter(|| engine.score(World::In, 0..trials, black_box(&mut scores)));
            });
        }
    }
}

/// Vector instructions of the AVX-512 kernel for sixteen draws, as the compiler emits them (register moves left out).
const VECTOR_INSTRUCTIONS: f64 = 26.0;
/// 512-bit instructions that Zen 4 can start in a cycle: four pipes of 256 bits.
const VECTOR_INSTRUCTIONS_PER_CYCLE: f64 = 2.0;

/// Prints the clock, from a chain of dependent additions and rotations, and the kernel's instruction bound at that clock.
fn instruction_bound(_: &mut Criterion) {
    const LINKS: u64 = 100_000_000;
    let start = Instant::now();
    let mut chain = black_box(1_u64);
    for i in 0..LINKS {
        chain = (chain ^ i).rotate_left(7);
    }
    black_box(chain);
    let cycles_per_ns = 2.0 * LINKS as f64 / start.elapsed().as_secs_f64() / 1e9;
    let bound = VECTOR_INSTRUCTIONS / VECTOR_INSTRUCTIONS_PER_CYCLE / 16.0 / cycles_per_ns;
    println!("clock {cycles_per_ns:.2} GHz; {VECTOR_INSTRUCTIONS} vector instructions for 16 draws, at most");
    println!("{VECTOR_INSTRUCTIONS_PER_CYCLE} in a cycle: no less than {bound:.3} ns a draw on AVX-512\n");
}

criterion_group!(benches, instruction_bound, engines);
criterion_main!(benches);
