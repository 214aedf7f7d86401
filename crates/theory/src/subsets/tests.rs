//! Tests of fixed-size subsets.

use super::*;
use crate::pld::LossGrid;

fn interval(share: f64, noise: f64, steps: u64, delta: f64) -> Interval {
    Subset { noise, share }.epsilon_within(steps, delta, &Work::unlimited()).unwrap()
}

/// The interval lies within that of an independent computation.
#[test]
fn agrees_with_known_values() {
    for (share, noise, steps, lower, upper) in [
        (0.01, 1.0, 100, 5.0588, 5.0763),
        (0.01, 1.0, 1000, 10.3585, 10.4993),
        (0.001, 0.8, 1000, 6.022, 6.0360),
        (0.1, 2.0, 100, 4.1013, 4.3047),
    ] {
        let found = interval(share, noise, steps, 1e-5);
        let (ours_lower, ours_upper) = (found.epsilon_lower_bound, found.epsilon_upper_bound);
        assert!(ours_lower > lower - 1e-3 && ours_upper < upper + 1e-3, "{share} {noise} {steps}: {found:?}");
        assert!(ours_lower <= ours_upper);
    }
}

/// One step against the profile's definition, by the closed forms of the two mixtures.
#[test]
fn one_step_is_the_profile() {
    let profile = |Subset { noise, share }: Subset, epsilon: f64| {
        let step = Subset { noise, share };
        let y = step.output_of_gain(epsilon);
        let [with, twice] = [1.0, 2.0].map(|shift| Mixture { step, shift });
        twice.mass(y, f64::INFINITY) - exp(epsilon) * with.mass(y, f64::INFINITY)
    };
    for subset in [
        Subset { noise: 1.0, share: 0.01 },
        Subset { noise: 0.4, share: 0.3 },
        Subset { noise: 5.0, share: 0.9 },
        Subset { noise: 0.1, share: 1e-4 },
    ] {
        let grid = Grid::new(&subset, 20_000.0, 1e-14);
        let above = subset.dominating_cells(&grid).pessimistic();
        let below = subset.attained_cells(&grid).optimistic();
        let total: f64 = above.masses.iter().sum::<f64>() + above.infinity_mass;
        assert!((total - 1.0).abs() < 1e-11, "{subset:?}: {total}");
        for share_of_top in [0.02, 0.2, 0.5] {
            let epsilon = share_of_top * grid.last as f64 * grid.step;
            let (exact, [low, high]) =
                (profile(subset, epsilon), [&below, &above].map(|law: &LossGrid| law.delta(epsilon)));
            assert!(
                low <= exact * (1.0 + 1e-9) && exact <= high * (1.0 + 1e-9),
                "{subset:?} {epsilon}: {low} {exact} {high}"
            );
            assert!(high <= 1.01 * exact + 1e-13, "{subset:?} {epsilon}: {high} {exact}");
        }
    }
}

/// Poisson sampling leaks less, and the record in every step more.
#[test]
fn lies_between_poisson_and_every_step() {
    for (share, noise, steps, delta) in [
        (0.01, 1.0, 100, 1e-5),
        (0.2, 0.6, 30, 1e-8),
        (1e-4, 0.5, 5000, 1e-6),
        (0.5, 10.0, 1000, 1e-3),
        (0.05, 3.0, 1, 1e-12),
    ] {
        let found = interval(share, noise, steps, delta);
        let poisson = crate::poisson::epsilon(noise, share, steps, delta).unwrap();
        let all = crate::gaussian::Gaussian::fixed_order(noise, steps).epsilon_upper_bound(delta);
        let upper = found.epsilon_upper_bound;
        assert!(poisson.epsilon_lower_bound <= upper && upper <= all * 1.0001, "{found:?} {poisson:?} {all}");
        assert!(found.epsilon_lower_bound <= upper, "{found:?}");
    }
}

/// Any step of the scheme: the target moves from a to a - b against another record, both of norm at most 1.
#[test]
fn no_step_of_the_scheme_exceeds_the_profile() {
    let subset = Subset { noise: 0.8, share: 0.2 };
    let grid = Grid::new(&subset, 20_000.0, 1e-14);
    let law = subset.dominating_cells(&grid);
    let (forth, back) = (law.pessimistic(), law.reversed().pessimistic());
    // On a line: centre 0 without the record; with it a in one world and b in the other, |b| <= 1, |a - b| <= 1.
    for (a, b) in [(2.0, 1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, -0.5), (1.7, 0.9), (0.3, -0.7), (-2.0, -1.0)] {
        let (width, deviations) = (1e-3, 12.0);
        let points = (2.0 * deviations / width) as i64;
        for epsilon in [-0.5_f64, 0.0, 0.1, 0.5, 1.5, 4.0] {
            let (mut one, mut other) = (0.0, 0.0);
            for i in 0..points {
                let y = (i as f64 * width - deviations) * 1.0;
                let of = |centre: f64| Mixture { step: subset, shift: centre }.density(y);
                one += (of(a) - exp(epsilon) * of(b)).max(0.0) * width;
                other += (of(b) - exp(epsilon) * of(a)).max(0.0) * width;
            }
            assert!(one <= forth.delta(epsilon) + 3e-8, "{a} {b} {epsilon}: {one} {}", forth.delta(epsilon));
            assert!(
                other <= back.delta(epsilon) + 3e-8,
                "{a} {b} {epsilon}: {other} {}",
                back.delta(epsilon)
            );
        }
    }
}
