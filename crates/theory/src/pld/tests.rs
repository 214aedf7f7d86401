//! Compares both sides with brute force: random pairs on a few outcomes, alone and composed, in both directions.

use super::*;

/// A uniform number on (0, 1) from a fixed linear congruential generator.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A random law whose masses differ by orders of magnitude, as tails do.
fn random_law(state: &mut u64, outcomes: usize) -> Vec<f64> {
    let weights: Vec<f64> = (0..outcomes).map(|_| (-9.0 * uniform(state)).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// The delta of `times` draws, computed over all sequences of outcomes.
fn brute_force(events: &[Masses], times: u32, epsilon: f64) -> f64 {
    let sequences = events.len().pow(times);
    let product = |mut index: usize| {
        let (mut p, mut q) = (1.0, 1.0);
        for _ in 0..times {
            let event = events[index % events.len()];
            (p, q) = (p * event.p, q * event.q);
            index /= events.len();
        }
        (p - epsilon.exp() * q).max(0.0)
    };
    (0..sequences).map(product).sum()
}

/// The first step has the same margin as the others. Earlier code gave it none.
#[test]
fn one_step_errs_to_its_side() {
    let mut state = 3;
    for _ in 0..20 {
        let masses = random_law(&mut state, 30);
        let exact: f64 = masses.iter().enumerate().map(|(i, mass)| mass * -(-0.1 * i as f64).exp_m1()).sum();
        for side in [Side::Lower, Side::Upper] {
            let masses = masses.clone();
            let law = LossGrid { side, step: 0.1, origin: 0.0, first: 0, masses, infinity_mass: 0.0 };
            let excess = law.delta(0.0) / exact - 1.0;
            let excess = if side == Side::Upper { excess } else { -excess };
            assert!((1e-13..1e-12).contains(&excess), "{side:?}: {excess}");
        }
    }
}

#[test]
fn both_sides_hold_for_rough_laws_alone_and_composed() {
    let mut state = 7;
    for case in 0..300 {
        let outcomes = 2 + case % 6;
        let (p, q) = (random_law(&mut state, outcomes), random_law(&mut state, outcomes));
        let events: Vec<Masses> = p.iter().zip(&q).map(|(&p, &q)| Masses { p, q }).collect();
        let swapped: Vec<Masses> = events.iter().map(|event| Masses { p: event.q, q: event.p }).collect();
        let step = (-4.0 * uniform(&mut state)).exp();
        // Some losses may lie outside the grid.
        let reach = (2.0 + 8.0 * uniform(&mut state)) / step;
        let cells = Cells::from_events(step, -(reach as i64), 2 * reach as usize, events.iter().copied());
        for (cells, events) in [(&cells, &events), (&cells.reversed(), &swapped)] {
            let (lower, upper) = (cells.optimistic(), cells.pessimistic());
            for times in [1, 2, 4] {
                for epsilon in [0.0, 0.21, 1.3, 2.9, 6.4] {
                    let exact = brute_force(events, times, epsilon);
                    let aims = [Aim::Epsilon(epsilon), Aim::Delta(1e-3), Aim::Whole];
                    for aim in aims {
                        let below = lower.compose(u64::from(times), aim).delta(epsilon);
                        let above = upper.compose(u64::from(times), aim).delta(epsilon);
                        let slack = 1e-11 * exact + 1e-15;
                        assert!(
                            below <= exact + slack && exact <= above + slack,
                            "case {case}, {times} times, {aim:?}, epsilon {epsilon}: {below} {exact} {above}"
                        );
                    }
                }
                let delta = 1e-4;
                let below = lower.compose(u64::from(times), Aim::Delta(delta)).epsilon(delta);
                let above = upper.compose(u64::from(times), Aim::Delta(delta)).epsilon(delta);
                assert!(below <= above + 1e-12, "case {case}: {below} {above}");
                if above.is_finite() {
                    assert!(
                        brute_force(events, times, above) <= delta * (1.0 + 1e-9),
                        "case {case}: {above}"
                    );
                }
                if below > 0.0 {
                    let before = brute_force(events, times, below * (1.0 - 1e-9));
                    assert!(before >= delta * (1.0 - 1e-7), "case {case}: {below} {before}");
                }
            }
        }
    }
}
