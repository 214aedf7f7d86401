//! Statistics of scores: bounds on epsilon and error rates, tests of claimed curves, and descriptions.
//!
//! ```
//! use misdeal_core::{Purpose, STREAM_NAME, ScoreStore, Setting, StoreKind, Stream, World};
//! use misdeal_statistics::{ClopperPearson, ThresholdChoice, estimate};
//!
//! // A mechanism that leaks: its output is uniform on [0, 1), and shifted by 0.9 where the target is present.
//! let setting = Setting { seed: 7, ..Setting::default() }.validated()?;
//! let stream = Stream::new(&setting.hash());
//! let score = |trial, world| {
//!     let shift = if world == World::In { 0.9 } else { 0.0 };
//!     shift + stream.uniform(Purpose::Position, world, trial, 0) as f64 / 2_f64.powi(64)
//! };
//!
//! let mut store = ScoreStore::new(setting, "example", STREAM_NAME, StoreKind::Counts)?;
//! let [scores_in, scores_out] = World::BOTH.map(|world| (0..10_000).map(|trial| score(trial, world)).collect::<Vec<_>>());
//! store.insert(0..10_000, &scores_in, &scores_out)?;
//!
//! let estimate = estimate(&store, ThresholdChoice::HoldOut, &ClopperPearson, 1e-5, 0.05)?;
//! assert!(estimate.valid && estimate.empirical_epsilon > 5.0);
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! - [`estimate()`] and [`from_scores`] return an [`EpsilonEstimate`]. They use an [`Estimator`] and a threshold from a
//!   [`ThresholdChoice`]. [`ESTIMATORS`] lists all estimators.
//! - [`Look`] is one look of a confidence sequence. [`Family`] covers several audits at one significance.
//! - [`test_curve`] tests a claimed trade-off curve. [`trade_off`], [`describe`] and [`histogram`] describe scores.
//! - [`checkup`] tests one training for its faults.
//! - [`coins`] has the tests of audits with a fair coin for each canary, and [`PrivacyCurve`] a claimed curve.
//! - [`binomial`] has the binomial bounds and [`beta`] the beta tails behind these results.

mod band;
pub mod beta;
pub mod binomial;
pub mod checkup;
pub mod chi_square;
pub mod claimed_curve;
mod clopper_pearson;
pub mod coins;
mod counted;
mod crossing;
mod curve_test;
mod descriptive;
mod divergence;
mod error_counts;
mod estimate;
mod estimator;
mod estimator_name;
mod evidence;
mod exact;
mod family;
mod flawless;
mod gdp;
mod guarantee;
mod histogram;
mod jeffreys;
mod joint_bayesian;
mod log_katz;
mod looks;
mod occupied_bins;
mod one_run;
mod one_run_fdp;
mod privacy_curve;
mod quadrature;
mod rank_test;
mod raw;
mod saddle_point;
mod sample;
mod search;
mod split;
#[cfg(test)]
mod tests;
mod threshold_choice;
mod trade_off;

pub use clopper_pearson::ClopperPearson;
pub use counted::CountedScores;
pub use curve_test::{CurveFunction, CurveTest, test_curve, test_curve_on_scores};
pub use descriptive::{Descriptive, Figure, TruePositiveRate};
pub use divergence::Divergence;
pub use error_counts::ErrorCounts;
pub use estimate::{
    EpsilonEstimate, check_levels, describe, describe_scores, estimate, from_coin_scores, from_scores,
    reversed_auroc,
};
pub use estimator::{ERROR_ESTIMATORS, ESTIMATORS, ErrorEstimator, Estimator, Finding, Side, estimator};
pub use estimator_name::EstimatorName;
pub use evidence::Evidence;
pub use family::Family;
pub use flawless::{fewest_trials_above, largest_epsilon};
pub use gdp::Gdp;
pub use guarantee::Guarantee;
pub use histogram::{ScoreHistogram, histogram, histogram_of_scores};
pub use jeffreys::Jeffreys;
pub use joint_bayesian::JointBayesian;
pub use log_katz::LogKatz;
pub use looks::Look;
pub use occupied_bins::BinTally;
pub use one_run::OneRun;
pub use one_run_fdp::OneRunFdp;
pub use privacy_curve::PrivacyCurve;
pub use raw::Raw;
pub use split::{OneSided, epsilon_of_split};
pub use threshold_choice::ThresholdChoice;
pub use trade_off::{TradeOffEstimate, TradeOffPoint, trade_off, trade_off_from_scores};

use estimate::{at_level, check_enough, finite, from_evidence};
