//! Merges the shards of a run into one store.

use crate::Result;
use misdeal_core::{Error, ScoreStore, path_text};
use misdeal_files::stores::{self, Claim};
use misdeal_results::Merged;
use misdeal_results::request::MergeRequest;
use std::ops::Range;
use std::path::Path;

/// Reads stores, merges them and writes the result to `output`.
///
/// `output` may replace a store if the result has all of its trials.
///
/// ```no_run
/// use misdeal::{merge_stores, request::MergeRequest};
/// let stores = vec!["first.scores".into(), "second.scores".into()];
/// let merged = merge_stores(&MergeRequest { stores, output: Some("both.scores".into()) })?;
/// println!("{} observations", merged.observations);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// There is no store, or a store cannot be read. The stores do not belong together: they differ in setting, engine or kind, or
/// share trials. Another process is writing `output`, or `output` holds something else. In all these cases nothing is written.
pub fn merge_stores(request: &MergeRequest) -> Result<Merged> {
    let output = request.output.as_deref().ok_or_else(|| {
        Error::bad_value("output", "missing", "the name of a file", "the joined store is written there")
    })?;
    let [first, others @ ..] = request.stores.as_slice() else {
        let hint = "name the stores of all shards";
        return Err(Error::bad_value("stores", "none", "at least one store", hint).into());
    };
    let claim = Claim::on(output)?;
    let mut merged = stores::read(first)?;
    for path in others {
        merged.merge(stores::read(path)?).map_err(|error| misdeal_files::Error::refused(path, error))?;
    }
    if let Some(replaced) = checked_replaced(output, &merged)? {
        merged.remember(replaced.judgements());
    }
    claim.write(&merged)?;
    Ok(Merged {
        request: Some(request.clone()),
        stores: request.stores.len() as u64,
        observations: 2 * merged.observations_per_world(),
        missing_trials: gaps(merged.trials()),
        setting: merged.setting().clone(),
        output: path_text(output).into_owned(),
    })
}

/// Returns the store at `output`, if there is one. Refuses to overwrite content that `merged` does not have.
fn checked_replaced(output: &Path, merged: &ScoreStore) -> Result<Option<ScoreStore>> {
    if std::fs::metadata(output).map_or(0, |metadata| metadata.len()) == 0 {
        return Ok(None);
    }
    let refused = |held: &str| {
        let hint = format!("it holds {held}, which would be lost: choose another name, or remove it first");
        Error::bad_value(
            "output",
            path_text(output),
            "a new file, or a store that is part of the result",
            hint,
        )
    };
    let held = stores::read(output).map_err(|_| refused("no store that can be read"))?;
    let of = |store: &ScoreStore| {
        (store.setting_hash(), store.lineage().to_owned(), store.stream().to_owned(), store.kind())
    };
    let is_within = |range: &Range<u64>| {
        merged.trials().iter().any(|whole| whole.start <= range.start && range.end <= whole.end)
    };
    if of(&held) == of(merged) && held.trials().iter().all(is_within) {
        return Ok(Some(held));
    }
    Err(refused(&format!("{} observations that are not in the inputs", 2 * held.observations_per_world()))
        .into())
}

/// Returns the gaps between ascending ranges, starting at 0.
fn gaps(ranges: &[Range<u64>]) -> Vec<[u64; 2]> {
    let ends = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let gaps = ends.zip(ranges).map(|(end, next)| [end, next.start]);
    gaps.filter(|[first, end]| first < end).collect()
}
