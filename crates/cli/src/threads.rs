//! The threads that a run uses.

use crate::failure::Failure;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::error::Error;

/// As much as the main thread of a process has.
const STACK: usize = 8 << 20;

/// Runs `job` on so many threads of its own, or on the pool of the whole process, one thread a core, if no number is given.
pub fn with<T: Send>(
    threads: Option<usize>,
    job: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    if let Some(threads) = threads {
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        return pool.map_err(|error| failed(&error))?.install(job);
    }
    match ThreadPoolBuilder::new().build_global() {
        // Without a source, it is there already.
        Err(error) if error.source().is_some() => Err(failed(&error)),
        _ => job(),
    }
}

fn failed(error: &ThreadPoolBuildError) -> Failure {
    Failure::run_failed(format!("cannot start threads: {error}"))
}
