//! Writes figures of results to files.

use crate::failure::Failure;
use misdeal_files::atomic::{check_place, write_atomically};
use misdeal_files::stores::check_is_no_store;
use misdeal_report::{Format, figure};
use misdeal_results::Document;
use std::path::Path;

/// Refuses a bad path or file ending for a figure, before anything is computed.
pub fn check(path: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = path {
        Format::of(path)?;
        check_place(path)?;
        check_is_no_store(path)?;
    }
    Ok(())
}

/// Draws a result's figure into a file. `report` draws the same figure from the document.
pub fn write(path: &Path, document: &Document) -> Result<(), Failure> {
    let bytes = figure("this result", document)?.to_bytes(Format::of(path)?)?;
    Ok(write_atomically(path, |sink| sink.write_all(&bytes))?)
}
