//! Properties of stores, tested on random ones.

use super::*;
use crate::{BatchScheme, STREAM_NAME};
use proptest::{prelude::*, test_runner::RngSeed};

fn store(kind: StoreKind) -> ScoreStore {
    ScoreStore::new(Setting::default(), "cpu", STREAM_NAME, kind).unwrap()
}

/// A score for each trial, with ties, zeros of both signs and magnitudes of every size.
fn score(trial: u64, world: World) -> f64 {
    let mixed = (trial * 2 + world as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match mixed >> 61 {
        0 => -0.0,
        1 => f64::from_bits(mixed).clamp(-1e300, 1e300).max(-1e300),
        _ => (mixed >> 40 & 0xff) as f64 / 16.0 - 8.0,
    }
}

fn insert(store: &mut ScoreStore, trials: Range<u64>) -> Result<()> {
    let [scores_in, scores_out] =
        World::BOTH.map(|world| trials.clone().map(|trial| score(trial, world)).collect::<Vec<_>>());
    store.insert(trials.clone(), &scores_in, &scores_out)?;
    store.insert_tally("numbers", &tally(trials));
    Ok(())
}

/// A tally of one whole number for each trial.
fn tally(trials: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    trials.for_each(|trial| tally.insert((trial << 45) as i64 - (1 << 48)));
    tally
}

fn kinds() -> impl Strategy<Value = StoreKind> {
    prop_oneof![Just(StoreKind::Counts), Just(StoreKind::Exact)]
}

/// Random pieces: the gap before a range, the range's length, and which of three stores gets it.
fn pieces() -> impl Strategy<Value = Vec<(u64, u64, usize)>> {
    prop::collection::vec((0_u64..3, 0_u64..40, 0_usize..3), 0..10)
}

fn three(kind: StoreKind, pieces: &[(u64, u64, usize)]) -> [ScoreStore; 3] {
    let mut stores = [store(kind), store(kind), store(kind)];
    let mut next = 0;
    for &(gap, length, which) in pieces {
        let start = next + gap;
        next = start + length;
        insert(&mut stores[which], start..next).unwrap();
    }
    stores
}

fn merged(mut one: ScoreStore, other: ScoreStore) -> ScoreStore {
    one.merge(other).unwrap();
    one
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(22),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn merging_is_associative_and_commutative(kind in kinds(), pieces in pieces()) {
        let [a, b, c] = three(kind, &pieces);
        let left = merged(merged(a.clone(), b.clone()), c.clone());
        let right = merged(c.clone(), merged(b.clone(), a.clone()));
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(left.to_bytes(), right.to_bytes());
        prop_assert_eq!(&merged(left.clone(), left.empty_like()), &left);
        // All scores inserted into one store, in another order.
        let mut whole = store(kind);
        for range in left.trials().iter().rev() {
            insert(&mut whole, range.clone()).unwrap();
        }
        prop_assert_eq!(&whole, &left);
        prop_assert_eq!(whole.to_bytes(), left.to_bytes());
    }

    #[test]
    fn trials_count_once(kind in kinds(), pieces in pieces()) {
        let [mut a, _, _] = three(kind, &pieces);
        let before = a.clone();
        for range in before.trials() {
            prop_assert!(insert(&mut a, range.start..range.start + 1).is_err());
            prop_assert!(insert(&mut a, range.start.saturating_sub(1)..range.end + 2).is_err());
        }
        prop_assert_eq!(a.merge(before.clone()).is_err(), !before.trials().is_empty());
        prop_assert_eq!(a, before);
    }

    #[test]
    fn bytes_round_trip(kind in kinds(), pieces in pieces()) {
        for store in three(kind, &pieces) {
            let bytes = store.to_bytes();
            let back = ScoreStore::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&back, &store);
            prop_assert_eq!(back.to_bytes(), bytes);
        }
    }

    #[test]
    fn damage_is_refused(
        kind in kinds(), pieces in pieces(), place in any::<prop::sample::Index>(), flip in 1_u8..=255,
    ) {
        let [a, _, _] = three(kind, &pieces);
        let bytes = a.to_bytes();
        let place = place.index(bytes.len());
        prop_assert!(ScoreStore::from_bytes(&bytes[..place]).is_err());
        let mut altered = bytes.clone();
        altered[place] ^= flip;
        prop_assert!(ScoreStore::from_bytes(&altered).is_err());
        let mut longer = bytes;
        longer.push(flip);
        prop_assert!(ScoreStore::from_bytes(&longer).is_err());
    }
}

#[test]
fn every_byte_counts() {
    for kind in [StoreKind::Counts, StoreKind::Exact] {
        let mut store = store(kind);
        insert(&mut store, 3..20).unwrap();
        let bytes = store.to_bytes();
        for place in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[place] ^= 1;
            assert!(ScoreStore::from_bytes(&altered).is_err(), "{place}");
            assert!(ScoreStore::from_bytes(&bytes[..place]).is_err(), "{place}");
        }
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let good = store(StoreKind::Counts);
    let refused = |other: ScoreStore| good.clone().merge(other).unwrap_err().to_string();
    let setting =
        Setting { seed: 7, scheme: BatchScheme::StreamShuffle { buffer_size: 9 }, ..Setting::default() };
    let message = refused(ScoreStore::new(setting, "cpu", STREAM_NAME, StoreKind::Counts).unwrap());
    assert_eq!(
        message,
        "the stores have different settings: buffer_size is none and 9, scheme is \"shuffle\" and \"stream-shuffle\", \
         seed is 0 and 7"
    );
    let other = |lineage, stream, kind| ScoreStore::new(Setting::default(), lineage, stream, kind).unwrap();
    assert!(refused(other("cuda", STREAM_NAME, StoreKind::Counts)).contains("lineages: cpu and cuda"));
    assert!(refused(other("cpu", "philox", StoreKind::Counts)).contains("streams: ars5-1 and philox"));
    assert!(refused(other("cpu", STREAM_NAME, StoreKind::Exact)).contains("counts and exact"));

    let mut store = good.clone();
    let message = store.insert(10..12, &[1.0, f64::NAN], &[0.0, 0.0]).unwrap_err().to_string();
    assert!(message.starts_with("scores_in is NaN in trial 11"), "{message}");
    assert!(store.insert(10..12, &[1.0, 2.0], &[0.0, f64::NEG_INFINITY]).is_err());
    assert!(store.insert(10..12, &[1.0, 2.0], &[0.0]).is_err());
    assert_eq!(store, good);
}

/// A store with this header and payload, and a matching checksum.
fn forged(header: &str, payload: &[u8]) -> Vec<u8> {
    sealed(FORMAT_VERSION, header, payload)
}

fn sealed(version: u32, header: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = b"misdeal\0".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((header.len() as u64).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(payload);
    let seal = blake3::hash(&bytes);
    bytes.extend(seal.as_bytes());
    bytes
}

#[test]
fn forgeries_are_refused() {
    let mut genuine = store(StoreKind::Exact);
    genuine.insert(0..1, &[1.0], &[2.0]).unwrap();
    let bytes = genuine.to_bytes();
    let end = bytes.len() - 32 - 16;
    let header = std::str::from_utf8(&bytes[20..end]).unwrap();
    let payload = &bytes[end..end + 16];
    assert_eq!(forged(header, payload), bytes);

    let refused = |header: &str, payload: &[u8]| {
        ScoreStore::from_bytes(&forged(header, payload)).unwrap_err().to_string()
    };
    let nan = [f64::NAN.to_le_bytes(), [0; 8]].concat();
    assert!(refused(header, &nan).contains("scores_in is NaN in trial 0"));
    let setting = |from: &str, to: &str| {
        assert!(header.contains(from));
        refused(&header.replace(from, to), payload)
    };
    assert!(
        setting("\"noise_multiplier\":1.0", "\"noise_multiplier\":0.0").contains("noise_multiplier is 0")
    );
    assert!(setting("\"seed\":0", "\"seed\":1").contains("hash"));
    assert!(setting("[[0,1]]", "[[0,1],[0,1]]").contains("twice"));
    assert!(setting("[[0,1]]", "[[1,0]]").contains("ends before"));
    assert!(setting("[[0,1]]", "[[0,18446744073709551615]]").contains("truncated"));
    assert!(setting("\"exact\"", "\"counts\"").contains("altered"));
    assert!(setting("[[0,1]]", "[]").contains("checksum"));
    let with_tally = |count, sum, squares| {
        let numbers = format!("{{\"count\":{count},\"sum\":{sum},\"sum_of_squares\":{squares}}}");
        format!("{},\"tallies\":{{\"numbers\":{numbers}}}}}", header.strip_suffix('}').unwrap())
    };
    assert!(ScoreStore::from_bytes(&forged(&with_tally(2, -3, 5), payload)).is_ok());
    for (count, sum, squares) in [(2, -3, 4), (0, 0, 0), (2, 0, -1)] {
        assert!(refused(&with_tally(count, sum, squares), payload).contains("no numbers give"));
    }

    let corrupt = |bytes: &[u8]| ScoreStore::from_bytes(bytes).unwrap_err().to_string();
    assert_eq!(corrupt(b"{}"), "not a misdeal store");
    assert_eq!(corrupt(b"PAR1 and so on, for long enough"), "not a misdeal store");
    let mut later = bytes.clone();
    later[8] = 3;
    assert!(corrupt(&later).contains("format version 3") && corrupt(&later).contains("versions 1 to 2"));
    let mut absurd = bytes.clone();
    absurd[12..20].fill(0xff);
    assert!(corrupt(&absurd).contains("truncated"));
    assert!(corrupt(&[&bytes[..], &[0]].concat()).contains("after its end"));
}

/// An older store does not say how it was judged, so it may have been judged when it was finished.
#[test]
fn an_older_store_counts_as_judged() {
    let mut fresh = store(StoreKind::Counts);
    insert(&mut fresh, 0..20).unwrap();
    let bytes = fresh.to_bytes();
    let length = u64::from_le_bytes(std::array::from_fn(|i| bytes[12 + i])) as usize;
    let (header, payload) = (&bytes[20..20 + length], &bytes[20 + length..bytes.len() - 32]);
    let header = std::str::from_utf8(header).unwrap();
    let judgements = ",\"judgements\":{\"sequential\":false,\"planned\":[]}";
    assert!(header.contains(judgements));
    let older = sealed(1, &header.replace(judgements, ""), payload);
    let mut older = ScoreStore::from_bytes(&older).unwrap();
    assert_eq!(older.trials(), fresh.trials());
    assert_eq!(older.clone().judge(20), None);
    insert(&mut older, 20..40).unwrap();
    insert(&mut fresh, 20..40).unwrap();
    assert!(older.judge(40).unwrap().contains("judged before"));
    assert_eq!(fresh.judge(40), None);
    // Writing and reading a store keeps its judgements.
    insert(&mut fresh, 40..50).unwrap();
    let mut back = ScoreStore::from_bytes(&fresh.to_bytes()).unwrap();
    assert!(back == fresh && back.judge(50).is_some());
}

/// Inserting counts from a device gives the same store as inserting the scores.
#[test]
fn counts_are_inserted_as_scores_are() {
    for trials in [0..0, 4..9, 5..12] {
        let mut expected = store(StoreKind::Counts);
        insert(&mut expected, trials.clone()).unwrap();
        let tables = World::BOTH.map(|world| {
            let mut halves = [BinCounts::default(), BinCounts::default()];
            trials.clone().for_each(|trial| halves[(trial % 2) as usize].insert(score(trial, world)));
            halves
        });
        let mut ours = store(StoreKind::Counts);
        ours.insert_counts(trials.clone(), tables.clone()).unwrap();
        ours.insert_tally("numbers", &tally(trials.clone()));
        assert_eq!(ours, expected);
        assert!(store(StoreKind::Exact).insert_counts(trials.clone(), tables.clone()).is_err());
        assert!(
            store(StoreKind::Counts).insert_counts(trials.start..trials.end + 1, tables.clone()).is_err()
        );
        assert!(trials.is_empty() || ours.insert_counts(trials, tables).is_err());
    }
}
