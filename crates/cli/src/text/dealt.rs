//! Shows in text how the records of a small file are put into batches. Each record is a letter.

use super::Text;
use comfy_table::{CellAlignment, Table, presets};
use misdeal_report::record_names;
use misdeal_results::Dealt;
use std::fmt::Write;

/// Adds the file and some epochs.
///
/// Then adds, over all epochs, how often each batch had the target, and how often each record shared the target's batch.
pub fn dealt(text: &mut Text, deal: &Dealt) {
    let names = record_names(deal.company_shares.len(), deal.setting.target_index);
    let _ = writeln!(text, "  {}", deal.name);
    let file: Vec<u64> = (0..names.len() as u64).collect();
    let whole = deal.setting.dataset_size();
    let buffers = file.chunks(deal.setting.scheme.buffer_size().unwrap_or(whole) as usize);
    let _ = writeln!(text, "    {:<10}( {} )", "file", boxes(&names, buffers, " )( "));
    for (epoch, batches) in (1..).zip(&deal.shown_epochs) {
        let batches = boxes(&names, batches.iter().map(Vec::as_slice), " ][ ");
        let _ = writeln!(text, "    {:<10}[ {batches} ]", format!("epoch {epoch}"));
    }
    let _ = writeln!(text, "\n{}\n", shares(deal, &names));
}

/// Joins groups of records; `between` is the text between two groups.
fn boxes<'a>(names: &[String], groups: impl Iterator<Item = &'a [u64]>, between: &str) -> String {
    let group = |records: &[u64]| {
        let named = records.iter().map(|&record| names[record as usize].as_str());
        named.collect::<Vec<_>>().join("  ")
    };
    groups.map(group).collect::<Vec<_>>().join(between)
}

fn shares(deal: &Dealt, names: &[String]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let percent = |share: &f64| format!("{:.1} %", 100.0 * share);
    let head = |first: &str| format!("   {first}");
    let target = (1..=deal.target_shares.len()).map(|batch| format!("batch {batch}"));
    table.add_row(std::iter::once(head("the target is in")).chain(target));
    table.add_row(std::iter::once(head("share of epochs")).chain(deal.target_shares.iter().map(percent)));
    let company = || (0_u64..).zip(names.iter().zip(&deal.company_shares));
    let others = || company().filter(|&(record, _)| record != deal.setting.target_index);
    table.add_row(std::iter::once(head("its batch has")).chain(others().map(|(_, (name, _))| name.clone())));
    table.add_row(
        std::iter::once(head("share of epochs")).chain(others().map(|(_, (_, share))| percent(share))),
    );
    for column in 1..table.column_count() {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}
