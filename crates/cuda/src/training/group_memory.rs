//! Device memory for the batches and outputs of a group of models.

use super::accelerator::Accelerator;
use super::buffer::Buffer;
use super::group_batches::GroupBatches;
use super::group_results::{FinalState, GroupResults};
use crate::Result;
use misdeal_core::World;
use misdeal_train::TrainingPlan;
use std::sync::Arc;

/// The batches of a group of models on a device, and memory for the group's outputs.
#[derive(Debug)]
pub struct GroupMemory<A: Accelerator> {
    pub batches: GroupBatches,
    pub records: Buffer<A>,
    pub counts: Buffer<A>,
    pub planted: Buffer<A>,
    pub samples: Buffer<A>,
    pub trials: Buffer<A>,
    pub worlds: Buffer<A>,
    pub outputs: Buffer<A>,
    pub projections: Buffer<A>,
    /// Scores, if the device computes them.
    pub scores: Buffer<A>,
}

impl<A: Accelerator> GroupMemory<A> {
    /// Allocates minimal buffers, which grow when they are filled.
    pub fn new(accelerator: &Arc<A>) -> Result<Self> {
        let none = || Buffer::uninitialised::<u64>(accelerator, 1);
        Ok(GroupMemory {
            batches: GroupBatches::default(),
            records: none()?,
            counts: none()?,
            planted: none()?,
            samples: none()?,
            trials: none()?,
            worlds: none()?,
            outputs: none()?,
            projections: none()?,
            scores: none()?,
        })
    }

    /// Copies batches to the device and allocates memory for the outputs.
    pub fn fill(&mut self, plan: &TrainingPlan, batches: GroupBatches) -> Result<()> {
        let (models, steps, canaries) =
            (batches.models.len(), plan.setting().steps() as usize, plan.canaries().len());
        let trials: Vec<u64> = batches.models.iter().map(|&(trial, _)| trial).collect();
        let worlds: Vec<u32> =
            batches.models.iter().map(|&(_, world)| u32::from(world == World::Out)).collect();
        self.records.refill(&batches.records)?;
        self.counts.refill(&batches.counts)?;
        if canaries == 1 {
            self.planted.refill(&batches.planted)?;
        } else {
            self.planted.refill(&batches.small)?;
        }
        self.scores.reserve::<f64>(models * canaries)?;
        self.samples.refill(&batches.samples)?;
        self.trials.refill(&trials)?;
        self.worlds.refill(&worlds)?;
        self.outputs.reserve::<f64>(models * steps * canaries * 2)?;
        self.projections.reserve::<f32>(models * steps * batches.sampled * canaries)?;
        self.batches = batches;
        Ok(())
    }

    /// Reads the outputs of a trained group. The next group may train at the same time.
    pub fn results(&self, plan: &TrainingPlan, final_state: FinalState) -> Result<GroupResults> {
        let (models, sampled) = (self.batches.models.len(), self.batches.sampled);
        let (steps, canaries) = (plan.setting().steps() as usize, plan.canaries().len());
        if final_state.has_scores {
            let mut scores = vec![0.0_f64; models * canaries];
            self.scores.read(&mut scores)?;
            return Ok(GroupResults { correct: final_state.correct, scores, ..GroupResults::default() });
        }
        let mut values = vec![0.0_f64; models * steps * canaries * 2];
        self.outputs.read(&mut values)?;
        let mut seen = vec![0.0_f32; models * steps * sampled * canaries];
        self.projections.read(&mut seen)?;
        Ok(GroupResults {
            correct: final_state.correct,
            values,
            seen,
            parameters: final_state.parameters,
            sampled,
            scores: vec![],
        })
    }
}
