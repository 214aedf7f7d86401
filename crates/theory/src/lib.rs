//! What theory promises: accountants and calibration.
pub mod gaussian;
pub mod pld;
mod root;
pub mod shuffle_max;
