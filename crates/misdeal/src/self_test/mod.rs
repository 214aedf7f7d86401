//! Checks this machine's results against known values.
//!
//! # What is checked here, and what in tests?
//! This module checks only what differs between machines: instruction sets and graphics processors. Every check runs the code of
//! audits. It compares the results with independent values or with the plain reference. Planted faults (`misdeal_core::planted`)
//! show that each check can fail.

mod dealt_batches;
mod engines;
mod generator;
mod known_epsilon;
mod trainings;

use crate::{Error, Progress, Result};
use misdeal_core::Device;
use misdeal_results::request::SelfTestRequest;
use misdeal_results::{Check as Checked, SelfTest};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// The outcome of a check: a remark, or what is wrong.
type Found = std::result::Result<String, String>;

/// A check, and the function that runs it with a seed.
struct Check {
    name: &'static str,
    run: fn(u64) -> Found,
}

/// Checks that run on the processor.
const OF_PROCESSORS: [Check; 5] = [
    Check { name: "generator", run: generator::check },
    Check { name: "engines", run: engines::check },
    Check { name: "known epsilon", run: |seed| known_epsilon::check("cpu", seed) },
    Check { name: "training", run: trainings::check },
    Check { name: "dealt batches", run: dealt_batches::check },
];

/// Checks that run on a graphics processor.
const OF_CUDA: [Check; 3] = [
    Check { name: "cuda engine", run: engines::check_cuda },
    Check { name: "cuda known epsilon", run: |seed| known_epsilon::check("cuda", seed) },
    Check { name: "cuda training", run: trainings::check_cuda },
];

/// Runs all checks for which this machine has a device.
///
/// ```no_run
/// use misdeal::{Unwatched, request::SelfTestRequest, self_test};
/// assert!(self_test(&SelfTestRequest::default(), &Unwatched)?.passed);
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Formal guarantees
/// - Each check that draws at random fails on a sound machine with probability below 1e-6. The others have stated tolerances.
/// - Every check runs the code of audits, on all available instruction sets and devices. A check that panics has failed.
///
/// # Errors
/// `cuda` is requested and there is none, or the run is interrupted. A failed check is not an error; the report lists it.
pub fn self_test(request: &SelfTestRequest, progress: &dyn Progress) -> Result<SelfTest> {
    let cuda = match request.device {
        Device::Cpu => Err("left out: the device is cpu".to_owned()),
        Device::Auto => misdeal_cuda::gpus().map(|_| ()).map_err(|error| error.to_string()),
        Device::Cuda => Ok(misdeal_cuda::gpus().map(|_| ()).map_err(misdeal_core::Error::from)?),
    };
    let mut checks: Vec<&Check> = OF_PROCESSORS.iter().collect();
    if cuda.is_ok() {
        checks.extend(&OF_CUDA);
    }
    let start = Instant::now();
    let mut reports = Vec::new();
    for (done, check) in checks.iter().enumerate() {
        progress.observed(done as u64, checks.len() as u64);
        if progress.is_interrupted() {
            return Err(Error::simulation_interrupted());
        }
        reports.push(check.report(request.seed));
    }
    Ok(SelfTest {
        request: Some(request.clone()),
        passed: reports.iter().all(|check| check.passed),
        checks: reports,
        cuda_missing: cuda.err(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

impl Check {
    fn report(&self, seed: u64) -> Checked {
        let start = Instant::now();
        let found = catch_unwind(AssertUnwindSafe(|| (self.run)(seed)))
            .unwrap_or_else(|_| Err("it panicked; standard error has the place".into()));
        let (passed, detail) = match found {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        Checked { name: self.name.into(), passed, detail, seconds: start.elapsed().as_secs_f64() }
    }
}

/// Runs one check of the processor by its name.
///
/// # Panics
/// If there is no such check.
#[cfg(feature = "planted-faults")]
pub fn run_check(name: &str) -> Checked {
    let check = OF_PROCESSORS.iter().find(|check| check.name == name);
    check.unwrap_or_else(|| panic!("no check is called {name}")).report(0)
}

/// Returns the message of an error.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn message(error: impl ToString) -> String {
    error.to_string()
}
