//! game
pub mod engines;
