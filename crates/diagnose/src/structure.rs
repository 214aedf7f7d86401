//! Names for loaders that have no likelihood: stages, groups of like records, shards before a buffer.
//!
//! They are looked for where no scheme fits. What is found is a likely cause and never certain.

use crate::logged_epochs::LoggedEpoch;
use crate::orders::Orders;
use crate::schemes::SchemeEvidence;
use crate::verdict::RULED_OUT;
use misdeal_results::{Candidate, LoggedScheme, SchemeParameters};

/// Largest share of the mean distance of neighbours in a random order at which neighbours in the file count as close.
const CLOSE: f64 = 0.5;
/// Most stages that count as such; more are batches in fixed order.
const MOST_STAGES: usize = 50;
/// From this correlation of places in different epochs on, an order is drawn once, up to a buffer.
const SAME_ORDER: f64 = 0.8;
/// From this share of all pairs on, batches are fixed.
const NEVER_MIX: f64 = 0.5;

/// The structure that the epochs of a log share; `None` if there is none with a name.
pub fn found(evidence: &SchemeEvidence<'_>) -> Option<Candidate> {
    let named = |scheme, evidence: String, parameters| Candidate {
        scheme,
        parameters,
        log_likelihood: None,
        p_value: 1.0,
        evidence,
    };
    let none = SchemeParameters::default();
    let orders = evidence.orders?;
    if let Some(why) = growing(&orders.epochs, orders.batch_size) {
        return Some(named(LoggedScheme::Staged, why, none));
    }
    let [places, companions] = [evidence.places().p_value(), evidence.companions_of_epochs().p_value()];
    if places.min(companions) >= RULED_OUT && orders.epochs.len() > 1 {
        return None;
    }
    let stages = stages(orders);
    if (2..=MOST_STAGES).contains(&stages) {
        let why =
            format!("{stages} groups of records come in the same order in every epoch, and mix only inside");
        return Some(named(LoggedScheme::Staged, why, none));
    }
    if follows_the_file(orders) {
        return None;
    }
    if let Some(near) = neighbours(orders).filter(|_| evidence.places().correlation() >= SAME_ORDER) {
        let why = format!(
            "neighbours in the file come {:.0} % as far apart as in a full shuffle, in another order that all epochs share: shards that were \
             permuted once, then a buffer",
            100.0 * near
        );
        let parameters = SchemeParameters { order_is_reused: Some(true), ..none };
        return Some(named(LoggedScheme::ShardsThenBuffer, why, parameters));
    }
    let share = evidence.companions_of_epochs().share();
    let is_grouped = companions < RULED_OUT && evidence.companions_of_epochs().is_excess();
    if is_grouped
        && neighbours(orders).is_none()
        && share < NEVER_MIX
        && evidence.places().correlation().abs() < 0.2
    {
        let why = format!(
            "records share batches with the same others in every epoch, {:.0} % of the way to fixed batches, at any time of an epoch",
            100.0 * share
        );
        return Some(named(LoggedScheme::LengthGrouped, why, none));
    }
    None
}

/// Whether epochs are of different lengths and shorter ones hold a part of the records of longer ones.
fn growing(epochs: &[LoggedEpoch], batch_size: usize) -> Option<String> {
    let mut by_length: Vec<&LoggedEpoch> = epochs.iter().collect();
    by_length.sort_by_key(|epoch| epoch.records.len());
    let (shortest, longest) = (by_length.first()?.records.len(), by_length.last()?.records.len());
    // The longest epoch may hold all records: subsets of it show nothing. Epochs that leave records out must agree on them.
    let grown: Vec<&[&LoggedEpoch]> = by_length
        .windows(2)
        .filter(|pair| pair[0].records.len() + batch_size <= pair[1].records.len())
        .collect();
    if grown.is_empty() || shortest + batch_size > longest {
        return None;
    }
    let parts: Vec<&&LoggedEpoch> =
        by_length.iter().filter(|epoch| epoch.records.len() + batch_size <= longest).collect();
    if parts.len() < 2 {
        return None;
    }
    for pair in parts.windows(2) {
        let mut held = pair[1].records.clone();
        held.sort_unstable();
        if pair[0].records.iter().any(|record| held.binary_search(record).is_err()) {
            return None;
        }
    }
    Some(
        "epochs that are shorter hold the same part of the records: a curriculum, or a file that grows"
            .into(),
    )
}

/// The number of groups of steps that hold the same records in all epochs.
///
/// A place is a border if the records before it in one epoch are those before it in all others.
fn stages(orders: &Orders) -> usize {
    let epochs = &orders.epochs;
    let n = epochs[0].records.len();
    if epochs.len() < 2 || epochs.iter().any(|epoch| epoch.records.len() != n) {
        return 0;
    }
    let mut latest = vec![0_u32; orders.dataset_size];
    for epoch in epochs {
        for (place, &record) in (0_u32..).zip(&epoch.records) {
            let latest = &mut latest[record as usize];
            *latest = place.max(*latest);
        }
    }
    let mut ending = vec![0_u32; n + 1];
    epochs[0].records.iter().for_each(|&record| ending[latest[record as usize] as usize + 1] += 1);
    let (mut before, mut borders) = (0, 0);
    for (place, ending) in ending.iter().enumerate() {
        before += *ending as usize;
        borders += usize::from(place > 0 && before == place);
    }
    borders
}

/// Whether the first epoch is mostly in the file's order.
fn follows_the_file(orders: &Orders) -> bool {
    let records = &orders.epochs[0].records;
    let count = records.len() as f64;
    let middle = records.iter().map(|&record| f64::from(record)).sum::<f64>() / count.max(1.0);
    let (mut product, mut squares) = (0.0, 0.0);
    for (place, &record) in records.iter().enumerate() {
        let off = f64::from(record) - middle;
        product += off * (place as f64 - 0.5 * (count - 1.0));
        squares += off * off;
    }
    let places = count * (count * count - 1.0) / 12.0;
    product > SAME_ORDER * (squares * places).sqrt()
}

/// How far apart neighbours in the file come, as a share of their distance in a full shuffle; `None` unless they are close.
pub fn neighbours(orders: &Orders) -> Option<f64> {
    let mut place_of = vec![u32::MAX; orders.dataset_size];
    let (mut near, mut pairs) = (0.0, 0.0);
    for epoch in orders.distinct_epochs() {
        for (place, &record) in (0..).zip(&epoch.records) {
            place_of[record as usize] = place;
        }
        for both in place_of.windows(2).filter(|both| both[0] != u32::MAX && both[1] != u32::MAX) {
            near += f64::from(both[0].abs_diff(both[1])) / epoch.records.len() as f64;
            pairs += 1.0;
        }
        epoch.records.iter().for_each(|&record| place_of[record as usize] = u32::MAX);
    }
    // In a full shuffle, two places are a third of the epoch apart on average.
    let share = 3.0 * near / f64::max(pairs, 1.0);
    (pairs >= 50.0 && share <= CLOSE).then_some(share)
}
