//! A stream that is shuffled in a buffer.
//!
//! That is `load_dataset(.., streaming=True).shuffle(..)` of Hugging Face, or `.shuffle(n)` of WebDataset.
//!
//! # Example
//! ```python
//! import opacus
//! data = load_dataset("c4", split="train", streaming=True).shuffle(buffer_size=10_000)
//! ```
//!
//! The rule reports in private modules. Elsewhere, a buffer is the intended use of a stream.

use super::buffer_cost::Sizes;
use super::{Found, Reach, Rule};
use crate::flow::{History, Operation, Origin};
use crate::module::Module;
use crate::role::Role;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "streaming-shuffle",
    finds: "streams of Hugging Face or WebDataset that are shuffled in a buffer",
    why: "a stream's buffer is a small part of the data, so a record's place in the files tells in which batches it is",
    fix: "load the data without streaming and sample by Poisson, or account for the buffer (misdeal account --scheme stream-shuffle --buffer-size K)",
    reach: Reach::PrivateModules,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for value in &module.facts.pipelines {
        let Some(last) = value.histories()[0].last().filter(|last| last.name == "shuffle") else {
            continue;
        };
        let is_evaluation = |history: &History| Role::of_pipeline(history, last) == Role::Evaluation;
        if !value.always(is_stream) || value.always(is_evaluation) {
            continue;
        }
        let buffer = buffer_size(last, is_hugging_face(&value.histories()[0]));
        let what = match buffer {
            Some(size) => format!("a stream is shuffled in a buffer of {size} records"),
            None => "a stream is shuffled in a buffer".to_owned(),
        };
        let command = Sizes { buffer, ..Sizes::default() }.command();
        let fix = format!(
            "load the data without streaming and sample by Poisson, or account for the buffer ({command})"
        );
        found.add_with_fix(last.range, what, fix);
    }
}

/// The buffer size of a shuffle, if the source gives it or uses Hugging Face's default.
fn buffer_size(shuffle: &Operation, is_hugging_face: bool) -> Option<i64> {
    let arguments = shuffle.arguments.as_deref()?;
    let position = if is_hugging_face { 2 } else { 0 };
    let given = arguments.get("buffer_size", position).or_else(|| arguments.named("bufsize"));
    match given {
        Some((_, value)) => value.as_int(),
        None => (is_hugging_face && !arguments.open).then_some(1000),
    }
}

fn is_stream(history: &History) -> bool {
    is_hugging_face(history)
        || matches!(history.origin(), Origin::Constructed(name, ..)
            if matches!(&**name, "webdataset.WebDataset" | "webdataset.DataPipeline"))
}

fn is_hugging_face(history: &History) -> bool {
    let Origin::Constructed(name, _, arguments) = history.origin() else { return false };
    let is_streaming = arguments.named("streaming").and_then(|(_, value)| value.as_bool()) == Some(true);
    let becomes_stream = history.backwards().any(|step| step.name == "to_iterable_dataset");
    match &**name {
        "datasets.load_dataset" => is_streaming || becomes_stream,
        name => name.starts_with("datasets.IterableDataset."),
    }
}
