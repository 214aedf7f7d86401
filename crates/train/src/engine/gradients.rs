//! The clipped gradients of some records: summed, or each projected on a canary.

use super::image::ImagePart;
use super::linear::LinearPart;
use crate::canary::Canary;
use crate::data::Examples;
use crate::kernels::GatherRows;
use crate::model::Model;
use crate::simd::{Group, InstructionSet, LANES};
use std::ops::Range;

/// Records whose inputs and deltas are kept at a time.
const MOST_RECORDS: usize = 128;

/// Room to take records through a model and back.
#[derive(Debug, Clone)]
pub struct Gradients {
    set: InstructionSet,
    image: ImagePart,
    linear: LinearPart,
    classes: usize,
    features: usize,
    clip_norm: f32,
    labels: Vec<u16>,
    norms: Vec<f32>,
}

impl Gradients {
    /// For gradients clipped to `clip_norm`.
    pub fn new(model: &Model, set: InstructionSet, clip_norm: f64) -> Self {
        let linear = LinearPart::new(model, set, MOST_RECORDS);
        Gradients {
            set,
            image: ImagePart::new(model, set),
            classes: model.classes(),
            features: linear.input_features(),
            clip_norm: clip_norm as f32,
            linear,
            labels: vec![0; MOST_RECORDS],
            norms: vec![0.0; MOST_RECORDS],
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.image.bytes() + self.linear.bytes() + 6 * MOST_RECORDS
    }

    /// Adds the clipped gradients of `records` to `sum`.
    pub fn add_clipped(&mut self, parameters: &[f32], examples: &Examples, records: &[u64], sum: &mut [f32]) {
        self.linear.prepare(parameters);
        self.image.prepare(parameters);
        for chunk in records.chunks(MOST_RECORDS) {
            self.each_group(parameters, examples, chunk, |part, group, factors| {
                let mut lanes = Group::ZERO;
                let count = factors.len().min(LANES);
                lanes.0[..count].copy_from_slice(&factors[..count]);
                part.image.insert_clipped(lanes);
                part.linear.clip(group, factors);
            });
            self.linear.add_gradients(chunk.len(), sum);
        }
        self.image.finish_clipped(sum);
    }

    /// Adds to `projections[k]`, for every record, <clipped gradient, canary k> / C^2.
    pub fn project(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        records: &[u64],
        canaries: &[Canary],
        projections: &mut [Vec<f64>],
    ) {
        self.linear.prepare(parameters);
        self.image.prepare(parameters);
        let scale = 1.0 / f64::from(self.clip_norm).powi(2);
        for chunk in records.chunks(MOST_RECORDS) {
            self.each_group(parameters, examples, chunk, |part, group, factors| {
                for (canary, projections) in canaries.iter().zip(&mut *projections) {
                    let mut lanes = [0.0; LANES];
                    part.image.project(canary.start, &canary.values, &mut lanes);
                    for (i, (row, &factor)) in group.clone().zip(factors).enumerate() {
                        let of_image = if part.image.is_empty() { 0.0 } else { lanes[i] };
                        let whole = part.linear.project(row, canary.start, &canary.values) + of_image;
                        projections.push(whole * f64::from(factor) * scale);
                    }
                }
            });
        }
    }

    /// Takes the records of a chunk forward and back, group by group, and hands each group on with its clipping factors.
    fn each_group(
        &mut self,
        parameters: &[f32],
        examples: &Examples,
        chunk: &[u64],
        mut then: impl FnMut(&mut Self, Range<usize>, &[f32]),
    ) {
        for group in self.groups(chunk.len()) {
            self.forward(parameters, examples, chunk, group.clone());
            for (label, &record) in self.labels[group.clone()].iter_mut().zip(&chunk[group.clone()]) {
                *label = examples.labels[record as usize];
            }
            let mut norms = std::mem::take(&mut self.norms);
            let factors = &mut norms[..group.len()];
            self.linear.backward(&self.labels[group.clone()], group.clone(), factors);
            if !self.image.is_empty() {
                let mut squares = Group::ZERO;
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
    }

    /// How many of `records` have their label as the largest output.
    pub fn hits(&mut self, parameters: &[f32], examples: &Examples, records: Range<u64>) -> u64 {
        let records: Vec<u64> = records.collect();
        let mut hits = 0;
        for chunk in records.chunks(MOST_RECORDS) {
            for group in self.groups(chunk.len()) {
                self.forward(parameters, examples, chunk, group.clone());
                for (row, &record) in group.clone().zip(&chunk[group]) {
                    let outputs = &self.linear.outputs()[row * self.classes..][..self.classes];
                    let largest = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    let guess = outputs.iter().position(|&output| output == largest);
                    hits += u64::from(guess == Some(usize::from(examples.labels[record as usize])));
                }
            }
        }
        hits
    }

    /// Sixteen records at a time where there is an image part, else all.
    fn groups(&self, records: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let size = if self.image.is_empty() { MOST_RECORDS } else { LANES };
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
