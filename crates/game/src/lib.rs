//! game
pub mod engines;
mod game;
mod likelihood;
mod position_law;
mod positions;
mod schemes;
mod target_model;
pub use game::Game;
pub use position_law::{PositionLaw, Weights};
