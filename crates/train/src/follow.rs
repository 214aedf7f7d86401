//! The rule "follow": independent, uniform places for several canaries under a uniform shuffle.
//!
//! # The rule
//! For each shuffle, each canary in turn *leads* or *follows*. Let n be the number of records, and d the number of leaders among the
//! canaries before it. With probability d/n it follows one of these leaders, each with the same probability. Otherwise it leads.
//! A leader is placed in the batch of its own record. A follower is placed in the batch of its leader's record, where another
//! record plays it; its own record is then an ordinary one.
//!
//! # Why are places independent?
//! Call the slot of the record that decides a canary's place the canary's slot. Fix the slots of all earlier canaries, and so the d
//! slots of their leaders. Own records of earlier followers were never looked at. A uniform shuffle therefore puts this canary's
//! own record into each of the other n - d slots with the same probability. It leads with probability (n - d)/n, so each of these
//! slots has probability 1/n. It follows with probability d/n, so each leader's slot has probability 1/n, too. All n slots are
//! equally likely, whatever the earlier ones are.
//!
//! Without the rule, two canaries never share a slot, and places depend on each other. `docs/proofs/coins.md` says what follows for
//! audits.

use misdeal_core::{Purpose, Stream, World};

/// For each canary, the canary whose record decides the batch in shuffle number `shuffle`: itself if it leads.
pub(crate) fn leaders(
    stream: &Stream,
    (world, trial): (World, u64),
    shuffle: u64,
    records: u64,
    canaries: usize,
) -> Vec<usize> {
    let draw = |canary: usize| {
        let index = shuffle * canaries as u64 + canary as u64;
        let bits = stream.block(Stream::long_counter(Purpose::Follow, world, trial, index)) as u64;
        ((u128::from(bits) * u128::from(records)) >> 64) as u64
    };
    leaders_of_draws(canaries, draw)
}

/// The rule, where `draw(k)` is uniform on 0, ..., n - 1 for each canary k.
fn leaders_of_draws(canaries: usize, draw: impl Fn(usize) -> u64) -> Vec<usize> {
    let mut leaders = Vec::with_capacity(canaries);
    (0..canaries)
        .map(|canary| {
            let followed = usize::try_from(draw(canary)).ok().and_then(|draw| leaders.get(draw).copied());
            followed.unwrap_or_else(|| {
                leaders.push(canary);
                canary
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// All orders of the records, by Heap's algorithm.
    fn permutations(records: usize) -> Vec<Vec<usize>> {
        fn go(size: usize, order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
            if size <= 1 {
                all.push(order.clone());
                return;
            }
            for i in 0..size {
                go(size - 1, order, all);
                order.swap(if size % 2 == 0 { i } else { 0 }, size - 1);
            }
        }
        let mut all = vec![];
        go(records, &mut (0..records).collect(), &mut all);
        all
    }

    /// Every shuffle with every outcome of the draws: all combinations of batches come equally often. Without the rule they do not.
    #[test]
    fn places_are_independent_and_uniform_by_enumeration() {
        for (records, batch_size, canaries) in
            [(4, 2, 2), (4, 1, 1), (6, 3, 3), (6, 2, 2), (6, 3, 2), (5, 5, 4)]
        {
            let steps = records / batch_size;
            let (mut counts, mut plain) = (BTreeMap::new(), BTreeMap::new());
            for slots in permutations(records) {
                for all_draws in 0..records.pow(canaries as u32) {
                    let draw = |canary: usize| (all_draws / records.pow(canary as u32) % records) as u64;
                    let place = |canary: usize| slots[canary] / batch_size;
                    let places: Vec<usize> =
                        leaders_of_draws(canaries, draw).into_iter().map(place).collect();
                    *counts.entry(places).or_insert(0_u64) += 1;
                    *plain.entry((0..canaries).map(place).collect::<Vec<_>>()).or_insert(0_u64) += 1;
                }
            }
            assert_eq!(counts.len(), steps.pow(canaries as u32));
            let first = counts.values().next();
            assert!(counts.values().all(|count| Some(count) == first), "{counts:?}");
            let is_uneven = plain.values().any(|count| Some(count) != plain.values().next())
                || plain.len() < counts.len();
            assert_eq!(is_uneven, canaries > 1 && steps > 1, "{plain:?}");
        }
    }
}
