//! The order of shuffle and batch operations.

use crate::flow::History;

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
const UNBATCH: [&str; 8] = [
    "flat_map",
    "flatten",
    "interleave",
    "parallel_interleave",
    "rebatch",
    "unbatch",
    "unbatched",
    "unravel",
];

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
        is_batched |= BATCH.contains(&operation.name) && operation.arguments.is_some();
    }
    is_batched
}
