//! What theory promises: accountants and calibration.
pub mod gaussian;
pub mod pairs;
pub mod pld;
mod root;
pub mod shuffle_max;
