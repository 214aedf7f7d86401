//! A `tf.data` pipeline whose shuffle buffer is smaller than the data.
//!
//! The data's size is known (`Dataset.range(60000)`, well-known data sets). Or the buffer is a literal below 10,000, and nothing
//! says that the data are that small.
//!
//! # Example
//! ```python
//! import tensorflow_privacy
//! data = tf.data.Dataset.range(60000).shuffle(1000).batch(256)
//! ```
//!
//! The rule reports in private modules. It does not report file names that are shuffled before reading, `take(n)` of at most a
//! buffer, or pipelines that were shuffled before.

use super::buffer_cost::Sizes;
use super::order::SHUFFLE;
use super::tensorflow_data::{buffer_size, is_batched, is_of_files, records, training_pipelines};
use super::{Found, Reach, Rule};
use crate::flow::History;
use crate::module::Module;
use misdeal_results::Level;

pub const RULE: Rule = Rule {
    name: "small-shuffle-buffer",
    finds: "shuffle buffers of tf.data that are smaller than the data",
    why: "a record moves about as far as the buffer is large, so its place in the file tells in which batches it is",
    fix: "make the buffer as large as the data set, or sample by Poisson; misdeal account --scheme stream-shuffle --buffer-size K says what a buffer costs",
    reach: Reach::PrivateModules,
    level: Level::Warning,
    check,
};

/// Smallest buffer that is not reported if the size of the data is unknown.
const NOT_SMALL: i64 = 10_000;

fn check(module: &Module, found: &mut Found) {
    for (value, shuffle) in training_pipelines(module, &["shuffle", "shuffle_and_repeat"]) {
        let Some(size) = buffer_size(shuffle).filter(|size| *size > 1) else { continue };
        let is_small = |history: &History| {
            !is_batched(history)
                && !is_of_files(history)
                && !is_shuffled_before(history)
                && records_left(history).map_or(size < NOT_SMALL, |records| size < records)
        };
        if value.always(is_small) {
            let records = records(&value.histories()[0]);
            let of = records.map_or(String::new(), |records| format!(" of {records}"));
            let sizes = Sizes {
                buffer: Some(size),
                batch: module.lookups.batch_size(&module.facts, shuffle),
                records,
            };
            let fix = format!(
                "make the buffer as large as the data set, or sample by Poisson; {} says what a buffer costs",
                sizes.command()
            );
            found.add_with_fix(shuffle.range, format!("the shuffle buffer holds {size} records{of}"), fix);
        }
    }
}

fn is_shuffled_before(history: &History) -> bool {
    history.backwards().skip(1).any(|step| SHUFFLE.contains(&step.name))
}

/// An upper bound on the number of records, if the source gives one.
fn records_left(history: &History) -> Option<i64> {
    let taken = history.backwards().filter(|step| step.name == "take");
    let taken = taken.filter_map(|step| step.arguments.as_ref()?.get("count", 0)?.1.as_int());
    taken.chain(records(history)).min()
}
