//! The threads that a run uses.

use crate::failure::Failure;
use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::error::Error;

/// The stack size of a thread, as large as that of the main thread.
const STACK: usize = 8 << 20;

/// Runs `job` on its own pool of `threads` threads.
///
/// Without a number, `job` runs on the pool of the process, with one thread per core.
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
