//! Finds streams of batches with the same records.

/// One stream of batches.
pub type Batches<'a> = Vec<&'a [u32]>;

/// Whether no stream has a record twice and all streams have the same records.
///
/// Streams are compared by number of records and by a sum of hashes. Different streams pass with probability 2^-64, unless they
/// were made to pass.
pub fn are_copies(streams: &[Batches<'_>]) -> bool {
    let digest = |stream: &Batches<'_>| {
        let records = stream.iter().copied().flatten();
        records.fold((0_u64, 0_u64), |(count, sum), &record| (count + 1, sum.wrapping_add(mixed(record))))
    };
    let Some((first, others)) = streams.split_first() else { return false };
    let expected = digest(first);
    expected.0 > 1 && others.iter().all(|stream| digest(stream) == expected) && has_no_repeats(first)
}

/// Whether all streams have the same batches in the same order.
pub fn are_the_same(streams: &[Batches<'_>]) -> bool {
    streams.windows(2).all(|pair| pair[0] == pair[1])
}

/// How often each record of the batches appears, if all appear equally often and more than once.
pub fn each_record_repeats(batches: &[&[u32]]) -> Option<usize> {
    let counts = counts(batches);
    let times = counts.iter().copied().find(|&count| count > 0)?;
    (times > 1 && counts.iter().all(|&count| count == 0 || count == times)).then_some(times as usize)
}

/// Splits the batches in two ways: into `parts` consecutive runs, and into `parts` streams that take turns.
pub fn split_batches<'a>(batches: &[&'a [u32]], parts: usize) -> [Vec<Batches<'a>>; 2] {
    let length = batches.len().div_ceil(parts);
    let runs = batches.chunks(length.max(1)).map(<[&[u32]]>::to_vec).collect();
    let turns = (0..parts).map(|part| batches.iter().skip(part).step_by(parts).copied().collect()).collect();
    [runs, turns]
}

fn has_no_repeats(batches: &[&[u32]]) -> bool {
    counts(batches).iter().all(|&count| count <= 1)
}

/// How often each record appears, in the order of the file. The list may contain 0 for records that do not appear.
fn counts(batches: &[&[u32]]) -> Vec<u32> {
    let largest = batches.iter().copied().flatten().max().copied().unwrap_or(0);
    let entries: usize = batches.iter().map(|batch| batch.len()).sum();
    if largest as usize > 8 * entries {
        // A short epoch of a large data set. There may be many such epochs.
        let mut records: Vec<u32> = batches.iter().copied().flatten().copied().collect();
        records.sort_unstable();
        return records.chunk_by(|one, next| one == next).map(|same| same.len() as u32).collect();
    }
    let mut counts = vec![0_u32; largest as usize + 1];
    batches.iter().copied().flatten().for_each(|&record| counts[record as usize] += 1);
    counts
}

/// A well-mixed hash of a record's index (the finaliser of SplitMix64).
pub fn mixed(record: u32) -> u64 {
    let mut bits = (u64::from(record) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}
