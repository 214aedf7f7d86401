//! Audits differentially private training: does its way of making batches break the claimed guarantee?
//!
//! ```
//! use misdeal::{BatchScheme, Setting};
//!
//! let setting = Setting::new(0.79).scheme(BatchScheme::Shuffle).steps_per_epoch(117).epochs(10);
//! let result = setting.audit().claimed_epsilon(3.0).observations(10_000_000).run()?;
//! println!("{}", result.verdict());
//! let bounds = setting.account(1e-5)?;
//! # assert!(bounds.epsilon_lower_bound.is_some_and(|epsilon| epsilon > 3.0));
//! # Ok::<(), misdeal::Error>(())
//! ```
//!
//! | task | start with | result |
//! |---|---|---|
//! | an audit of the mechanism | [`Setting::audit`], [`MechanismAudit`] | [`Audit`] |
//! | an audit of trainings on real data | [`audit_training`], [`TrainingAudit`] | [`Audit`] |
//! | what theory proves | [`Setting::account`], [`account()`] | [`Bounds`], [`Account`] |
//! | a model card | [`check()`] | [`Checked`] |
//! | the noise that a target needs | [`calibrate_noise`], [`calibrate_all`] | [`Calibration`], [`Calibrations`] |
//! | scores of your own | [`estimate_scores`], [`estimate_arrays`] | [`Estimation`] |
//! | outputs of your own training | [`score_outputs`], [`judge_outputs`], [`judge_coins`] | [`Outputs`] |
//! | faults of your own training | [`check_up()`], [`RunRecord`] | [`CheckUp`] |
//! | a log of batches | [`diagnose()`] | [`Diagnosed`] |
//! | batches to train on | [`deal()`] | [`DealtPlan`] |
//! | parts of a run | [`play_part`], [`audit_played`], [`merge_stores`] | [`ScoreStore`], [`Merged`] |
//! | this machine | [`self_test()`], [`devices()`] | [`SelfTest`], [`Devices`] |
//!
//! [`Setting`] describes what is audited, using [`BatchScheme`], [`ThreatModel`] and [`Adjacency`]. Implement [`Progress`] to
//! watch a job. [`request`] has one request for each job, as in files and on command lines. Every failure is an [`Error`].

mod accounted;
mod accounting;
mod audit_builder;
mod audit_report;
mod blind_training;
mod buffer_search;
mod calibration;
mod check;
mod check_up;
mod checkpoints;
mod claimed_curve;
mod coins;
mod deal;
mod devices;
mod diagnose;
mod engine_choice;
mod error;
mod estimation;
mod measurement;
mod mechanism;
mod memory;
mod merging;
mod modelled;
mod outputs;
mod parts;
mod privacy_curves;
mod progress;
mod promised;
mod reach;
mod run;
mod self_test;
mod setting;
mod shard;
mod standing;
mod stopping;
mod trade_off;
mod training;
mod training_device;

pub use accounting::account;
pub use calibration::{calibrate, calibrate_all, calibrate_noise};
pub use check::{check, default_card, sweep};
pub use check_up::check_up;
pub use claimed_curve::ClaimedCurve;
pub use coins::{CoinAnalysis, CurveClaim, RunsNeeded, judge_coins, runs_needed};
pub use deal::{deal, dealt_plan};
pub use devices::devices;
pub use diagnose::{diagnose, diagnose_batches};
pub use engine_choice::EngineChoice;
pub use error::{Error, Result};
pub use estimation::{check_apart, estimate_arrays, estimate_scores, judge_store, read_both};
pub use measurement::Measurement;
pub use mechanism::{MechanismAudit, audit_mechanism, measure_mechanism};
pub use merging::merge_stores;
pub use misdeal_core::{
    Adjacency, BatchScheme, Blueprint, Bounds, CanaryKind, ClosedSet, Device, EngineName, LastBatch,
    Precision, Recipe, ScoreStore, StoreKind, ThreatModel, World,
};
pub use misdeal_results::request::{self, Analysis};
pub use misdeal_results::{
    Account, Audit, Calibration, Calibrations, CheckUp, Checked, CheckedCard, DealtPlan, Devices, Diagnosed,
    Estimation, Independence, Merged, Outputs, SelfTest, Swept, Verdict, VerdictKind,
};
pub use misdeal_schemes::deal::{Plan, of_rank};
pub use misdeal_statistics::checkup::{Claim, RunRecord};
pub use misdeal_statistics::{EpsilonEstimate, ThresholdChoice};
pub use outputs::{judge_outputs, judge_outputs_despite, score_outputs};
pub use parts::{audit_played, check_mechanism, is_decided, play_part};
pub use progress::{Progress, Unwatched};
pub use promised::promised;
pub use reach::ClaimOutOfReach;
pub use run::RunOptions;
#[cfg(feature = "planted-faults")]
pub use self_test::run_check;
pub use self_test::self_test;
pub use setting::Setting;
pub use shard::Shard;
pub use stopping::StopWhen;
pub use training::{DataRequest, TrainingAudit, audit_training, calibrated};
