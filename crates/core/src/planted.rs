//! Deliberate faults, to test that the self-test detects them.
//!
//! # Can a release contain them?
//! No. They are compiled only with the feature `planted-faults`, which no release enables.

use std::sync::atomic::{AtomicU8, Ordering};

/// A typical mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Fault {
    /// The random generator skips one round.
    Generator = 1,
    /// The likelihood ratio divides by the noise instead of its square.
    Likelihood,
    /// Clopper-Pearson returns the median instead of the quantile.
    ClopperPearson,
}

static PLANTED: AtomicU8 = AtomicU8::new(0);

/// Plants one fault in all threads, or removes it if `None`.
pub fn plant(fault: Option<Fault>) {
    PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::SeqCst);
}

/// Whether this fault is planted.
pub fn is_planted(fault: Fault) -> bool {
    PLANTED.load(Ordering::Relaxed) == fault as u8
}
