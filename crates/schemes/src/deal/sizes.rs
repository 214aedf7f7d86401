//! The number of records in each bin of an epoch, any bin at a time.

use super::binomial::binomial;
use super::generator::{Generator, Purpose};
use std::ops::Range;

/// The multinomial numbers of records in the bins of one epoch.
///
/// A binary tree over the bins: the records of a node are split between its halves by a binomial count, whose random words belong to the node.
/// So a bin's first place needs one count for each level of the tree, and no other bin. Multinomial numbers split in this way by their definition.
#[derive(Debug)]
pub(super) struct Sizes<'a> {
    generator: &'a Generator,
    epoch: u64,
    records: u64,
    bins: u64,
}

/// Consecutive bins and their places in the epoch's order.
#[derive(Debug, Clone)]
struct Node {
    /// 1 for the root; the halves of node i are 2 i and 2 i + 1.
    index: u64,
    bins: Range<u64>,
    places: Range<u64>,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(generator: &'a Generator, epoch: u64, records: u64, bins: u64) -> Self {
        Sizes { generator, epoch, records, bins }
    }

    fn root(&self) -> Node {
        Node { index: 1, bins: 0..self.bins, places: 0..self.records }
    }

    fn halves(&self, node: &Node) -> [Node; 2] {
        let Node { index, bins, places } = node;
        let bin = bins.start + (bins.end - bins.start) / 2;
        let mut words = self.generator.words(Purpose::Sizes, self.epoch, *index);
        let count = binomial(&mut words, places.end - places.start, bin - bins.start, bins.end - bins.start);
        let place = places.start + count;
        [
            Node { index: 2 * index, bins: bins.start..bin, places: places.start..place },
            Node { index: 2 * index + 1, bins: bin..bins.end, places: place..places.end },
        ]
    }

    /// Calls `visit` with each bin of a range and its places, in order. It takes one count for each bin, and one for each level of the tree.
    pub(super) fn visit(&self, bins: &Range<u64>, mut visit: impl FnMut(u64, Range<u64>)) {
        let mut open = vec![self.root()];
        while let Some(node) = open.pop() {
            if node.bins.end <= bins.start || node.bins.start >= bins.end {
                continue;
            }
            if node.bins.end - node.bins.start == 1 {
                visit(node.bins.start, node.places);
            } else {
                let [first, second] = self.halves(&node);
                open.extend([second, first]);
            }
        }
    }

    /// The bin of a place in the epoch's order.
    pub(super) fn bin_of(&self, place: u64) -> u64 {
        let mut node = self.root();
        while node.bins.end - node.bins.start > 1 {
            let [first, second] = self.halves(&node);
            node = if place < first.places.end { first } else { second };
        }
        node.bins.start
    }
}

#[cfg(test)]
mod tests {
    use super::super::Seed;
    use super::*;

    #[test]
    fn bins_follow_each_other_whichever_are_asked_for() {
        let generator = Generator::new(&Seed::from_number(5), "sizes");
        for (records, bins) in [(0, 3), (10, 1), (10, 7), (1000, 13), (5, 64)] {
            let sizes = Sizes::new(&generator, 2, records, bins);
            let mut all = vec![];
            sizes.visit(&(0..bins), |bin, places| all.push((bin, places)));
            assert_eq!(all.len() as u64, bins);
            assert!(
                all.windows(2).all(|pair| pair[0].1.end == pair[1].1.start && pair[0].0 + 1 == pair[1].0)
            );
            assert_eq!((all[0].1.start, all[all.len() - 1].1.end), (0, records));
            for (bin, places) in &all {
                let mut one = None;
                sizes.visit(&(*bin..bin + 1), |_, places| one = Some(places));
                assert_eq!(one.as_ref(), Some(places));
                assert!(places.clone().all(|place| sizes.bin_of(place) == *bin));
            }
        }
    }
}
