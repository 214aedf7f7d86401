//! Clipped gradients of some records: their sum, or the projection of each on a canary.

use super::image_layers::ImageLayers;
use super::linear_layers::LinearLayers;
use crate::canary::Canary;
use crate::data::Examples;
use crate::kernels::GatherRows;
use crate::model::Model;
use crate::simd::{InstructionSet, LANES, LaneVector};
use std::ops::Range;

/// Working memory for the forward and backward passes of a model.
#[derive(Debug, Clone)]
pub struct Gradients {
    set: InstructionSet,
    image: ImageLayers,
    linear: LinearLayers,
    classes: usize,
    features: usize,
    clip_norm: f32,
    labels: Vec<u16>,
    norms: Vec<f32>,
    /// Number of records whose inputs and deltas are kept at a time: a multiple of sixteen.
    most_records: usize,
}

/// A callback that returns `true` to cancel.
pub type IsCancelled<'a> = &'a (dyn Fn() -> bool + Sync);

impl Gradients {
    /// Allocates memory for gradients clipped to `clip_norm`.
    ///
    /// `records` is the number of records kept at a time, rounded up to a multiple of sixteen. Sums do not depend on it.
    pub fn new(model: &Model, set: InstructionSet, clip_norm: f64, records: usize) -> Self {
        let records = records.next_multiple_of(LANES);
        let linear = LinearLayers::new(model, set, records);
        Gradients {
            set,
            image: ImageLayers::new(model, set),
            classes: model.classes(),
            features: linear.input_features(),
            clip_norm: clip_norm as f32,
            linear,
            labels: vec![0; records],
            norms: vec![0.0; records],
            most_records: records,
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.image.bytes() + self.linear.bytes() + 6 * self.most_records
    }

    /// Adds the clipped gradients of `records` to `sum`. If cancelled, returns `None`, and `sum` is unusable.
    pub fn add_clipped(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        records: &[u64],
        sum: &mut [f32],
        is_cancelled: IsCancelled<'_>,
    ) -> Option<()> {
        self.linear.prepare(parameters);
        self.image.prepare(parameters);
        let mut outcome = Some(());
        for chunk in records.chunks(self.most_records) {
            outcome = self.each_group(parameters, examples, chunk, is_cancelled, |part, group, factors| {
                let mut lanes = LaneVector::ZERO;
                let count = factors.len().min(LANES);
                lanes.0[..count].copy_from_slice(&factors[..count]);
                part.image.insert_clipped(lanes);
                part.linear.clip(group, factors);
            });
            if outcome.is_none() {
                break;
            }
            self.linear.add_gradients(chunk.len(), sum);
        }
        // Also after a cancellation, so that the next step begins with empty sums.
        self.image.finish_clipped(sum);
        outcome
    }

    /// Appends <clipped gradient, canary k> / C^2 to `projections[k]` for every record; `None` if cancelled.
    pub fn project(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        records: &[u64],
        canaries: &[Canary],
        projections: &mut [Vec<f64>],
        is_cancelled: IsCancelled<'_>,
    ) -> Option<()> {
        self.linear.prepare(parameters);
        self.image.prepare(parameters);
        let scale = 1.0 / f64::from(self.clip_norm).powi(2);
        for chunk in records.chunks(self.most_records) {
            self.each_group(parameters, examples, chunk, is_cancelled, |part, group, factors| {
                for (canary, projections) in canaries.iter().zip(&mut *projections) {
                    let mut lanes = [0.0; LANES];
                    part.image.project(canary.start, &canary.values, &mut lanes);
                    for (i, (row, &factor)) in group.clone().zip(factors).enumerate() {
                        let of_image = if part.image.is_empty() { 0.0 } else { lanes[i] };
                        let whole = part.linear.project(row, canary.start, &canary.values) + of_image;
                        projections.push(whole * f64::from(factor) * scale);
                    }
                }
            })?;
        }
        Some(())
    }

    /// Runs both passes for a chunk, group by group, and calls `then` with each group's clipping factors.
    ///
    /// Returns `None` if cancelled between two groups.
    fn each_group(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        chunk: &[u64],
        is_cancelled: IsCancelled<'_>,
        mut then: impl FnMut(&mut Self, Range<usize>, &[f32]),
    ) -> Option<()> {
        for group in self.groups(chunk.len()) {
            if is_cancelled() {
                return None;
            }
            self.forward(parameters, examples, chunk, group.clone());
            for (label, &record) in self.labels[group.clone()].iter_mut().zip(&chunk[group.clone()]) {
                *label = examples.labels[record as usize];
            }
            let mut norms = std::mem::take(&mut self.norms);
            let factors = &mut norms[..group.len()];
            self.linear.backward(&self.labels[group.clone()], group.clone(), factors);
            if !self.image.is_empty() {
                let mut squares = LaneVector::ZERO;
                let rows = &self.linear.before()[group.start * self.features..];
                self.image.backward(rows, group.len(), &mut squares);
                factors.iter_mut().zip(squares.0).for_each(|(norm, square)| *norm += square);
            }
            for factor in &mut *factors {
                // 1 / max(1, norm / C)
                *factor = 1.0 / (factor.sqrt() / self.clip_norm).max(1.0);
            }
            then(self, group, factors);
            self.norms = norms;
        }
        Some(())
    }

    /// Counts the correctly classified records among the first `records`; `None` if cancelled.
    pub fn correct(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        records: u64,
        is_cancelled: IsCancelled<'_>,
    ) -> Option<u64> {
        let mut correct = 0;
        for start in (0..records).step_by(self.most_records) {
            let chunk: Vec<u64> = (start..records.min(start + self.most_records as u64)).collect();
            for group in self.groups(chunk.len()) {
                if is_cancelled() {
                    return None;
                }
                self.forward(parameters, examples, &chunk, group.clone());
                for (row, &record) in group.clone().zip(&chunk[group]) {
                    let outputs = &self.linear.outputs()[row * self.classes..][..self.classes];
                    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let guess = outputs.iter().position(|&output| output == largest);
                    correct += u64::from(guess == Some(usize::from(examples.labels[record as usize])));
                }
            }
        }
        Some(correct)
    }

    /// Groups of sixteen records if the model has image layers, else one group of all records.
    fn groups(&self, records: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = if self.image.is_empty() { self.most_records } else { LANES };
        (0..records).step_by(size).map(move |start| start..records.min(start + size))
    }

    fn forward(&mut self, parameters: &[f32], examples: &Examples, chunk: &[u64], group: Range<usize>) {
        let features = self.features;
        let rows = &mut self.linear.inputs()[group.start * features..group.end * features];
        if self.image.is_empty() {
            let (features, records) = (&examples.features, &chunk[group.clone()]);
            self.set.run(GatherRows { features, records, rows });
        } else {
            let mut records = [&[][..]; LANES];
            for (slot, &record) in records.iter_mut().zip(&chunk[group.clone()]) {
                *slot = examples.record(record as usize);
            }
            self.image.forward(parameters, &records[..group.len()], rows);
        }
        self.linear.forward(parameters, group);
    }
}
