//! Integer counts on the [`score_grid`]. Only used parts of the grid take memory.

use crate::score_grid::{self, BINS, BINS_PER_BINADE};

const PAGES: usize = (BINS / BINS_PER_BINADE) as usize;
type Page = [u64; BINS_PER_BINADE as usize];

/// The number of scores in each bin.
///
/// There is one page of counts for each binade that has a score. So a worker's counts take kilobytes, and merging costs
/// only the pages in use. Merging is integer addition: exactly associative and commutative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinCounts {
    pages: Vec<Option<Box<Page>>>,
}

impl Default for BinCounts {
    fn default() -> Self {
        BinCounts { pages: vec![None; PAGES] }
    }
}

impl BinCounts {
    /// Adds one finite score.
    #[inline]
    pub fn insert(&mut self, score: f64) {
        self.add(score_grid::bin(score), 1);
    }

    /// Adds `count` scores to `bin`.
    ///
    /// # Panics
    /// If the grid has no such bin.
    #[inline]
    pub fn add(&mut self, bin: u32, count: u64) {
        let (page, place) = (bin / BINS_PER_BINADE, bin % BINS_PER_BINADE);
        let page = &mut self.pages[page as usize];
        let page = match page {
            Some(page) => page,
            None => fresh(page),
        };
        page[place as usize] += count;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: Self) {
        for (ours, theirs) in self.pages.iter_mut().zip(other.pages) {
            match (ours.as_mut(), theirs) {
                (_, None) => {}
                (None, theirs) => *ours = theirs,
                (Some(ours), Some(theirs)) => {
                    ours.iter_mut().zip(theirs.iter()).for_each(|(ours, theirs)| *ours += theirs);
                }
            }
        }
    }

    /// The bins with at least one score and their counts, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let pages = self.pages.iter().zip((0..).step_by(BINS_PER_BINADE as usize));
        let bins = pages.filter_map(|(page, first)| Some((page.as_ref()?, first)));
        bins.flat_map(|(page, first)| {
            (first..).zip(page.iter()).filter(|&(_, &count)| count > 0).map(|(bin, &count)| (bin, count))
        })
    }

    /// The number of scores in bin `bin` and above.
    pub fn from_bin_up(&self, bin: u32) -> u64 {
        self.iter().filter(|&(other, _)| other >= bin).map(|(_, count)| count).sum()
    }
}

#[cold]
fn fresh(page: &mut Option<Box<Page>>) -> &mut Page {
    page.insert(Box::new([0; BINS_PER_BINADE as usize]))
}
