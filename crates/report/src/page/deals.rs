//! Records of a small file on their way into batches (the paper's Figures 8 and 10).

use super::section::Table;
use crate::pictures::deals::record_names;

use misdeal_results::numbers::count;
use misdeal_results::{Dealt, Heading};

/// A table for each scheme: the file, some epochs, and what all epochs have in common.
pub fn tables(artefact: &Heading, deals: &[&Dealt]) -> Vec<Table> {
    let mut tables: Vec<Table> = deals.iter().map(|deal| table(deal)).collect();
    if let Some(last) = tables.last_mut() {
        last.notes.extend(artefact.remarks.iter().cloned());
    }
    tables
}

fn table(deal: &Dealt) -> Table {
    let names = record_names(deal.company_shares.len(), deal.setting.target_index);
    let name = |record: u64| names.get(record as usize).map_or("?", String::as_str);
    let boxes = |groups: &[&[u64]]| {
        let one = |group: &&[u64]| group.iter().map(|&record| name(record)).collect::<Vec<_>>().join(" ");
        groups.iter().map(one).collect::<Vec<_>>().join(" | ")
    };
    let file: Vec<u64> = (0..names.len() as u64).collect();
    let buffer = deal.setting.scheme.buffer_size().unwrap_or(names.len() as u64).max(1);
    let mut rows = vec![vec!["file".to_owned(), boxes(&file.chunks(buffer as usize).collect::<Vec<_>>())]];
    for (number, epoch) in (1..).zip(&deal.shown_epochs) {
        let batches: Vec<&[u64]> = epoch.iter().map(Vec::as_slice).collect();
        rows.push(vec![format!("epoch {number}"), boxes(&batches)]);
    }
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let target =
        (1..).zip(&deal.target_shares).map(|(batch, &share)| format!("batch {batch}: {}", percent(share)));
    rows.push(vec!["the target is in".into(), target.collect::<Vec<_>>().join(", ")]);
    let others =
        (0_u64..).zip(&deal.company_shares).filter(|&(record, _)| record != deal.setting.target_index);
    let company = others.map(|(record, &share)| format!("{}: {}", name(record), percent(share)));
    rows.push(vec!["its batch has".into(), company.collect::<Vec<_>>().join(", ")]);
    Table {
        caption: deal.name.clone(),
        header: vec!["", "records, a bar between batches (in the file, between buffers)"],
        rows,
        notes: vec![format!("Shares are of {} epochs; xT is the target.", count(deal.epochs))],
    }
}
