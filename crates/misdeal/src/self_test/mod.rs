//! Checks this machine's results against known values, one check a file.
//!
//! Every check runs the code that audits run, and compares it with something it shares no code with: generators
//! computed elsewhere, closed forms, golden values, a mechanism whose epsilon is known. Planted faults
//! (`misdeal_core::planted`) show that each check fails for its own reason.

mod clopper_pearson;
mod cuda_engine;
mod cuda_training;
mod engines;
mod generator;
mod known_epsilon;
mod likelihood;
mod merged_shards;
mod resumed_run;
mod store_round_trip;
mod training;

use crate::{Error, Progress, Result, SCHEMA_VERSION};
use misdeal_core::Device;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// What a check found: a remark on what it saw, or what is wrong.
type Found = std::result::Result<String, String>;

/// What to test, with which seed.
#[derive(Debug, Clone)]
pub struct SelfTestRequest {
    /// `cpu`; `cuda`, which must be there; or `auto`, for what there is.
    pub device: Device,
    /// Of the checks that draw at random; any seed does.
    pub seed: u64,
}

/// What the checks found.
#[derive(Debug, Clone, Serialize)]
pub struct SelfTestReport {
    schema_version: u32,
    command: &'static str,
    version: &'static str,
    /// Whether every check passed.
    pub passed: bool,
    /// The checks, in the order in which data meets what they check.
    pub checks: Vec<CheckReport>,
    /// Why checks of a graphics processor were left out, if they were.
    pub cuda_missing: Option<String>,
    /// Time of all checks together.
    pub seconds: f64,
}

/// What one check found.
#[derive(Debug, Clone, Serialize)]
pub struct CheckReport {
    /// What is checked.
    pub name: &'static str,
    /// Whether it is right.
    pub passed: bool,
    /// What was seen, or what is wrong.
    pub detail: String,
    /// Time that it took.
    pub seconds: f64,
}

/// A check: what it is called, and what runs it with a seed.
struct Check {
    name: &'static str,
    run: fn(u64) -> Found,
}

/// On the processor.
const OF_PROCESSORS: [Check; 10] = [
    Check { name: "generator", run: generator::check },
    Check { name: "likelihood", run: likelihood::check },
    Check { name: "engines", run: engines::check },
    Check { name: "clopper-pearson", run: clopper_pearson::check },
    Check { name: "known epsilon", run: |seed| known_epsilon::check("cpu", seed) },
    Check { name: "estimators", run: known_epsilon::check_all_estimators },
    Check { name: "store round trip", run: store_round_trip::check },
    Check { name: "merged shards", run: merged_shards::check },
    Check { name: "resumed run", run: resumed_run::check },
    Check { name: "training", run: training::check },
];

/// On a graphics processor.
const OF_CUDA: [Check; 3] = [
    Check { name: "cuda engine", run: cuda_engine::check },
    Check { name: "cuda known epsilon", run: |seed| known_epsilon::check("cuda", seed) },
    Check { name: "cuda training", run: cuda_training::check },
];

/// Runs all checks that there is a device for, in under half a minute on two cores.
///
/// # Formal guarantees
/// - What is compared with exact values is compared to stated tolerances; checks of random draws fail a sound machine with a probability below
///   1e-6 each.
/// - Every check runs the code that audits run, on the instruction sets and devices that are there. A check that panics has failed.
///
/// # Errors
/// `cuda` where there is none, or an interruption. A check that fails is no error but in the report.
pub fn self_test(request: &SelfTestRequest, progress: &dyn Progress) -> Result<SelfTestReport> {
    let cuda = match request.device {
        Device::Cpu => Err("left out by --device cpu".to_owned()),
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
    Ok(SelfTestReport {
        schema_version: SCHEMA_VERSION,
        command: "self-test",
        version: env!("CARGO_PKG_VERSION"),
        passed: reports.iter().all(|check| check.passed),
        checks: reports,
        cuda_missing: cuda.err(),
        seconds: start.elapsed().as_secs_f64(),
    })
}

impl Check {
    fn report(&self, seed: u64) -> CheckReport {
        let start = Instant::now();
        let found = catch_unwind(AssertUnwindSafe(|| (self.run)(seed)))
            .unwrap_or_else(|_| Err("it panicked; standard error has the place".into()));
        let (passed, detail) = match found {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        CheckReport { name: self.name, passed, detail, seconds: start.elapsed().as_secs_f64() }
    }
}

/// One of the processor's checks alone, by its name.
///
/// # Panics
/// If there is no such check.
#[cfg(feature = "planted-faults")]
pub fn run_check(name: &str) -> CheckReport {
    let check = OF_PROCESSORS.iter().find(|check| check.name == name);
    check.unwrap_or_else(|| panic!("no check is called {name}")).report(0)
}

/// The words of an error that a check ran into.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
fn told(error: impl ToString) -> String {
    error.to_string()
}
