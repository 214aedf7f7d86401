//! What theory promises: accountants and calibration.
pub mod pld;
