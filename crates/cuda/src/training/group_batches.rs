//! The batches of a group of models, drawn and modified on the CPU.

use misdeal_core::World;
use misdeal_schemes::sampler;
use misdeal_train::{ModifiedBatch, TrainingPlan, sample};
use rayon::prelude::*;

/// The batches of a group of models, in the order of device memory.
#[derive(Debug, Default)]
pub struct GroupBatches {
    /// Trial and world of each model.
    pub models: Vec<(u64, World)>,
    /// Number of records in the largest batch.
    pub room: usize,
    /// Records with natural gradients: [model][step][room].
    pub records: Vec<u32>,
    /// Number of natural records: [model][step].
    pub counts: Vec<u32>,
    /// Multiple of each canary in the sum: [model][step][canary].
    pub planted: Vec<i32>,
    /// The same for several canaries, whose multiples are -1, 0 and 1.
    pub small: Vec<i8>,
    /// Records sampled for debiasing: [model][step][sampled].
    pub samples: Vec<u32>,
    /// Number of sampled records in each step.
    pub sampled: usize,
    /// The largest of `counts` in each step.
    pub most: Vec<u32>,
}

impl GroupBatches {
    /// Draws the batches of all `models`, on all cores.
    pub fn new(plan: &TrainingPlan, models: Vec<(u64, World)>) -> Self {
        let all: Vec<ModelBatches> =
            models.par_iter().map(|&(trial, world)| ModelBatches::new(plan, world, trial)).collect();
        let steps = plan.setting().steps() as usize;
        let room = all.iter().flat_map(|one| &one.counts).max().map_or(0, |&most| most as usize);
        let mut batches = GroupBatches {
            models,
            room,
            sampled: all.first().map_or(0, |one| one.samples.len() / steps),
            ..Self::default()
        };
        batches.most = vec![0; steps];
        batches.records = vec![0; all.len() * steps * room];
        for one in &all {
            batches.counts.extend(&one.counts);
            batches.planted.extend(&one.planted);
            batches.small.extend(&one.small);
            batches.samples.extend(&one.samples);
            for (most, &count) in batches.most.iter_mut().zip(&one.counts) {
                *most = (*most).max(count);
            }
        }
        if room > 0 {
            let rows = batches.records.par_chunks_exact_mut(steps * room).zip(&all);
            rows.for_each(|(rows, one)| {
                let mut from = 0;
                for (row, &count) in rows.chunks_exact_mut(room).zip(&one.counts) {
                    row[..count as usize].copy_from_slice(&one.records[from..][..count as usize]);
                    from += count as usize;
                }
            });
        }
        batches
    }
}

/// The batches of one model.
struct ModelBatches {
    records: Vec<u32>,
    counts: Vec<u32>,
    planted: Vec<i32>,
    small: Vec<i8>,
    samples: Vec<u32>,
}

impl ModelBatches {
    fn new(plan: &TrainingPlan, world: World, trial: u64) -> Self {
        let setting = plan.setting();
        let steps = setting.steps() as usize;
        let mut one = ModelBatches {
            records: Vec::with_capacity(if plan.adversary().keeps_naturals() {
                steps * setting.batch_size as usize
            } else {
                0
            }),
            counts: Vec::with_capacity(steps),
            planted: vec![],
            small: Vec::with_capacity(steps * plan.canaries().len()),
            samples: vec![],
        };
        let mut modified = ModifiedBatch::default();
        let mut sampler = sampler(setting, plan.stream(), world, trial);
        let mut roles = plan.adversary().roles(plan.stream(), world, trial);
        let mut step = 0;
        for epoch in 0..setting.epochs {
            roles.begin_epoch(epoch);
            for batch in sampler.next_epoch().iter() {
                roles.modify(batch, &mut modified);
                one.counts.push(modified.naturals.len() as u32);
                one.records.extend(modified.naturals.iter().map(|&record| record as u32));
                if let [count] = modified.canaries[..] {
                    one.planted.push(count as i32);
                } else {
                    one.small.extend(modified.canaries.iter().map(|&count| count as i8));
                }
                if plan.debiases() {
                    one.samples
                        .extend(sample(plan, world, trial, step).into_iter().map(|record| record as u32));
                }
                step += 1;
            }
        }
        one
    }
}
