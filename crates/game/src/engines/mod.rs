//! engines
pub mod cpu;
