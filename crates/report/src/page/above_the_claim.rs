//! Counts the published settings where we find more than Poisson sampling justifies.

use super::advice::capitalised;
use super::section::Table;
use misdeal_results::numbers::count;
use misdeal_results::{AboveCount, AboveTheClaim, Heading};

/// The table of an artefact's counts; `None` for documents of earlier versions, which have no counts.
pub fn table(artefact: &Heading) -> Option<Table> {
    let AboveTheClaim { all, by_provenance } = artefact.above_the_claim.as_ref()?;
    let cells = |name: &str, found: &AboveCount| {
        let mut cells = vec![name.to_owned()];
        cells.extend([found.settings, found.theory, found.valid, found.ours].map(count));
        cells
    };
    let mut rows = vec![cells("settings played", all)];
    rows.extend(by_provenance.iter().map(|(provenance, found)| cells(provenance.name(), found)));
    Some(Table {
        caption: capitalised(&format!("{}: more than Poisson sampling justifies", artefact.title)),
        header: vec!["where settings come from", "played", "theory", "valid", "ours"],
        rows,
        notes: vec![NOTE.into()],
    })
}

const NOTE: &str = "In how many settings more is found than the most that Poisson sampling with the same noise leaks: theory proves it, a valid \
                    bound shows it with 95 % confidence for each setting by itself, and the paper's estimate shows it without a guarantee.";
