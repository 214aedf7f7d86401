//! Whole jobs: what audits, diagnoses and the self-test promise.

mod accuracy;
mod coverage;
mod coverage_cells;
mod diagnose;
mod leakage;
#[cfg(feature = "planted-faults")]
mod planted_faults;
mod short_logs;
mod strange_loaders;
mod validity;
