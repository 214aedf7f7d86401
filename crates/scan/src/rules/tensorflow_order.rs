//! The order of records in TensorFlow: pipelines of `tf.data`, Keras's `fit`, and input functions of Estimators.

use super::order::{BATCH, SHUFFLE};
use super::tensorflow_data::training_pipelines;
use crate::flow::{Call, Origin, Place, Value};
use crate::libraries::is_keras_optimizer;
use crate::module::Module;
use crate::role::Role;

/// How a private training orders its records.
#[derive(Debug, Clone, Copy)]
pub struct Order<'m, 'a> {
    /// The kind of order.
    pub kind: Kind,
    /// The statement.
    pub place: &'m Place<'a>,
}

/// The kind of order, and the words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Records are shuffled and cut into batches.
    Shuffled(&'static str),
    /// Records keep their order.
    Fixed(&'static str),
}

/// The orders of records that a module trains on.
pub fn orders<'m, 'a>(module: &'m Module<'a>) -> Vec<Order<'m, 'a>> {
    let mut orders = Vec::new();
    for (value, operation) in training_pipelines(module, &BATCH) {
        let shuffles = |value: &Value| {
            value.always(|history| history.backwards().any(|step| SHUFFLE.contains(&step.name)))
        };
        if shuffles(value) {
            let kind = Kind::Shuffled("the tf.data pipeline shuffles");
            orders.push(Order { kind, place: &operation.place });
        }
    }
    for training in module.trainings().all.iter().filter(|training| is_fixed_pipeline(&training.batches)) {
        orders.push(Order { kind: Kind::Fixed("the data set is not shuffled"), place: &training.place });
    }
    let has_optimizer = has_keras_optimizer(module);
    for call in &module.facts.calls {
        let kind = if has_optimizer && is_fit(call) {
            fit_order(call)
        } else if call.last_name().is_some_and(|name| matches!(name, "numpy_input_fn" | "pandas_input_fn")) {
            input_order(call)
        } else {
            None
        };
        if let Some(kind) = kind {
            orders.push(Order { kind, place: &call.place });
        }
    }
    orders
}

/// Whether a module makes a private optimizer or model of TensorFlow Privacy.
pub fn has_keras_optimizer(module: &Module) -> bool {
    let facts = &module.facts;
    facts.calls.iter().any(|call| call.last_name().is_some_and(is_keras_optimizer))
        || facts.imports.modules().any(|name| name.rsplit('.').next().is_some_and(is_keras_optimizer))
}

/// Whether a call is Keras's `fit` on training data.
pub fn is_fit(call: &Call) -> bool {
    let words = ["epochs", "batch_size", "validation_data", "steps_per_epoch", "callbacks"];
    call.method() == Some("fit")
        && call.arguments.keywords.iter().any(|(name, ..)| words.contains(name))
        && Role::around(&call.place) != Role::Evaluation
}

/// The order that `fit` makes of arrays. A data set keeps the order that its pipeline gives it.
fn fit_order(call: &Call) -> Option<Kind> {
    let shuffles = call.arguments.named("shuffle");
    if shuffles.is_some_and(|(_, value)| value.as_bool() == Some(false)) {
        return Some(Kind::Fixed("fit keeps the order of the data"));
    }
    let (_, data) = call.arguments.get("x", 0)?;
    if is_fixed_pipeline(data) {
        return Some(Kind::Fixed("the data set is not shuffled"));
    }
    let is_pipeline =
        data.histories().iter().any(|history| history.backwards().any(|step| BATCH.contains(&step.name)));
    (!is_pipeline && shuffles.is_none_or(|(_, value)| value.as_bool() == Some(true)))
        .then_some(Kind::Shuffled("fit shuffles"))
}

/// The order of an Estimator's input function. One pass in a fixed order is for evaluation.
fn input_order(call: &Call) -> Option<Kind> {
    if Role::of_targets(&call.place) == Role::Evaluation {
        return None;
    }
    match call.arguments.get("shuffle", 5).and_then(|(_, value)| value.as_bool()) {
        Some(true) => Some(Kind::Shuffled("the input function shuffles")),
        Some(false) if Role::of_targets(&call.place) == Role::Training => {
            Some(Kind::Fixed("the input function keeps the order of the data"))
        }
        _ => None,
    }
}

/// Whether a value is a pipeline of arrays in `tf.data` that forms batches and never shuffles.
fn is_fixed_pipeline(value: &Value) -> bool {
    value.always(|history| {
        let starts = matches!(history.origin(), Origin::Constructed(name, ..)
            if ["from_tensor_slices", "from_generator", "Dataset.range"].iter().any(|start| name.ends_with(start)));
        starts
            && history.backwards().any(|step| BATCH.contains(&step.name))
            && !history.backwards().any(|step| SHUFFLE.contains(&step.name))
            && !history.backwards().any(|step| Role::of_targets(&step.place) == Role::Evaluation)
    })
}
