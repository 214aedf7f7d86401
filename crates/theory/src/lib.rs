//! What theory promises: accountants and calibration.
pub mod gaussian;
pub mod pld;
pub mod poisson;
mod root;
pub mod shuffle_max;
