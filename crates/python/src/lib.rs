//! The Python module behind `import misdeal`. It reads arguments, calls the jobs, returns results, and adds no logic.
//!
//! Python users see the package in `misdeal/`. This crate is the module `misdeal._native` below it.
//!
//! - [`calls`]: reads arguments, whose names are those of the command line's flags.
//! - [`jobs`]: runs a job on all cores. Meanwhile Python threads can run, progress is reported, and Ctrl-C works.
//! - [`errors`]: converts all errors to Python exceptions.
//! - [`reports`]: the results of jobs.
//!
//! # Why does `cargo test` need no Python?
//! The module is always built as an extension (`extension-module`, stable ABI from Python 3.10). Its tests are written in Python,
//! in `tests/`.

#![allow(clippy::needless_pass_by_value, reason = "what Python hands over is extracted by value")]

mod accounting;
mod audits;
mod calls;
mod check_ups;
mod deal;
mod diagnoses;
mod errors;
mod estimates;
mod jobs;
mod machine;
mod outputs;
mod pages;
mod paper;
mod parts;
mod reports;
mod stores;

use pyo3::prelude::*;

/// The compiled part of misdeal.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::accounting::{account, calibrate, check, sweep};
    #[pymodule_export]
    use crate::audits::{audit_mechanism, audit_training, describe_setting};
    #[pymodule_export]
    use crate::check_ups::check_up;
    #[pymodule_export]
    use crate::deal::{Plan, deal};
    #[pymodule_export]
    use crate::diagnoses::{diagnose, scan};
    #[pymodule_export]
    use crate::estimates::{
        clopper_pearson_upper, epsilon_of_errors, epsilon_of_parts, estimate, estimate_file,
    };
    #[pymodule_export]
    use crate::machine::{devices, self_test};
    #[pymodule_export]
    use crate::outputs::{describe_adversary, judge_coins, judge_outputs, runs_needed, score_outputs};
    #[pymodule_export]
    use crate::pages::{report, verdict};
    #[pymodule_export]
    use crate::paper::reproduce;
    #[pymodule_export]
    use crate::parts::{audit_played, check_mechanism, is_decided, looks, play_part};
    #[pymodule_export]
    use crate::reports::Report;
    #[pymodule_export]
    use crate::stores::{Store, merge};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python packages have for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
