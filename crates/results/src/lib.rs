//! The documents that misdeal's commands write, and the verdict that each gives on a claim.
//!
//! [`Document`] is one type for all of them. It is written as JSON, and [`Stored`] reads it back.
//!
//! ```
//! use misdeal_results::{Document, Stored, VerdictKind};
//!
//! let noise = r#"{"schema_version": 2, "command": "calibrate", "version": "0.1.0", "noise_multiplier": 0.79, "epsilon": 2.99,
//!     "target_epsilon": 3.0, "delta": 1e-5, "scheme": "poisson", "steps_per_epoch": 100, "epochs": 1, "batch_size": 100,
//!     "bound": "upper"}"#;
//! let Stored { document: Document::Calibrate(found), .. } = Stored::parse("noise.json", noise)? else { panic!() };
//! assert_eq!(found.verdict().kind, VerdictKind::Holds);
//! assert_eq!(found.verdict().sentence, "With a noise multiplier of 0.7900000 poisson is proven to meet epsilon 3.");
//! # Ok::<(), misdeal_results::Unreadable>(())
//! ```
//!
//! - [`Document`]: the result of a command, one variant per command. [`Stored`] is a document that was read, with its name.
//! - [`Audit`], [`Estimation`], [`Account`], [`Diagnosed`], [`Reproduction`] and others: the contents of each document.
//! - [`Verdict`]: what a result says of the claim, in a word and in a sentence. Only this crate writes these words.
//! - [`Judged`]: an epsilon with its guarantee, compared with a claim.
//! - [`request`]: the parameters of each job.
//! - [`numbers`]: formats numbers for people. Lower bounds are rounded down and upper bounds up.

mod account;
mod audit;
mod calibration;
mod check;
mod check_up;
mod check_words;
mod coins;
mod decision;
mod diagnosis;
mod document;
mod engine_used;
mod estimation;
mod files;
mod histogram;
mod json_layout;
mod judged;
mod machine;
pub mod numbers;
mod outputs;
mod reproduction;
pub mod request;
mod scan;
mod schema;
mod stored;
mod sweep;
mod theory;
mod trade_off;
mod verdict;
mod version_1;

pub use account::{Account, OtherMethod, RunShape};
pub use audit::{Audit, BufferSearch, Correction, Guess, Training};
pub use calibration::{CalibratedScheme, Calibration, Calibrations};
pub use check::{CardSetting, Checked, CheckedCard, CheckedScheme};
pub use check_up::{CHECK_UP_SIGNIFICANCE, CheckUp, TestedFault};
pub use coins::{Coins, OneRunBounds, TestedCurve};
pub use diagnosis::{
    Candidate, Defect, DefectName, Diagnosed, Diagnosis, EpochPositions, Leakage, LoggedScheme,
    PositionSample, SchemeParameters,
};
pub use document::{Document, SCHEMA_VERSION};
pub use engine_used::EngineUsed;
pub use estimation::Estimation;
pub use files::{LaidOut, Merged};
pub use judged::{AT_CHANCE, Judged, beyond_reach};
pub use machine::{Check, Devices, FoundDevice, SelfTest};
pub use misdeal_core::Independence;
pub use outputs::{OutputScore, Outputs};
pub use reproduction::{
    AboveCount, AboveTheClaim, Agreement, Dealt, Heading, Provenance, Reproduced, Reproduction,
    printed_numbers,
};
pub use scan::{Count, Finding, Level, PipelineOrder, RuleEntry, Scan, Skipped, Survey, SurveyLocation};
pub use schema::schemas;
pub use stored::{Stored, Unreadable, verdict_of_estimate};
pub use sweep::{Swept, VariedField};
pub use theory::Theory;
pub use trade_off::{PromisedCurve, TradeOff};
pub use verdict::{Tone, Verdict, VerdictKind, capitalised};
