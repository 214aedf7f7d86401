//! The batches of a group of models, dealt and crafted on the processor: all schemes and threat models are the samplers' and the
//! adversary's own.

use misdeal_core::World;
use misdeal_schemes::sampler;
use misdeal_train::{Crafted, TrainingPlan, sample};
use rayon::prelude::*;

/// What a group of models will meet, step by step.
#[derive(Debug, Default)]
pub struct Deal {
    /// The models.
    pub models: Vec<(u64, World)>,
    /// Records of a batch for which there is room.
    pub room: usize,
    /// Natural records: [model][step][room].
    pub records: Vec<u32>,
    /// How many of them: [model][step].
    pub counts: Vec<u32>,
    /// How often each canary is planted: [model][step][canary].
    pub planted: Vec<i32>,
    /// Records that a debiasing adversary looks at: [model][step][sampled].
    pub samples: Vec<u32>,
    /// How many in each step.
    pub sampled: usize,
    /// The largest count of each step.
    pub most: Vec<u32>,
}

impl Deal {
    /// Deals the batches of all `models`, on all cores.
    pub fn new(plan: &TrainingPlan, models: Vec<(u64, World)>) -> Self {
        let dealt: Vec<OneDeal> =
            models.par_iter().map(|&(trial, world)| OneDeal::new(plan, world, trial)).collect();
        let steps = plan.setting().steps() as usize;
        let room = dealt.iter().flat_map(|one| &one.counts).max().map_or(0, |&most| most as usize);
        let mut deal = Deal {
            models,
            room,
            sampled: dealt.first().map_or(0, |one| one.samples.len() / steps),
            ..Self::default()
        };
        deal.most = vec![0; steps];
        deal.records = vec![0; dealt.len() * steps * room];
        for one in &dealt {
            deal.counts.extend(&one.counts);
            deal.planted.extend(&one.planted);
            deal.samples.extend(&one.samples);
            for (most, &count) in deal.most.iter_mut().zip(&one.counts) {
                *most = (*most).max(count);
            }
        }
        if room > 0 {
            let rows = deal.records.par_chunks_exact_mut(steps * room).zip(&dealt);
            rows.for_each(|(rows, one)| {
                let mut from = 0;
                for (row, &count) in rows.chunks_exact_mut(room).zip(&one.counts) {
                    row[..count as usize].copy_from_slice(&one.records[from..][..count as usize]);
                    from += count as usize;
                }
            });
        }
        deal
    }
}

/// The batches of one model.
struct OneDeal {
    records: Vec<u32>,
    counts: Vec<u32>,
    planted: Vec<i32>,
    samples: Vec<u32>,
}

impl OneDeal {
    fn new(plan: &TrainingPlan, world: World, trial: u64) -> Self {
        let setting = plan.setting();
        let steps = setting.steps() as usize;
        let mut one = OneDeal {
            records: Vec::with_capacity(if plan.adversary().keeps_naturals() {
                steps * setting.batch_size as usize
            } else {
                0
            }),
            counts: Vec::with_capacity(steps),
            planted: Vec::with_capacity(steps * plan.canaries().len()),
            samples: vec![],
        };
        let mut crafted = Crafted::default();
        let mut sampler = sampler(setting, plan.stream(), world, trial);
        let mut step = 0;
        for _ in 0..setting.epochs {
            for batch in sampler.next_epoch().iter() {
                plan.adversary().craft(world, batch, &mut crafted);
                one.counts.push(crafted.naturals.len() as u32);
                one.records.extend(crafted.naturals.iter().map(|&record| record as u32));
                one.planted.extend(crafted.canaries.iter().map(|&count| count as i32));
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
