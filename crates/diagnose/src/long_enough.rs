//! Whether a log is long enough to test what its scheme assumes.
//!
//! A short log passes every test, whoever made it. Then nothing is certain, and no upper bound is given. The limits make sure that the
//! tests would see records whose rates differ by half, and a tenth of all pairs of records that stay together.

use crate::schemes::SchemeEvidence;
use misdeal_results::LoggedScheme;

/// Fewest entries in all batches.
const FEWEST_ENTRIES: f64 = 300.0;
/// Least number of records times the square of their uses. The test of equal rates then sees rates of 1/2 and 3/2 by four deviations.
const LEAST_USES: f64 = 600.0;
/// Fewest records of a scheme that permutes them.
const FEWEST_RECORDS: f64 = 100.0;
/// Fewest batches that show how batch sizes vary.
const FEWEST_BATCHES: usize = 20;
/// Fewest deviations by which the log would be off if a tenth of all pairs stayed together.
const LEAST_POWER: f64 = 5.0;

/// Why the log is too short to be certain of `scheme`; `None` if it is long enough.
pub fn too_short(evidence: &SchemeEvidence<'_>, scheme: LoggedScheme, is_reused: bool) -> Option<String> {
    use LoggedScheme as Scheme;
    let logged = evidence.logged;
    let (n, entries) = (logged.dataset_size as f64, evidence.incidence.entries());
    let batches: usize = logged.epochs.iter().map(|epoch| epoch.ends.len()).sum();
    let epochs = logged.epochs.len();
    let needs = |missing: bool, why: String| missing.then_some(why);
    let few_epochs = || {
        needs(epochs < 2 && !is_reused, "one epoch cannot show whether epochs depend on each other".into())
    };
    let few_records = || needs(n < FEWEST_RECORDS, format!("{n} records are too few to test an order"));
    let few_entries = || {
        let why =
            format!("{entries} entries of {n} records do not show whether all records are treated alike");
        needs(entries < FEWEST_ENTRIES || entries * entries < LEAST_USES * n, why)
    };
    match scheme {
        Scheme::FixedOrder | Scheme::Unknown => None,
        Scheme::Poisson
        | Scheme::WithoutReplacement
        | Scheme::TruncatedPoisson
        | Scheme::CyclicPoisson
        | Scheme::Allocation
        | Scheme::WithReplacement => {
            let why = format!("fewer than {FEWEST_BATCHES} batches do not show how batch sizes vary");
            needs(batches < FEWEST_BATCHES, why).or_else(few_entries)
        }
        Scheme::Shuffle | Scheme::BallsInBins => few_epochs().or_else(few_entries).or_else(|| {
            let why = "there are too few batches or epochs to show whether records keep together";
            needs(logged.batch_size > 1 && evidence.companions_of_epochs().power() < LEAST_POWER, why.into())
        }),
        _ => few_epochs().or_else(few_records),
    }
}
