//! Balls in bins: every record joins one uniformly chosen batch of each epoch, independently of the others.

use super::generator::Generator;
use super::permutation::{Kept, Order};
use super::sizes::Sizes;
use std::ops::Range;

/// One epoch: its bins are consecutive places in a secret random order of the records.
///
/// The sizes of the bins are multinomial and independent of the order. So every assignment of records to bins has the same probability,
/// T^-n for n records and T bins.
#[derive(Debug)]
pub struct Epoch<'a> {
    sizes: Sizes<'a>,
    order: Order<'a>,
}

impl<'a> Epoch<'a> {
    pub(super) fn new(generator: &'a Generator, epoch: u64, records: u64, bins: u64, kept: &Kept) -> Self {
        Epoch {
            sizes: Sizes::new(generator, epoch, records, bins),
            order: Order::new(generator, epoch, records, kept),
        }
    }

    /// Calls `visit` with each step of a range, counted from 0 in every epoch, and its batch, in order.
    pub fn visit(&self, steps: Range<u64>, mut visit: impl FnMut(u64, &[u64])) {
        let mut records = Vec::new();
        self.sizes.visit(&steps, |step, places| {
            records.clear();
            self.order.append_records(places, &mut records);
            visit(step, &records);
        });
    }

    /// The step of a record, counted from 0 in every epoch. It takes one count for each level of a tree over the steps.
    pub fn step_of(&self, record: u64) -> u64 {
        self.sizes.bin_of(self.order.place(record))
    }
}
