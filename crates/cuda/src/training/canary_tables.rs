//! The canaries of a plan as tables for the kernels.
//!
//! # Why tables by block and by parameter?
//! With a hundred canaries, a block of `make_step` must not look at canaries elsewhere. Canaries that share no parameter are
//! planted with one look at the table of owners, whatever their number.

use super::accelerator::Accelerator;
use super::arguments::Canary;
use super::buffer::Buffer;
use super::session::PARAMETERS_PER_BLOCK;
use crate::Result;
use misdeal_train::TrainingPlan;
use std::sync::Arc;

/// Marks a parameter that belongs to no canary.
const NOBODY: u32 = u32::MAX;

/// The tables in device memory.
#[derive(Debug)]
pub struct CanaryTables<A: Accelerator> {
    pub ranges: Buffer<A>,
    pub values: Buffer<A>,
    pub starts: Buffer<A>,
    pub listed: Buffer<A>,
    /// The canary of each parameter, and its value there; only for several canaries that share no parameter.
    pub owners: Option<[Buffer<A>; 2]>,
    /// Whether a canary reaches into several blocks.
    pub has_parts: bool,
}

impl<A: Accelerator> CanaryTables<A> {
    /// Makes the tables and copies them to a device.
    pub fn new(accelerator: &Arc<A>, plan: &TrainingPlan) -> Result<Self> {
        let blocks = plan.model().parameters.div_ceil(PARAMETERS_PER_BLOCK);
        let (mut ranges, mut values): (Vec<Canary>, Vec<f32>) = (vec![], vec![]);
        let mut by_block = vec![vec![]; blocks];
        let mut owners = vec![NOBODY; blocks * PARAMETERS_PER_BLOCK];
        let mut owned = vec![0.0_f32; owners.len()];
        let (mut share, mut has_parts) = (false, false);
        for (number, canary) in (0_u32..).zip(plan.canaries()) {
            let (first, last) = (canary.start, canary.range().end - 1);
            let reached = first / PARAMETERS_PER_BLOCK..=last / PARAMETERS_PER_BLOCK;
            has_parts |= reached.start() < reached.end();
            by_block[reached].iter_mut().for_each(|listed| listed.push(number));
            for (place, &value) in canary.range().zip(&canary.values) {
                share |= owners[place] != NOBODY;
                (owners[place], owned[place]) = (number, value);
            }
            let (start, length, at) = (first as u32, canary.values.len() as u32, values.len() as u32);
            ranges.push(Canary { start, length, at, unused: 0 });
            values.extend(&canary.values);
        }
        let mut starts = vec![0_u32];
        for listed in &by_block {
            starts.push(starts[starts.len() - 1] + listed.len() as u32);
        }
        // One canary keeps the sums of earlier versions.
        let owners = if share || ranges.len() == 1 {
            None
        } else {
            Some([Buffer::copy_of(accelerator, &owners)?, Buffer::copy_of(accelerator, &owned)?])
        };
        Ok(CanaryTables {
            ranges: Buffer::copy_of(accelerator, &ranges)?,
            values: Buffer::copy_of(accelerator, &values)?,
            starts: Buffer::copy_of(accelerator, &starts)?,
            listed: Buffer::copy_of(accelerator, &by_block.concat())?,
            owners,
            has_parts,
        })
    }
}
