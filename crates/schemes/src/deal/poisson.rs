//! Poisson sampling: every record joins every batch independently, with the same probability.

use super::Epoch;
use super::binomial::Gaps;
use super::generator::{Generator, Purpose, Words};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Replaces `records` by the records of a step, in file order. The number of records between two of them is geometric.
pub(super) fn batch(
    generator: &Generator,
    probability: f64,
    dataset_size: u64,
    step: u64,
    records: &mut Vec<u64>,
) {
    let gaps = Gaps::new(probability);
    let mut words = generator.words(Purpose::Gaps, step, 0);
    records.clear();
    let mut record = gaps.gap(&mut words);
    while record < dataset_size {
        records.push(record);
        record += gaps.gap(&mut words) + 1;
    }
}

/// One pass over the records of an epoch in file order. It tells the steps of each record.
///
/// It needs memory for one entry a step (Poisson sampling: about 300 bytes) or none (balls-in-bins), and for no record.
pub struct Pass<'a> {
    next: u64,
    dataset_size: u64,
    first_step: u64,
    steps: Vec<u64>,
    law: Law<'a>,
}

enum Law<'a> {
    /// The next record of each open step, smallest first, and the step's random words.
    Gaps {
        gaps: Gaps,
        open: BinaryHeap<Reverse<(u64, u64)>>,
        words: Vec<Words<'a>>,
    },
    Bins(Epoch<'a>),
}

impl<'a> Pass<'a> {
    pub(super) fn of_gaps(
        generator: &'a Generator,
        probability: f64,
        dataset_size: u64,
        steps: Range<u64>,
    ) -> Self {
        let gaps = Gaps::new(probability);
        let first_step = steps.start;
        let mut words: Vec<Words<'a>> = steps.map(|step| generator.words(Purpose::Gaps, step, 0)).collect();
        let firsts = (0..).zip(&mut words).map(|(step, words)| Reverse((gaps.gap(words), step)));
        let open = firsts.filter(|Reverse((record, _))| *record < dataset_size).collect();
        Pass { next: 0, dataset_size, first_step, steps: Vec::new(), law: Law::Gaps { gaps, open, words } }
    }

    pub(super) fn of_bins(epoch: Epoch<'a>, dataset_size: u64, first_step: u64) -> Self {
        Pass { next: 0, dataset_size, first_step, steps: Vec::new(), law: Law::Bins(epoch) }
    }

    /// The steps of the next record, ascending, counted over all epochs; `None` after the last record.
    pub fn next_steps(&mut self) -> Option<&[u64]> {
        if self.next == self.dataset_size {
            return None;
        }
        self.steps.clear();
        match &mut self.law {
            Law::Bins(epoch) => self.steps.push(self.first_step + epoch.step_of(self.next)),
            Law::Gaps { gaps, open, words } => {
                while let Some(&Reverse((record, step))) = open.peek()
                    && record == self.next
                {
                    open.pop();
                    self.steps.push(self.first_step + step);
                    let next = record + 1 + gaps.gap(&mut words[step as usize]);
                    if next < self.dataset_size {
                        open.push(Reverse((next, step)));
                    }
                }
            }
        }
        self.next += 1;
        Some(&self.steps)
    }
}
