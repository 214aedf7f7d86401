//! Whole jobs: an audit beside its theory, from a request to a report.
//!
//! ```
//! use misdeal::request::AuditMechanismRequest;
//! use misdeal::{Unwatched, audit_mechanism};
//!
//! let mut request = AuditMechanismRequest { observations: 100_000, ..AuditMechanismRequest::default() };
//! request.run.claimed_epsilon = Some(0.72);
//! let report = audit_mechanism(&request, &Unwatched)?;
//! assert!(report.estimate.valid && report.violated == Some(true));
//! # Ok::<(), misdeal::Error>(())
//! ```
//!
//! - [`audit_mechanism`]: plays the game on the batched Gaussian mechanism ([`AuditMechanismRequest`](request::AuditMechanismRequest)).
//! - [`audit_training`]: plays it on DP-SGD with real data and models ([`TrainingAudit`]).
//! - [`account()`], [`calibrate_noise`]: what theory says, and the noise that a target needs.
//! - [`estimate_scores`]: scores from anywhere to epsilon.
//! - [`merge_stores`]: shards of a run to one store; [`play_part`] and [`audit_played`]: any trials of it, and the audit of all.
//! - [`score_outputs`], [`judge_outputs`]: what the outputs of somebody's own training show.
//! - [`diagnose()`]: which scheme made the batches of a log, and what that costs.
//! - [`self_test()`]: checks this machine's results against known values; [`devices()`]: what there is to compute on.
//! - [`request`]: what each of them is asked for.
//! - [`Progress`]: whoever watches a job and may interrupt it.

mod accounted;
mod accounting;
mod audit_report;
mod blind_training;
mod buffer_search;
mod claimed_curve;
mod devices;
mod diagnose;
mod engine_choice;
mod error;
mod estimation;
mod measurement;
mod mechanism;
mod memory;
mod merging;
mod outputs;
mod parts;
mod progress;
mod promised;
mod reach;
mod run;
mod savings;
mod self_test;
mod shard;
mod standing;
mod stopping;
mod trade_off;
mod training;
mod training_device;

pub use accounted::PoissonSampling;
pub use accounting::{account, calibrate_noise};
pub use claimed_curve::ClaimedCurve;
pub use devices::devices;
pub use diagnose::{diagnose, diagnose_batches};
pub use engine_choice::EngineChoice;
pub use error::{Error, Result};
pub use estimation::{estimate_arrays, estimate_scores, judge_store};
pub use measurement::Measurement;
pub use mechanism::{MechanismAudit, audit_mechanism, measure_mechanism};
pub use merging::merge_stores;
pub use misdeal_results::request::{self, Analysis};
pub use outputs::{judge_outputs, judge_outputs_despite, score_outputs};
pub use parts::{audit_played, check_mechanism, is_decided, play_part};
pub use progress::{Progress, Unwatched};
pub use promised::promised;
pub use reach::OutOfReach;
pub use run::RunOptions;
#[cfg(feature = "planted-faults")]
pub use self_test::run_check;
pub use self_test::self_test;
pub use shard::Shard;
pub use stopping::StopWhen;
pub use training::{DataRequest, TrainingAudit, audit_training, calibrated};
