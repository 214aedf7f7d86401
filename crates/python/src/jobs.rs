//! Runs jobs on all cores. Meanwhile Python threads can run, progress is reported, and Ctrl-C works.

use crate::errors::{exception, refusal};
use misdeal::{ClaimOutOfReach, Progress};
use misdeal_core::Error;
use misdeal_results::beyond_reach;
use pyo3::exceptions::{PyRuntimeError, PyUserWarning};
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Longest delay for a signal or a progress report.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs a job with `threads` threads, or on all cores if not given.
///
/// `progress` receives the number of observations played and the number requested. The calling thread only waits. At short
/// intervals it checks for signals and calls `progress`. A signal interrupts the job, and so does an exception from `progress`.
pub fn run<T: Send>(
    py: Python<'_>,
    threads: Option<u64>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&dyn Progress) -> misdeal::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(threads)?;
    let progress = progress.map(|callable| callable.clone().unbind());
    let watch = Watch::default();
    let mut raised = None;
    let finished = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let worker = scope.spawn(|| {
                let result = pool.install(|| job(&watch));
                drop(sender);
                result
            });
            // The worker sends nothing: it hangs up when it is done, also by a panic.
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(PATIENCE) as Result<(), _> {
                // Who has interrupted is not asked again: the job ends as soon as it can.
                if raised.is_none()
                    && let Err(error) = Python::attach(|py| watch.attend(py, progress.as_ref()))
                {
                    raised = Some(error);
                    watch.interrupted.store(true, Ordering::Relaxed);
                }
            }
            worker.join()
        })
    });
    let result = finished.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    match raised {
        Some(error) => Err(error),
        None => result.map_err(exception).and_then(|result| watch.warn(py).map(|()| result)),
    }
}

/// State shared between the worker and the waiting thread.
#[derive(Default)]
struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    interrupted: AtomicBool,
    /// The reason why the run cannot refute its claim, until the warning is given.
    beyond_reach: Mutex<Option<String>>,
}

impl Watch {
    /// Warns once about a claim out of reach, which the worker found before the run.
    fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let found = self.beyond_reach.lock().unwrap_or_else(PoisonError::into_inner).take();
        found.map_or(Ok(()), |sentence| {
            let sentence =
                CString::new(sentence).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &sentence, 2)
        })
    }

    fn attend(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        self.warn(py)?;
        let total = self.total.load(Ordering::Relaxed);
        if let Some(callable) = progress
            && total > 0
        {
            callable.call1(py, (self.done.load(Ordering::Relaxed), total))?;
        }
        Ok(())
    }
}

impl Progress for Watch {
    fn observed(&self, done: u64, total: u64) {
        self.total.store(total, Ordering::Relaxed);
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn cannot_refute(&self, claim: &ClaimOutOfReach) {
        let &ClaimOutOfReach { claimed_epsilon, observations, largest_epsilon, fewest_observations } = claim;
        let sentence = beyond_reach(claimed_epsilon, observations, largest_epsilon, fewest_observations);
        *self.beyond_reach.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
    }
}

/// A thread pool and the process that owns it. Threads do not survive a fork, so a child process needs its own pool.
struct Kept {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// Returns the number of threads as the pool expects it. No number means all cores.
pub(crate) fn check_threads(threads: Option<u64>) -> PyResult<usize> {
    match threads {
        None => Ok(0),
        Some(threads) if (1..=4096).contains(&threads) => Ok(threads as usize),
        Some(threads) => {
            let hint = "leave it out to use all cores";
            Err(refusal(Error::bad_value("threads", threads, "a whole number from 1 to 4096", hint)))
        }
    }
}

/// Returns the pool of the last call if it is still valid and has as many threads. Otherwise starts a new one.
fn pool(threads: Option<u64>) -> PyResult<Arc<ThreadPool>> {
    static KEPT: Mutex<Option<Kept>> = Mutex::new(None);
    let threads = check_threads(threads)?;
    let process = std::process::id();
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kept) = kept.as_ref().filter(|kept| kept.process == process && kept.threads == threads) {
        return Ok(Arc::clone(&kept.pool));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| PyRuntimeError::new_err(format!("cannot start threads: {error}")))?;
    let pool = Arc::new(pool);
    if let Some(old) = kept.replace(Kept { process, threads, pool: Arc::clone(&pool) })
        && old.process != process
    {
        // Its threads are the parent's; here there is nobody to end them.
        std::mem::forget(old);
    }
    Ok(pool)
}
