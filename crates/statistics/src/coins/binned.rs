//! The scores of a store as counts on the grid.

use crate::exact::occupied;
use crate::trade_off::counts_of;
use misdeal_core::score_grid::lower_edge;
use misdeal_core::{ScoreStore, World};

/// The lower edges of the grid's cells that hold scores, ascending, with the numbers of scores `In` and `Out` in them.
///
/// The edge of a score's cell is a function of the score, so it is a score itself.
pub fn binned(store: &ScoreStore) -> Vec<(f64, [u64; 2])> {
    let [inside, outside] = World::BOTH.map(|world| counts_of(store, world));
    let (bins, cells) = occupied(&inside, &outside);
    bins.into_iter().map(lower_edge).zip(cells).collect()
}
