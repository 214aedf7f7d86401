//! A small version of `bench/coverage.py`: what is called valid is above the truth no more often than it may be.

use crate::coverage_cells::{Cells, MECHANISMS, SIGNIFICANCE, audit, is_valid_for};
use misdeal_statistics::ThresholdChoice;
use misdeal_statistics::binomial::lower_bound;
use rayon::prelude::*;

const AUDITS: u64 = 120;

/// Each case is a test at level 1e-6 / 100, of at most 100 cases: a correct program fails with probability 1e-6 at most.
///
/// The raw estimate fails in most cases, which shows that the test can tell.
#[test]
fn valid_estimates_are_seldom_above_the_truth() {
    let valid = [
        ("clopper-pearson", ThresholdChoice::HoldOut),
        ("clopper-pearson", ThresholdChoice::Band),
        ("clopper-pearson", ThresholdChoice::Sequential),
        ("divergence", ThresholdChoice::Band),
        ("gdp", ThresholdChoice::HoldOut),
        ("gdp", ThresholdChoice::Band),
        ("one-run", ThresholdChoice::Band),
        ("one-run-fdp", ThresholdChoice::Band),
    ];
    let (mut cases, mut caught, mut tried) = (0, 0, 0);
    for mechanism in &MECHANISMS {
        let cells = Cells::new(mechanism);
        for delta in [1e-5, 0.01] {
            let truth = mechanism.epsilon(delta);
            let share_above = |what| {
                let above = (0..AUDITS)
                    .into_par_iter()
                    .filter(|&number| {
                        let shown = audit(&cells, what, 2000, (delta, truth), (1, number));
                        assert!(shown.epsilon >= 0.0);
                        shown.above_the_truth
                    })
                    .count() as u64;
                // The least share that is compatible with this many.
                (above, lower_bound(above, AUDITS, 1e-8).value)
            };
            for what in valid {
                if is_valid_for(mechanism, what.0, what.1) {
                    let (above, share) = share_above(what);
                    assert!(
                        share <= SIGNIFICANCE,
                        "{what:?} {} {delta}: {above} of {AUDITS}",
                        mechanism.name
                    );
                    cases += 1;
                }
            }
            // With fewer errors than the truth would need, nothing shows too much.
            if delta > 1e-3 || mechanism.mu < 0.1 {
                tried += 1;
                caught += u32::from(share_above(("raw", ThresholdChoice::Max)).1 > SIGNIFICANCE);
            }
        }
    }
    assert!((60..100).contains(&cases), "{cases}");
    assert!(caught >= tried - 1, "{caught} of {tried}: the test cannot tell");
}
