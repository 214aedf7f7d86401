//! Finds pipelines of `tf.data`.

use super::order::{BATCH, forms_batches};
use crate::flow::{Arguments, History, Operation, Origin, Value};
use crate::module::Module;
use crate::role::{Role, words};
use ruff_python_ast::Expr;

/// Packages with functions that start a `tf.data` pipeline.
const PACKAGES: [&str; 3] = ["tensorflow", "tensorflow_datasets", "keras"];
/// Libraries whose pipelines have operations with the same names.
const OTHERS: [&str; 7] = ["datasets", "grain", "mindspore", "ray", "torch", "torchdata", "webdataset"];

/// Training pipelines of `tf.data` whose last operation is one of `names`.
pub fn training_pipelines<'m, 'a>(
    module: &'m Module<'a>,
    names: &'static [&'static str],
) -> impl Iterator<Item = (&'m Value<'a>, &'m Operation<'a>)> {
    let imports = &module.facts.imports;
    let is_tensorflow = PACKAGES.iter().any(|package| imports.uses(package));
    let is_mixed = OTHERS.iter().any(|package| imports.uses(package));
    // Federated learning samples clients. How a client orders its own records does not matter.
    let is_of_clients = imports.uses("tensorflow_federated");
    let pipelines = module.facts.pipelines.iter().filter(move |_| is_tensorflow && !is_of_clients);
    pipelines.filter_map(move |value| {
        let last = value.histories()[0].last()?;
        let is_ours = names.contains(&last.name)
            && (!BATCH.contains(&last.name) || forms_batches(last))
            && !is_peek(module, last)
            && value.always(|history| is_of_tensorflow(history, is_mixed))
            && !value.always(|history| Role::of_pipeline(history, last) == Role::Evaluation);
        is_ours.then_some((value, last))
    })
}

/// Whether a pipeline is only looked at: `next(iter(data.batch(9)))`, `data.shuffle(100).take(1)`.
fn is_peek(module: &Module, last: &Operation) -> bool {
    let text = &module.source.text[last.range.end().to_usize()..];
    let rest = text.split(['\n', ';']).next().unwrap_or("");
    rest.contains(").take(1)") || rest.contains(").take(2)") || rest.contains(").take(3)") || {
        let line = module.source.line_at(last.range.start().to_usize());
        line.contains("next(iter(") || line.contains(".as_numpy_iterator().next()")
    }
}

/// Whether a pipeline starts in TensorFlow. An unknown start counts if no similar library is imported.
fn is_of_tensorflow(history: &History, is_mixed: bool) -> bool {
    match history.origin() {
        Origin::Constructed(name, ..) | Origin::Imported(name) => {
            let package = name.split('.').next().unwrap_or("");
            PACKAGES.contains(&package) || (!is_mixed && !OTHERS.contains(&package))
        }
        Origin::Anything | Origin::Variable(_) => !is_mixed,
        _ => false,
    }
}

/// The argument `buffer_size` of a shuffle, if it is a known integer.
pub fn buffer_size(shuffle: &Operation) -> Option<i64> {
    shuffle.arguments.as_ref()?.get("buffer_size", 0)?.1.as_int()
}

/// Whether a pipeline's elements are file names.
pub fn is_of_files(history: &History) -> bool {
    let speaks_of_files = |name: &str| {
        let words = words(name);
        ["file", "files", "filename", "filenames", "path", "paths", "shard", "shards", "glob"]
            .iter()
            .any(|word| words.iter().any(|own| own == word))
    };
    match history.origin() {
        Origin::Variable(name) => speaks_of_files(name),
        // Readers of records get file names too, but their elements are records. Slices of a list of names are names.
        Origin::Constructed(name, _, arguments) => {
            name.ends_with(".list_files")
                || (name.ends_with(".from_tensor_slices")
                    && first_name(arguments).is_some_and(|name| speaks_of_files(&name)))
        }
        _ => false,
    }
}

/// The name of the first argument, or of its origin.
fn first_name(arguments: &Arguments) -> Option<String> {
    let (expression, value) = arguments.positional.first()?;
    match expression {
        Expr::Name(name) => return Some(name.id.to_string()),
        Expr::Attribute(attribute) => return Some(attribute.attr.to_string()),
        _ => {}
    }
    match value.origin()? {
        Origin::Variable(name) | Origin::Constructed(name, ..) => Some(name.to_string()),
        _ => None,
    }
}

/// The number of records at the start of a pipeline, if the source gives it.
pub fn records(history: &History) -> Option<i64> {
    let Origin::Constructed(name, _, arguments) = history.origin() else { return None };
    let last = name.rsplit('.').next().unwrap_or(name);
    match last {
        "range" if name.ends_with("Dataset.range") && arguments.positional.len() == 1 => {
            arguments.positional[0].1.as_int()
        }
        "load" if name.starts_with("tensorflow_datasets") => {
            let data_set = arguments.get("name", 0)?.1.as_text()?;
            let split = arguments.named("split").map_or(Some("train"), |(_, value)| value.as_text())?;
            (split == "train").then(|| known_size(data_set)).flatten()
        }
        "from_tensor_slices" => {
            let (_, value) = arguments.positional.first()?;
            let first = match value.origin()? {
                Origin::Items(items) => items.first()?.clone(),
                _ => value.clone(),
            };
            match first.origin()? {
                Origin::Constructed(name, ..) if name.ends_with(".load_data") => {
                    known_size(name.trim_end_matches(".load_data").rsplit('.').next()?)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number of training records of a well-known data set.
fn known_size(data_set: &str) -> Option<i64> {
    match data_set {
        "mnist" | "fashion_mnist" | "kmnist" => Some(60_000),
        "cifar10" | "cifar100" => Some(50_000),
        "imdb" | "imdb_reviews" => Some(25_000),
        "svhn_cropped" => Some(73_257),
        _ => None,
    }
}

/// Whether a pipeline already forms batches.
pub fn is_batched(history: &History) -> bool {
    history.backwards().any(forms_batches)
}

/// Whether one of `names` follows an operation anywhere in the module.
pub fn is_followed_by(module: &Module, operation: &Operation, names: &[&str]) -> bool {
    module.lookups.is_followed_by(&module.facts, operation, names)
}
