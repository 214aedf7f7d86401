//! x
mod cells;
mod level;
mod one_epoch;
mod shift_pair;
mod sign_law;
mod sum_law;
mod window;

pub use one_epoch::one_epoch;
pub use shift_pair::*;
const CELLS_PER_DEVIATION: u32 = 256;
/// x
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairInterval {
    /// x
    pub epsilon_lower_bound: f64,
    /// x
    pub epsilon_upper_bound: f64,
}
