//! The batches of one epoch.

use misdeal_core::Setting;
use std::ops::{Index, Range};

/// Lists of record indices, one list for each batch, in one flat vector.
///
/// It takes 8 bytes per record and no separate allocation per batch.
///
/// The order of the records within a batch has no meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batches {
    pub(crate) records: Vec<u64>,
    /// The end of batch t in `records`. The batch begins at the end of batch t - 1.
    pub(crate) ends: Vec<usize>,
}

impl Batches {
    /// All records in file order, cut into batches of `batch_size`.
    pub(crate) fn in_file_order(setting: &Setting) -> Self {
        let batch_size = setting.batch_size as usize;
        let ends = (1..=setting.steps_per_epoch as usize).map(|t| t * batch_size).collect();
        Batches { records: (0..setting.dataset_size()).collect(), ends }
    }

    /// No batches, with memory reserved for one epoch.
    pub(crate) fn with_room_for(setting: &Setting) -> Self {
        Batches {
            records: Vec::with_capacity(setting.dataset_size() as usize),
            ends: Vec::with_capacity(setting.steps_per_epoch as usize),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.records.clear();
        self.ends.clear();
    }

    /// Ends the current batch. It holds the records pushed since the previous batch ended.
    pub(crate) fn end_batch(&mut self) {
        self.ends.push(self.records.len());
    }

    /// The number of batches in the epoch.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no batches. An epoch always has at least one.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The batches in training order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u64]> {
        (0..self.len()).map(|t| &self[t])
    }

    fn range(&self, batch: usize) -> Range<usize> {
        let start = if batch == 0 { 0 } else { self.ends[batch - 1] };
        start..self.ends[batch]
    }
}

impl Index<usize> for Batches {
    type Output = [u64];

    /// The records of batch `batch`, counted from 0 in every epoch.
    fn index(&self, batch: usize) -> &[u64] {
        &self.records[self.range(batch)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_lie_one_after_the_other() {
        let setting = Setting { steps_per_epoch: 3, batch_size: 2, ..Setting::default() };
        let batches = Batches::in_file_order(&setting);
        assert!(batches.iter().eq([[0, 1], [2, 3], [4, 5]]));
        let uneven = Batches { records: vec![7, 3, 5], ends: vec![0, 2, 2, 3] };
        assert!(uneven.iter().eq([&[][..], &[7, 3], &[], &[5]]));
        assert_eq!((uneven.len(), &uneven[1]), (4, &[7, 3][..]));
    }
}
