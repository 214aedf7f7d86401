//! The order of shuffle and batch operations.

use crate::flow::{History, Operation};
use crate::role::words;
use ruff_python_ast::{Expr, Operator};

/// Operations that form batches.
pub const BATCH: [&str; 9] = [
    "batch",
    "batched",
    "bucket_by_sequence_length",
    "dense_to_ragged_batch",
    "dense_to_sparse_batch",
    "map_and_batch",
    "padded_batch",
    "ragged_batch",
    "to_batches",
];
/// Operations that shuffle.
pub const SHUFFLE: [&str; 4] = ["detshuffle", "random_shuffle", "shuffle", "shuffle_and_repeat"];
/// Operations that may turn batches back into records.
pub const UNBATCH: [&str; 8] = [
    "flat_map",
    "flatten",
    "interleave",
    "parallel_interleave",
    "rebatch",
    "unbatch",
    "unbatched",
    "unravel",
];

/// Whether an operation forms batches of records.
///
/// Batches of one, and `batch(seq_length + 1)` that cuts a stream into records, form none.
pub fn forms_batches(operation: &Operation) -> bool {
    let Some(arguments) = operation.arguments.as_ref().filter(|_| BATCH.contains(&operation.name)) else {
        return false;
    };
    match arguments.get("batch_size", 0) {
        Some((expression, value)) => value.as_int() != Some(1) && !is_length_of_record(expression),
        None => true,
    }
}

/// Whether an expression is the length of a record: `seq_length + 1`, `window_size`.
fn is_length_of_record(expression: &Expr) -> bool {
    const LENGTHS: [&str; 10] = [
        "block",
        "chunk",
        "context",
        "length",
        "lookback",
        "maxlen",
        "seq",
        "sequence",
        "timesteps",
        "window",
    ];
    match expression {
        Expr::Name(name) => words(name.id.as_str()).iter().any(|word| LENGTHS.contains(&word.as_str())),
        Expr::Attribute(attribute) => {
            words(attribute.attr.as_str()).iter().any(|word| LENGTHS.contains(&word.as_str()))
        }
        Expr::BinOp(operation) if operation.op == Operator::Add => {
            [&operation.left, &operation.right]
                .into_iter()
                .any(|side| super::accounting::is_number(side, 1.0))
                || is_length_of_record(&operation.left)
        }
        _ => false,
    }
}

/// Whether the last operation shuffles batches whose records were not shuffled.
pub fn shuffles_batches(history: &History) -> bool {
    let mut operations = history.backwards();
    if !operations.next().is_some_and(|last| SHUFFLE.contains(&last.name)) {
        return false;
    }
    let mut is_batched = false;
    for operation in operations {
        if SHUFFLE.contains(&operation.name) || UNBATCH.contains(&operation.name) {
            return false;
        }
        is_batched |= forms_batches(operation);
    }
    is_batched
}
