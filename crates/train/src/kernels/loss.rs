//! The gradient of the loss with respect to the outputs.

use super::exponential::exp;
use super::rows::total;
use crate::simd::{Kernel, LANES, Vectors};
use misdeal_core::Loss;

/// Replaces every row of outputs by the gradient: softmax(outputs) - y, or outputs - y for the squared error.
///
/// y is one at the label and zero elsewhere.
#[derive(Debug)]
pub struct LossGradient<'a> {
    /// The loss function.
    pub loss: Loss,
    /// One row of outputs for each record.
    pub outputs: &'a mut [f32],
    /// The records' labels.
    pub labels: &'a [u16],
}

impl Kernel for LossGradient<'_> {
    #[inline(always)]
    unsafe fn run<S: Vectors>(self) {
        let classes = self.outputs.len() / self.labels.len().max(1);
        for (row, &label) in self.outputs.chunks_exact_mut(classes.max(1)).zip(self.labels) {
            if self.loss == Loss::SoftmaxCrossEntropy {
                softmax(row);
            }
            row[usize::from(label)] -= 1.0;
        }
    }
}

#[inline(always)]
fn softmax(row: &mut [f32]) {
    let mut largest = row[0];
    for &x in &*row {
        largest = if x > largest { x } else { largest };
    }
    for x in &mut *row {
        *x = exp(*x - largest);
    }
    let mut lanes = [0.0_f32; LANES];
    let (whole, rest) = row.as_chunks::<LANES>();
    for chunk in whole {
        for i in 0..LANES {
            lanes[i] += chunk[i];
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane += x;
    }
    let share = 1.0 / total(lanes);
    for x in row {
        *x *= share;
    }
}
