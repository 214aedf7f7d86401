//! Faults planted on purpose, so a test can see that the self-test finds each of them.
//!
//! # Can a release contain them?
//! No. They are built with the feature `planted-faults` alone, which neither the command line nor the Python package
//! enables. Without it not a byte of them is compiled in.

use std::sync::atomic::{AtomicU8, Ordering};

/// A fault as somebody might make it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// The generator makes one round less.
    Generator = 1,
    /// The likelihood ratio divides by the noise instead of its square.
    Likelihood,
    /// Clopper-Pearson takes a level for both sides where one is meant.
    ClopperPearson,
    /// Merging counts puts even and odd trials into one half.
    StoreMerge,
}

static PLANTED: AtomicU8 = AtomicU8::new(0);

/// From now on, in all threads, there is this fault and no other.
pub fn plant(fault: Option<Fault>) {
    PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::SeqCst);
}

/// Whether this fault is planted.
pub fn is_planted(fault: Fault) -> bool {
    PLANTED.load(Ordering::Relaxed) == fault as u8
}
