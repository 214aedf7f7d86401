//! Are batches those of a fresh uniform shuffle in every epoch?
//!
//! The tests count events such as "this canary is in the batch where it was an epoch ago". Canaries are revealed one
//! after another. Given those revealed before, the next one is on any of the slots that are left with the same
//! probability, so a batch holds it with probability at most B / (N - revealed). A count of events whose conditional
//! probabilities are at most p_1, p_2, ... is stochastically at most that of independent events. Hoeffding (1956) bounds
//! the upper tail of that by the binomial with the mean probability, from one above the mean on.
//!
//! Where canaries follow each other (`misdeal.following` in Python) their slots are independent and uniform. The same bounds
//! hold then.

use super::Outcome;
use super::record::{Claim, RunRecord};
use crate::binomial;

/// A count, and the bounds on the conditional probabilities of what is counted.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    found: f64,
    trials: f64,
    probability: f64,
}

impl Count {
    fn add(&mut self, happened: bool, probability: f64) {
        self.found += f64::from(u8::from(happened));
        self.trials += 1.0;
        self.probability += probability.min(1.0);
    }

    fn p_value(&self) -> f64 {
        if self.found < self.probability + 1.0 {
            return 1.0;
        }
        binomial::tails(self.found, self.trials, self.probability / self.trials)[0]
    }
}

/// The step of each canary in an epoch; `None` if it is in no batch.
type Places = Vec<Option<usize>>;

/// Tests that places are uniform: each canary once an epoch, no half of the canaries too often in one half of an epoch,
/// and neighbours not too often in one batch. Canaries are in the order of their records.
pub(super) fn uniform(runs: &[RunRecord], claim: &Claim) -> Outcome {
    let Some(epochs) = places(runs, claim) else {
        return Outcome::of(0.0, 0.0);
    };
    let slots = claim.dataset_size;
    let middle = claim.steps_per_epoch / 2;
    let half_of_slots = [middle, claim.steps_per_epoch - middle].map(|steps| steps as f64 * claim.batch_size);
    let mut counts = [Count::default(); 5];
    for places in epochs.iter().flatten() {
        let halves = places.split_at(places.len() / 2);
        for (group, places) in [halves.0, halves.1].into_iter().enumerate() {
            for (revealed, place) in places.iter().enumerate() {
                let left = slots - revealed as f64;
                counts[2 * group].add(place.is_some_and(|step| step < middle), half_of_slots[0] / left);
                counts[2 * group + 1].add(place.is_some_and(|step| step >= middle), half_of_slots[1] / left);
            }
        }
        for (pair, two) in places.chunks_exact(2).enumerate() {
            let left = slots - 2.0 * pair as f64 - 1.0;
            counts[4].add(two[0].is_some() && two[0] == two[1], claim.batch_size / left);
        }
    }
    smallest(&counts)
}

/// Tests that epochs are independent: places that stay, shifts that all canaries share, and company that stays.
pub(super) fn fresh(runs: &[RunRecord], claim: &Claim) -> Outcome {
    let Some(epochs) = places(runs, claim) else {
        return Outcome::default();
    };
    let (slots, steps) = (claim.dataset_size, claim.steps_per_epoch);
    let mut counts = [Count::default(); 3];
    for two in epochs.iter().flat_map(|run| run.windows(2)) {
        let both: Vec<[usize; 2]> =
            two[0].iter().zip(&two[1]).filter_map(|(before, now)| Some([(*before)?, (*now)?])).collect();
        let shift = |[before, now]: [usize; 2]| (now + steps - before) % steps;
        for (revealed, &one) in both.iter().enumerate() {
            let probability = claim.batch_size / (slots - revealed as f64);
            counts[0].add(shift(one) == 0, probability);
            if revealed > 0 {
                counts[1].add(shift(one) == shift(both[0]), probability);
            }
        }
        let mut company = both;
        // By the place before alone: the place now must not choose who is compared.
        company.sort_by_key(|one| one[0]);
        for (pair, [one, other]) in together(&company).enumerate() {
            let left = slots - 2.0 * pair as f64 - 1.0;
            counts[2].add(one[1] == other[1], claim.batch_size / left);
        }
    }
    smallest(&counts)
}

/// Disjoint pairs of canaries that were in one batch in the epoch before; `places` are sorted by it.
fn together(places: &[[usize; 2]]) -> impl Iterator<Item = [[usize; 2]; 2]> {
    let batches = places.chunk_by(|one, other| one[0] == other[0]);
    batches.flat_map(|batch| batch.chunks_exact(2).map(|two| [two[0], two[1]]))
}

/// The places of each whole epoch of each run, or `None` if they are impossible.
///
/// They are if a canary is in two batches of an epoch, or in none although no record is left over.
fn places(runs: &[RunRecord], claim: &Claim) -> Option<Vec<Vec<Places>>> {
    let steps = claim.steps_per_epoch;
    let all_are_used = steps as f64 * claim.batch_size >= claim.dataset_size;
    let of_run = |run: &RunRecord| {
        let table = (run.canaries * steps).max(1);
        let epochs = run.placed.chunks_exact(table);
        epochs
            .map(|epoch| {
                let mut places = vec![None; run.canaries];
                for place in (0..epoch.len()).filter(|place| epoch[*place]) {
                    let earlier = places[place % run.canaries].replace(place / run.canaries);
                    if earlier.is_some() {
                        return None;
                    }
                }
                (!all_are_used || places.iter().all(Option::is_some)).then_some(places)
            })
            .collect::<Option<Vec<_>>>()
    };
    let sizes_are_right =
        runs.iter().flat_map(|run| &run.batch_sizes).all(|&size| size as f64 == claim.batch_size);
    if sizes_are_right { runs.iter().map(of_run).collect() } else { None }
}

fn smallest(counts: &[Count]) -> Outcome {
    let tried: Vec<&Count> = counts.iter().filter(|count| count.trials > 0.0).collect();
    let smallest = tried.iter().map(|count| (count.p_value(), count.found / count.trials));
    let smallest = smallest.min_by(|one, other| one.0.total_cmp(&other.0));
    smallest.map_or_else(Outcome::default, |(p, share)| Outcome::of(p * tried.len() as f64, share))
}
