//! Checks that dealt batches are the same on every machine, and that they follow their law.

use super::Found;
use libm::log;
use misdeal_core::BatchScheme;
use misdeal_schemes::deal::{Plan, Seed};

/// The first records of batch 1 of 10^12 and of 1000 records, with batches of 1024 and 100 and the seed 0. AES instructions and the plain code give
/// the same.
const KNOWN: [(BatchScheme, u64, u64, [u64; 4]); 3] = [
    (BatchScheme::Poisson, 1000, 100, [7, 9, 17, 31]),
    (BatchScheme::BallsInBins, 1000, 100, [834, 96, 290, 56]),
    (
        BatchScheme::BallsInBins,
        1_000_000_000_000,
        1024,
        [303825882804, 202711799891, 549285596374, 510493879637],
    ),
];

const SEEDS: u64 = 20_000;

/// The chance that a comparison fails on a sound machine.
const FALSE_ALARM_RATE: f64 = 1e-7;

pub(super) fn check(seed: u64) -> Found {
    for (scheme, records, batch_size, known) in KNOWN {
        let plan =
            Plan::new(scheme, records, batch_size, 1, &Seed::from_number(0)).map_err(super::message)?;
        let batch = plan.batch(1);
        if batch[..4] != known {
            return Err(format!("a batch of {scheme} begins with {:?}, not {known:?}", &batch[..4]));
        }
    }
    let mut largest: f64 = 0.0;
    for scheme in [BatchScheme::Poisson, BatchScheme::BallsInBins] {
        largest = largest.max(entropy(scheme, seed)?);
    }
    Ok(format!(
        "{} known batches; where two records are in {SEEDS} plans, within {largest:.1} of the law's relative entropy",
        KNOWN.len()
    ))
}

/// Counts where two of six records are in two batches, over many seeds. Returns N times the relative entropy to the law.
///
/// With k possible outcomes, P(N D >= g) <= e^-g (e g / (k - 1))^(k - 1) (Agrawal, "Finite-sample concentration of the multinomial in relative entropy",
/// 2020).
fn entropy(scheme: BatchScheme, first_seed: u64) -> Result<f64, String> {
    let mut counts = [0_u32; 16];
    for seed in 0..SEEDS {
        let seed = Seed::from_number(first_seed.wrapping_add(seed));
        let plan = Plan::new(scheme, 6, 3, 1, &seed).map_err(super::message)?;
        let outcome = (0..2).map(|step| {
            let batch = plan.batch(step);
            (usize::from(batch.contains(&1)) + 2 * usize::from(batch.contains(&4))) << (2 * step)
        });
        counts[outcome.sum::<usize>()] += 1;
    }
    // Each of four bits is a fair coin under Poisson sampling; in bins each record is in exactly one batch.
    let is_possible = |outcome: usize| scheme == BatchScheme::Poisson || (outcome ^ (outcome >> 2)) & 3 == 3;
    let possible = (0..16).filter(|&outcome| is_possible(outcome)).count() as f64;
    if let Some(outcome) = (0..16).find(|&outcome| counts[outcome] > 0 && !is_possible(outcome)) {
        return Err(format!("{scheme}: a record is in no batch or in two (outcome {outcome})"));
    }
    let found: f64 = (counts.iter().filter(|&&count| count > 0))
        .map(|&count| f64::from(count) * log(f64::from(count) * possible / SEEDS as f64))
        .sum();
    let freedom = possible - 1.0;
    if found > freedom && freedom * (1.0 + log(found / freedom)) - found < log(FALSE_ALARM_RATE) {
        return Err(format!(
            "{scheme}: where two records are is not as the law says (relative entropy {found:.1})"
        ));
    }
    Ok(found)
}
