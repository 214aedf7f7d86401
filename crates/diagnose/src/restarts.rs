//! Epochs that begin again before they end.

use crate::copies::Batches;
use std::collections::HashSet;

/// Fewest records of a first try that count as one.
const FEWEST: usize = 20;

/// The number of batches before an epoch begins again; `None` if it runs through.
///
/// The batches after that place use each record once, and include all records before it, which are used once there, too.
pub fn place(batches: &[&[u32]]) -> Option<usize> {
    let mut whole = HashSet::new();
    let mut begin = batches.len();
    while begin > 0 {
        let batch = batches[begin - 1];
        if batch.iter().any(|record| whole.contains(record)) {
            break;
        }
        let before = whole.len();
        whole.extend(batch.iter().copied());
        if whole.len() < before + batch.len() {
            return None;
        }
        begin -= 1;
    }
    let first: Batches<'_> = batches[..begin].to_vec();
    let entries: usize = first.iter().map(|batch| batch.len()).sum();
    if entries < FEWEST || entries > whole.len() {
        return None;
    }
    let mut tried = HashSet::new();
    let is_part =
        first.iter().copied().flatten().all(|record| whole.contains(record) && tried.insert(*record));
    is_part.then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_first_try_is_told_from_records_that_are_used_twice() {
        let batches: Vec<Vec<u32>> = (0..10).map(|batch| (10 * batch..10 * batch + 10).collect()).collect();
        let all = |order: &[usize]| -> Option<usize> {
            let batches: Vec<&[u32]> = order.iter().map(|&batch| &batches[batch][..]).collect();
            place(&batches)
        };
        assert_eq!(all(&[0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), Some(3));
        assert_eq!(all(&[5, 2, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), Some(3));
        assert_eq!(all(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), None);
        // A part that is used twice within the first try, and a first try with other records.
        assert_eq!(all(&[0, 0, 2, 0, 1, 2, 3, 4, 5]), None);
        assert_eq!(all(&[8, 9, 2, 0, 1, 2, 3, 4, 5]), None);
    }
}
