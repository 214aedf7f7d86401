//! Against dp-accounting and prv-accountant, known values, and the monotonicity that theory demands.

use super::*;

fn interval(noise: f64, q: f64, steps: u64, delta: f64) -> Interval {
    epsilon(noise, q, steps, delta).unwrap()
}

#[test]
fn agrees_with_known_values() {
    let cases = [
        (0.5, 100, 6.4763),
        (1.0, 100, 0.71804),
        (1.5, 100, 0.29212),
        (0.5, 1000, 3.2389),
        (1.0, 1000, 0.1489),
        (1.5, 1000, 0.0739),
    ];
    for (noise, steps, expected) in cases {
        let start = std::time::Instant::now();
        let ours = interval(noise, 1.0 / steps as f64, steps, 1e-5);
        println!("{noise} {steps} {ours:?} {expected} {:?}", start.elapsed());
        assert!(
            ours.epsilon_lower_bound < expected + 6e-5 && expected - 6e-5 < ours.epsilon_upper_bound,
            "{ours:?} {expected}"
        );
    }
}
#[test]
fn debug_aim() {
    let pair = SubsampledGaussian::new(0.5, 0.01).unwrap();
    let tail = 1e-13;
    let r = pair.loss_range(tail);
    for points in [400.0, 4000.0, 40000.0] {
        let cells = pair.cells((r.1 - r.0) / points, tail);
        let law = cells.pessimistic();
        println!("{r:?} sum {} inf {}", law.masses.iter().sum::<f64>(), law.infinity_mass);
        for e in [0.0, 0.5, 1.0, 3.0, 6.0] {
            let y = pair_output(&pair, e);
            let p = 0.99 * misdeal_core::normal::cdf(-y / 0.5)
                + 0.01 * misdeal_core::normal::cdf((1.0 - y) / 0.5);
            let q = misdeal_core::normal::cdf(-y / 0.5);
            println!("  {e} {} {} {}", law.delta(e), cells.optimistic().delta(e), p - f64::exp(e) * q);
        }
        for aim in [Aim::Delta(1e-5), Aim::Whole, Aim::Epsilon(6.4)] {
            let c = law.compose(100, aim);
            println!("{aim:?} {} {}", c.epsilon(1e-5), c.delta(6.4));
        }
    }
}
fn pair_output(pair: &SubsampledGaussian, e: f64) -> f64 {
    let (mut lo, mut hi) = (-20.0, 20.0);
    for _ in 0..100 {
        let m = 0.5 * (lo + hi);
        if pair.loss(m) < e { lo = m } else { hi = m }
    }
    lo
}
#[test]
fn debug_opt() {
    let pair = SubsampledGaussian::new(0.5, 0.01).unwrap();
    let tail = 1e-13;
    let cells = pair.cells(0.0024, tail);
    let (u, l) = (cells.pessimistic(), cells.optimistic());
    println!("{} {}", u.masses.iter().sum::<f64>(), l.masses.iter().sum::<f64>());
    for i in 0..14 {
        println!(
            "{i} {} {} {} dl {} {}",
            u.loss(i),
            u.masses[i],
            l.masses[i],
            u.delta(u.loss(i)),
            u.delta(u.loss(i)) - l.delta(u.loss(i))
        );
    }
    for i in (100..4000).step_by(300) {
        println!(
            "{i} {} {} {} dl {} {}",
            u.loss(i),
            u.masses[i],
            l.masses[i],
            u.delta(u.loss(i)),
            u.delta(u.loss(i)) - l.delta(u.loss(i))
        );
    }
}
