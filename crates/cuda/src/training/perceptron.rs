//! Perceptrons small enough to train in one block each, on records of zeros and ones (`perceptron.cu`).
//!
//! # Why fetch the next batch during a step?
//! A block has its multiprocessor to itself. No other block could use the time that it spends waiting for memory.

use super::stages::Stage;
use misdeal_core::{Loss, Precision};
use misdeal_train::TrainingPlan;
use misdeal_train::data::Examples;

/// Threads and warps of a block.
const THREADS: usize = 512;
const WARPS: usize = THREADS / 32;

/// The template arguments of the kernel, and the size of its blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perceptron {
    /// The kernel's type in `perceptron.cu`.
    pub name: String,
    pub threads: usize,
    pub shared_bytes: usize,
    inputs: usize,
}

impl Perceptron {
    /// The kernel of a plan; `None` if layers, records, canaries or `most_bytes` of shared memory do not allow it.
    ///
    /// The choice depends only on the plan and the device's architecture, so a trial is always computed in the same way.
    pub fn new(
        plan: &TrainingPlan,
        stages: &[Stage],
        precision: Precision,
        most_bytes: usize,
    ) -> Option<Self> {
        let [first, second] = stages else { return None };
        let (hidden, last) = (first.linear()?, second.linear()?);
        let (inputs, units, classes) = (hidden.channels, hidden.filters, last.filters);
        let setting = plan.setting();
        let (examples, records) = (&plan.dataset().train, setting.dataset_size() as usize);
        let fits = setting.scheme.has_fixed_batch_sizes()
            && plan.canaries().len() == 1
            && !plan.debiases()
            && examples.shape.channels == 1
            && units.is_multiple_of(8)
            && classes.is_multiple_of(4)
            && classes <= THREADS
            && are_bits(examples, records);
        let batch = (setting.batch_size as usize).next_multiple_of(16);
        let stride = classes.next_multiple_of(8) + 4;
        // Sums overwrite values that are no longer needed. For that, small batches need a few more rows.
        let is_enough = |rows: usize| {
            (units + 1) * classes <= rows * (units + 4)
                && WARPS * 16 * units <= rows * stride
                && rows >= batch
        };
        let rows = (16..=128).step_by(16).find(|&rows| is_enough(rows)).filter(|_| fits)?;
        let words = (inputs + 32) / 32;
        let floats = words * 32 * (units + 8)
            + ((units + 1) * classes + 7) / 4 * 4
            + rows * (units + 4 + stride + 2 * (units + 8) + 2 * words.next_multiple_of(4) + 4);
        let shared_bytes = 4 * floats + 8 * 4 * WARPS;
        let terms = if precision == Precision::F32 { 3 } else { 1 };
        let loss = match plan.model().loss {
            Loss::SoftmaxCrossEntropy => "SOFTMAX_CROSS_ENTROPY",
            Loss::SquaredError => "SQUARED_ERROR",
        };
        let activation = first.activation.name();
        let name = format!("Perceptron<{inputs}, {units}, {classes}, {rows}, {activation}, {loss}, {terms}>");
        (shared_bytes <= most_bytes).then_some(Perceptron { name, threads: THREADS, shared_bytes, inputs })
    }

    /// Packs the first `count` records into bits, lowest bit first, followed by one bit that is always set.
    ///
    /// Each record takes a multiple of four words.
    pub fn bits(&self, examples: &Examples, count: usize) -> Vec<u32> {
        let stride = ((self.inputs + 32) / 32).next_multiple_of(4);
        let mut words = vec![0_u32; count * stride];
        for (record, row) in words.chunks_exact_mut(stride).enumerate() {
            let features = examples.record(record).iter().map(|&feature| feature != 0.0).chain([true]);
            for (bit, is_set) in features.enumerate() {
                row[bit / 32] |= u32::from(is_set) << (bit % 32);
            }
        }
        words
    }
}

fn are_bits(examples: &Examples, count: usize) -> bool {
    let features = &examples.features[..count * examples.shape.features()];
    features.iter().all(|&feature| feature == 0.0 || feature == 1.0)
}
