//! Shards of a run to one store.

use crate::{Result, SCHEMA_VERSION};
use misdeal_core::{Error, Setting};
use misdeal_files::stores;
use serde::Serialize;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What was merged.
#[derive(Debug, Clone, Serialize)]
pub struct MergeReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// Stores that were read.
    pub stores: usize,
    /// Observations in both worlds together.
    pub observations: u64,
    /// The ranges of trials, of either world, that lie before the last one and are in none of the stores: `[first, end)`.
    pub missing_trials: Vec<[u64; 2]>,
    /// What they are observations of.
    pub setting: Setting,
    /// Where the merged store was written.
    pub output: PathBuf,
}

/// Reads `inputs`, merges them and writes `output`.
///
/// # Errors
/// No input, one that cannot be read, or stores that do not belong together (another setting, engine or kind, trials that
/// are in both); nothing is written then.
pub fn merge_stores(inputs: &[PathBuf], output: &Path) -> Result<MergeReport> {
    let [first, others @ ..] = inputs else {
        let hint = "name the stores of all shards";
        return Err(Error::bad_value("stores", "none", "at least one store", hint).into());
    };
    let mut merged = stores::read(first)?;
    for path in others {
        merged.merge(stores::read(path)?).map_err(|error| misdeal_files::Error::refused(path, error))?;
    }
    stores::write(output, &merged)?;
    Ok(MergeReport {
        schema_version: SCHEMA_VERSION,
        command: "merge",
        version: env!("CARGO_PKG_VERSION"),
        stores: inputs.len(),
        observations: 2 * merged.observations_per_world(),
        missing_trials: gaps(merged.trials()),
        setting: merged.setting().clone(),
        output: output.to_owned(),
    })
}

/// What lies between ascending ranges, from 0 on.
fn gaps(ranges: &[Range<u64>]) -> Vec<[u64; 2]> {
    let ends = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let gaps = ends.zip(ranges).map(|(end, next)| [end, next.start]);
    gaps.filter(|[first, end]| first < end).collect()
}
