//! Chooses which records of a file are used for training: a random subset that depends only on the seed.
//!
//! # Why rank records by random bits?
//! Each record has its own 64 random bits, computed from the seed and its index. The `dataset_size` records with the smallest bits
//! are used. A smaller subset is therefore contained in every larger one, and there is no generator state.

use super::limited::{MOST_MEMORY, megabytes};
use super::records::Records;
use super::{Dataset, Result};
use misdeal_core::{Purpose, SettingHash, Stream, World};

/// Records kept for testing: at most `size` divided by this number.
const TEST_SHARE: usize = 5;

/// A random stream for a seed and a use, different from those of all audits.
pub(super) fn stream_for(seed: u64, context: &'static str) -> Stream {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(&seed.to_le_bytes());
    Stream::new(&SettingHash(*hasher.finalize().as_bytes()))
}

/// Returns two disjoint uniform subsets of 0..`records`, of `size` and `held_out` elements, each in ascending order.
///
/// Each index is ranked by its own 64 random bits, a function of seed and index. All orders are therefore equally likely, up to
/// ties of probability n^2 / 2^65, and the first `size` indices are a uniform subset. Only the subsets' bounds are computed,
/// because sorting 24 million records took ten seconds.
fn subsets(records: usize, size: usize, held_out: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let stream = stream_for(seed, "misdeal data selection 1");
    let key = |index: usize| stream.uniform(Purpose::Position, World::In, index as u64, 0);
    let mut order: Vec<(u64, usize)> = (0..records).map(|index| (key(index), index)).collect();
    let first = |order: &mut [(u64, usize)], count: usize| {
        if count < order.len() {
            order.select_nth_unstable(count);
        }
        let mut indices: Vec<usize> = order[..count].iter().map(|(_, index)| *index).collect();
        indices.sort_unstable();
        indices
    };
    let chosen = first(&mut order, size);
    let held_out = first(&mut order[size..], held_out);
    (chosen, held_out)
}

/// Refuses a choice that does not fit in memory: the file's records, `size` for training, and `held_out` for testing.
fn check_memory(pool: &Records, test: Option<&Records>, size: usize, held_out: usize) -> Result<()> {
    let records = pool.labels.len() as u64;
    let features = pool.shape.features() as u64;
    let there = pool.bytes() + test.map_or(0, Records::bytes);
    let others = held_out + test.map_or(0, |test| test.labels.len());
    // Memory for the scaled numbers, or for the ranks of all records while choosing.
    let taken = (4 * features * (size + others) as u64).max(16 * records);
    if there + taken <= MOST_MEMORY {
        return Ok(());
    }
    let allowed =
        format!("records that take {} of memory at most, with all of the file", megabytes(MOST_MEMORY));
    let hint = format!(
        "these take {} beside {} of the file's {records} records; take fewer, or a file with fewer",
        megabytes(taken),
        megabytes(there)
    );
    Err(misdeal_core::Error::bad_value("dataset_size", size, allowed, hint).into())
}

/// Makes the data set `name` from a uniform subset of `size` records of `pool`, in the file's order.
///
/// Without test data, records that were not chosen replace it, at most a fifth of `size`. The choice depends only on the number of
/// records, `size` and `seed`. If all records are wanted, the seed does not matter.
pub(super) fn choose(
    name: &str,
    classes: usize,
    pool: &Records,
    test: Option<&Records>,
    size: usize,
    seed: u64,
) -> Result<Dataset> {
    let records = pool.labels.len();
    if size == 0 || size > records {
        let allowed = format!("a whole number from 1 to {records}");
        let hint = format!("the training data of {name} has {records} records");
        return Err(misdeal_core::Error::bad_value("dataset_size", size, allowed, hint).into());
    }
    let held_out = if test.is_some() { 0 } else { (records - size).min(size / TEST_SHARE) };
    check_memory(pool, test, size, held_out)?;
    let (chosen, held_out) = subsets(records, size, held_out, seed);
    let test = match test {
        Some(test) => test.take_all(),
        None => pool.take(&held_out),
    };
    Ok(Dataset {
        name: name.to_owned(),
        classes,
        train: pool.take(&chosen),
        test: Some(test).filter(|test| !test.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::records::Values;
    use super::*;

    /// Record i has the single feature i.
    fn numbered(records: u16) -> Records {
        let values = Values::Numbers((0..records).map(f32::from).collect());
        Records { shape: Shape::flat(1), values, labels: vec![0; records.into()] }
    }

    #[test]
    fn a_subset_in_file_order_and_its_leftovers() {
        let chosen = choose("numbers", 1, &numbered(100), None, 50, 3).unwrap();
        let test = chosen.test.unwrap();
        assert_eq!((chosen.train.len(), test.len()), (50, 10));
        assert!(chosen.train.features.is_sorted() && test.features.is_sorted());
        let mut together = [chosen.train.features.clone(), test.features].concat();
        together.sort_by(f32::total_cmp);
        together.dedup();
        assert_eq!(together.len(), 60, "no record twice");
        let again = choose("numbers", 1, &numbered(100), None, 50, 3).unwrap();
        assert_eq!(again.train, chosen.train);
        let other_seed = choose("numbers", 1, &numbered(100), None, 50, 4).unwrap();
        assert_ne!(other_seed.train, chosen.train);
    }

    #[test]
    fn all_records_whatever_the_seed() {
        let all = choose("numbers", 1, &numbered(10), None, 10, 1).unwrap();
        assert_eq!(all.train, numbered(10).take_all());
        assert_eq!(all.test, None);
        let tested = choose("numbers", 1, &numbered(10), Some(&numbered(3)), 4, 1).unwrap();
        assert_eq!(tested.test, Some(numbered(3).take_all()));
    }

    #[test]
    fn refuses_more_than_there_is() {
        for size in [0, 11] {
            let message = choose("numbers", 1, &numbered(10), None, size, 1).unwrap_err().to_string();
            assert!(message.contains(&format!("dataset_size is {size}, but a whole number from 1 to 10")));
        }
    }

    /// Each of 20 records is chosen in half of 10,000 seeds. Each count is tested as a normal deviate with limit 5.6; the total
    /// false-alarm rate is 4e-7.
    #[test]
    fn every_record_has_the_same_chance() {
        let mut counts = [0_u32; 20];
        let seeds = 10_000;
        for seed in 0..seeds {
            subsets(20, 10, 0, seed).0.iter().for_each(|&index| counts[index] += 1);
        }
        for count in counts {
            let deviate = (f64::from(count) - seeds as f64 / 2.0) / (seeds as f64 / 4.0).sqrt();
            assert!(deviate.abs() < 5.6, "{counts:?}");
        }
    }
}
