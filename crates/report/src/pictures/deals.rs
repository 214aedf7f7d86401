//! Charts of a small file's records in their batches (the paper's Figures 8 and 10).

use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_results::Dealt;
use misdeal_results::numbers::{count, significant};

/// Names of records, in the order of the file. The target is `xT`; the others are numbered as in the paper.
pub fn record_names(records: usize, target: u64) -> Vec<String> {
    let mut others = 1..;
    (0..records as u64)
        .map(
            |record| {
                if record == target { "xT".into() } else { format!("x{}", others.next().unwrap_or_default()) }
            },
        )
        .collect()
}

/// Three charts: the file with some epochs, the target's batches, and the records that share its batch.
pub fn charts(deal: &Dealt) -> [Chart; 3] {
    let names = record_names(deal.company_shares.len(), deal.setting.target_index);
    let batches = (1..).zip(&deal.target_shares).map(|(batch, &share)| (format!("batch {batch}"), share));
    let company = names.iter().cloned().zip(deal.company_shares.iter().copied());
    [
        boxes(deal, &names),
        shares(format!("{}: where the target goes", deal.name), batches.collect()),
        shares(
            format!("{}: who shares its batch", deal.name),
            company.filter(|(name, _)| name != "xT").collect(),
        ),
    ]
}

/// Chart of the file on top and its epochs below. Lines separate batches; in the file they separate buffers.
fn boxes(deal: &Dealt, names: &[String]) -> Chart {
    let file: Vec<u64> = (0..names.len() as u64).collect();
    let orders = std::iter::once(file).chain(deal.shown_epochs.iter().map(|epoch| epoch.concat()));
    let records = orders.zip(0_u32..).flat_map(|(order, row)| {
        let placed = order.into_iter().zip(1_u32..);
        placed.map(move |(record, place)| (record, f64::from(place), f64::from(row)))
    });
    let (target, others): (Vec<_>, Vec<_>) =
        records.partition(|(record, ..)| *record == deal.setting.target_index);
    let series = |name: &str, role: Role, records: Vec<(u64, f64, f64)>| {
        let cell = |&(_, x, y): &(u64, f64, f64)| [x - 0.36, x + 0.36, y - 0.34, y + 0.34, 1.0];
        let label = |&(record, ..): &(u64, _, _)| names.get(record as usize).cloned().unwrap_or_default();
        Series::new(name, role, Draw::Cells, records.iter().map(cell)).labelled(records.iter().map(label))
    };
    let length = names.len();
    let between = |rows: std::ops::RangeInclusive<usize>, size: u64| {
        rows.flat_map(move |row| {
            let edges = (0..=length).step_by(usize::try_from(size).unwrap_or(length).max(1));
            edges
                .map(move |edge| edge as f64 + 0.5)
                .map(move |x| [x, row as f64 - 0.46, x, row as f64 + 0.46])
        })
    };
    let lines = between(1..=deal.shown_epochs.len(), deal.setting.batch_size);
    let buffers = deal.setting.scheme.buffer_size().into_iter().flat_map(|size| between(0..=0, size));
    let series = vec![
        series("other records", Role::Sixth, others),
        series("the target", Role::Claimed, target),
        Series::new("between batches", Role::Raw, Draw::Strokes, lines),
        Series { dash: "5 3".into(), ..Series::new("between buffers", Role::Raw, Draw::Strokes, buffers) },
    ];
    let epochs = (1..=deal.shown_epochs.len()).map(|epoch| format!("epoch {epoch}"));
    let rows = std::iter::once("file".into()).chain(epochs).collect();
    let axes = [Axis::between("position", 0.4, length as f64 + 0.6), Axis::of_rows(rows)];
    let caption = format!(
        "The file, and how some epochs deal its records. Shares are of {} epochs; xT is the target.",
        count(deal.epochs)
    );
    Chart::new(&deal.name, caption, axes, series)
}

/// Chart with a bar for each name, between 0 and 1.
fn shares(title: String, shares: Vec<(String, f64)>) -> Chart {
    let bars = shares.iter().zip(0_u32..).map(|((_, share), i)| [0.0, *share, f64::from(i)]);
    let bars = Series::new("share of epochs", Role::Found, Draw::Bars, bars);
    let bars = bars.labelled(shares.iter().map(|(_, share)| significant(*share)));
    let rows = shares.into_iter().map(|(name, _)| name).collect();
    let axes = [Axis::between("share of epochs", 0.0, 1.0), Axis::of_rows(rows)];
    Chart::new(title, "", axes, vec![bars])
}
