//! What each job is asked for: one type a job, declared once for `clap`, `serde` and Rust.
//!
//! A field's doc comment is its help. Its default stands in its `arg` attribute and nowhere else. What a field may hold is checked by the job,
//! whose refusals name the field: each door spells it its own way.
//!
//! ```
//! use misdeal_results::request::{AuditMechanismRequest, Request};
//!
//! let request: AuditMechanismRequest = serde_json::from_str(r#"{"scheme": "poisson", "delta": 1e-6}"#)?;
//! assert_eq!(request.observations, 10_000_000);
//! assert_eq!(request.command_line(), "misdeal audit mechanism --scheme poisson --delta 1e-6");
//! # Ok::<(), serde_json::Error>(())
//! ```

mod account;
mod analysis;
mod check;
mod command_line;
mod deal;
mod diagnose;
mod estimate;
mod game;
mod in_documents;
mod mechanism;
mod merge;
mod reproduce;
mod run;
mod scan;
mod self_test;
mod shape;
mod sweep;
mod training;
mod values;

pub use account::{AccountRequest, BoundSide, CalibrateRequest};
pub use analysis::Analysis;
pub use check::{Card, CheckRequest};
pub use command_line::quoted;
pub use deal::DealRequest;
pub use diagnose::DiagnoseRequest;
pub use estimate::EstimateRequest;
pub use game::Game;
pub use in_documents::AuditRequest;
pub(crate) use in_documents::if_known;
pub use mechanism::AuditMechanismRequest;
pub use merge::MergeRequest;
pub use reproduce::{ARTEFACTS, ReproduceRequest};
pub use run::Run;
pub use scan::ScanRequest;
pub use self_test::SelfTestRequest;
pub use shape::{CountedSteps, ShapeRequest};
pub use sweep::{SweepRequest, Variation};
pub use training::AuditTrainingRequest;
pub use values::{Completed, count, device, number, one_of, path, paths};

use clap::{Args, Command};
use serde::Serialize;

/// What one job is asked for.
pub trait Request: Args + Default + Serialize {
    /// The command that asks for it.
    const COMMAND: &str;

    /// The command line that asks for the same: what differs from the defaults, in the order of the help.
    ///
    /// Where a run saves its scores is no part of it.
    fn command_line(&self) -> String {
        command_line::command_line(self)
    }
}

/// What is asked for where nothing is said: the defaults of the flags.
fn defaults<T: Args>() -> T {
    let command = T::augment_args(Command::new("misdeal")).mut_args(|arg| arg.required(false));
    let matches = command.try_get_matches_from(["misdeal"]).expect("every flag can be left out");
    T::from_arg_matches(&matches).expect("every default can be read")
}

/// Takes the defaults of types from their flags.
macro_rules! default_of_flags {
    ($($request:ty),*) => {
        $(impl Default for $request {
            fn default() -> Self {
                $crate::request::defaults()
            }
        })*
    };
}
use default_of_flags;

/// Makes a type the request of a command.
macro_rules! request {
    ($request:ty, $command:literal) => {
        $crate::request::default_of_flags!($request);

        impl $crate::request::Request for $request {
            const COMMAND: &str = $command;
        }
    };
}
use request;

#[cfg(test)]
mod tests;
