//! DP-SGD with canaries on real data, for thousands of models.
//!
//! ```
//! use misdeal_core::{Blueprint, CanaryKind, Recipe, Setting};
//! use misdeal_train::data::{Dataset, Examples, Shape};
//! use misdeal_train::TrainingPlan;
//! use std::sync::Arc;
//!
//! let features = (0..80).map(|i| (i % 7) as f32 / 7.0).collect();
//! let train = Examples { shape: Shape::flat(4), features, labels: (0..20).map(|i| i % 2).collect() };
//! let dataset = Arc::new(Dataset { name: "example".into(), classes: 2, train, test: None });
//! let setting = Setting { steps_per_epoch: 5, batch_size: 4, ..Setting::default() };
//! let recipe = Recipe { canary: CanaryKind::NullSpace, ..Recipe::new(Blueprint::named("mlp")?) };
//!
//! let plan = TrainingPlan::new(&setting, &recipe, dataset)?;
//! let batch = plan.score(0..100, &|| false, &|| ()).expect("nobody cancels");
//! assert_eq!((batch.scores_in.len(), batch.scores_out.len()), (100, 100));
//! assert!(batch.utility.train_accuracy().is_some_and(|accuracy| accuracy.mean > 0.2));
//! # Ok::<(), misdeal_core::Error>(())
//! ```
//!
//! The items in the order in which data passes through them:
//!
//! - [`data`]: records with labels.
//! - [`Blueprint`](misdeal_core::Blueprint) and [`Model`]: the layers that a user composes, and the model they form for records of
//!   a given shape.
//! - [`Recipe`](misdeal_core::Recipe): learning rate, clipping norm, canaries. Model and recipe are plain data that any engine can
//!   read.
//! - [`TrainingPlan`]: a validated setting, recipe and data set; [`TrainingPlan::score`] trains models and scores them.
//! - [`Utility`]: accuracies and biases, as sums that can be merged in any order.
//!
//! [`reference`] is a direct f64 implementation of the paper's Algorithm 2. Tests compare the engine with it, trial by trial.

mod adversary;
mod canary;
mod checks;
mod coins;
pub mod data;
mod debias;
mod digest;
mod engine;
mod follow;
mod initial;
mod kernels;
mod measured_trials;
mod memory;
mod model;
mod plan;
pub mod reference;
mod scoring;
mod simd;
mod utility;

pub use adversary::{Adversary, ModifiedBatch, Roles};
pub use canary::Canary;
pub use debias::{BiasModel, sample};
pub use digest::training_digest;
pub use engine::{TrainedModel, Workspace};
pub use initial::initial_parameters;
pub use measured_trials::MeasuredTrials;
pub use memory::{MOST_BYTES, Parallelism};
pub use model::{Layer, LayerWeights, Model};
pub use plan::{ENGINE, TrainingPlan, TrialBatch};
pub use scoring::scores;
pub use simd::InstructionSet;
pub use utility::Utility;
