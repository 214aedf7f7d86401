//! Spreads groups of samples over the cores.

use super::draws::{Draws, Part};
use super::losses::Losses;
use super::proposal::Proposal;
use crate::Progress;
use misdeal_core::Stream;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gaussian numbers in a chunk, the unit of work of one core: some ten milliseconds.
const DRAWS_PER_CHUNK: u64 = 1 << 18;

/// How many groups of how many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub groups: u64,
    pub group_size: usize,
}

/// Draws the groups of a part; `None` if the watcher interrupts. The same for any number of cores.
pub(super) fn sample(
    proposal: Proposal,
    stream: &Stream,
    part: Part,
    plan: Plan,
    progress: &dyn Progress,
) -> Option<Losses> {
    let Plan { groups, group_size } = plan;
    let draws_per_group = proposal.pair.epochs * (proposal.pair.batches() + group_size) as u64;
    let per_chunk = (DRAWS_PER_CHUNK / draws_per_group).clamp(1, 1 << 12);
    let drawn = AtomicU64::new(0);
    let chunks: Option<Vec<_>> = (0..groups.div_ceil(per_chunk))
        .into_par_iter()
        .map(|chunk| {
            if progress.is_interrupted() {
                return None;
            }
            let range = chunk * per_chunk..((chunk + 1) * per_chunk).min(groups);
            let samples = (range.end - range.start) * group_size as u64;
            let mut losses = Vec::with_capacity(samples as usize);
            for index in range {
                proposal.group(&mut Draws::new(stream, part, index), group_size, &mut losses);
            }
            if part == Part::Main {
                let done = drawn.fetch_add(samples, Ordering::Relaxed) + samples;
                progress.observed(done, groups * group_size as u64);
            }
            Some(losses)
        })
        .collect();
    Some(Losses { values: chunks?.concat(), group_size })
}
