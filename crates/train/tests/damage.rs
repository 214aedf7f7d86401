//! Damaged files are refused or read: nothing panics, and memory stays in proportion to what is there.

use crate::fixtures::*;
use crate::{MEMORY, alone};
use misdeal_train::data::load;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::path::Path;

/// The most memory that reading one of the small files below may take, however it is damaged.
const MOST_BYTES: usize = 4 << 20;

/// Files of every format: the data set to load, the file's name, its bytes, and those of others that it needs.
fn files() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let features = npy("<f4", "(6, 5)", &[0; 120]);
    let arrays = [("features", features), ("labels", npy("|u1", "(6,)", &[0, 1, 2, 0, 1, 2]))];
    let text = |name: &str, classes, features| {
        tarred(&[(name.into(), labelled_bits(8, classes, features, true).into())])
    };
    vec![
        ("fashion-mnist", "train-labels-idx1-ubyte", idx(&[4], &[0, 1, 2, 1])),
        ("fashion-mnist", "train-images-idx3-ubyte", idx(&[4, 28, 28], &[9; 4 * 784])),
        ("cifar-10", "cifar-10-batches-bin/data_batch_1.bin", cifar_binary(0, 2)),
        ("cifar-10", "cifar-10-batches-py/data_batch_1", cifar_pickle(0, 2)),
        ("cifar-10", "cifar-10-binary.tar.gz", tarred(&cifar_members(false, 1))),
        ("cifar-10", "cifar-10-python.tar.gz", gzipped(&tarred(&cifar_members(true, 1)))),
        ("purchase-100", "dataset_purchase.tgz", text("dataset_purchase", 100, 600)),
        ("purchase-100", "synth_p100.tgz", gzipped(&text("synth_p100", 100, 600))),
        ("location-30", "dataset_location.tgz", text("bangkok", 30, 446)),
        ("own.npz", "own.npz", npz(&arrays, true)),
        ("own.npz", "own.npz", npz(&arrays, false)),
    ]
}

/// The rest of a data set of which one file is damaged.
fn put_company(folder: &Path, dataset: &str, file: &str) {
    if dataset == "fashion-mnist" {
        let (images, labels) = (idx(&[4, 28, 28], &[9; 4 * 784]), idx(&[4], &[0, 1, 2, 1]));
        for part in ["train", "t10k"] {
            put(folder, &format!("{part}-images-idx3-ubyte"), &images);
            put(folder, &format!("{part}-labels-idx1-ubyte"), &labels);
        }
    } else if file.contains("batches") {
        let members = cifar_members(file.contains("-py"), 2);
        for (name, bytes) in &members {
            put(folder, name, bytes);
        }
    }
}

/// Loads the file and returns the memory that it took at its peak.
fn load_damaged(dataset: &str, folder: &Path) -> (bool, usize) {
    let path = folder.join(dataset);
    let name = if dataset == "own.npz" { path.to_str().unwrap() } else { dataset };
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let outcome = load(name, Some(folder), 2, 0);
    if let Err(error) = &outcome {
        let message = error.to_string();
        assert!(!message.contains('\n') && message.contains(';') && message.len() < 1000, "{message}");
    }
    (outcome.is_ok(), MEMORY.peak_usage().saturating_sub(before))
}

/// Small files that unpack to a lot, or claim to: what loads them, their name, their bytes and the memory they may take.
fn bombs() -> Vec<(&'static str, &'static str, Vec<u8>, usize)> {
    let endless_line = tarred(&[("dataset_purchase".into(), vec![b'1'; 100 << 20])]);
    let mut long_name = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(100 << 20);
    long_name.append_data(&mut header, "././@LongLink", &vec![b'a'; 100 << 20][..]).unwrap();
    let large = npy("|u1", "(100000000, 10)", &[]);
    let claims = npz(&[("features", large), ("labels", npy("|u1", "(1,)", &[0]))], true);
    // 1.2 GB of numbers in half a megabyte: it took 1.2 GB before it was refused.
    let shape = "(1000, 300000)";
    let packed = npz(
        &[
            ("features", npy("|u1", shape, &vec![0; 300_000_000])),
            ("labels", npy("|u1", "(1000,)", &[0; 1_000])),
        ],
        true,
    );
    let zeros = npz(&[("features", vec![0; 100 << 20]), ("labels", vec![0; 100 << 20])], true);
    let calls = [&b"\x80\x02"[..], &b"]".repeat(20 << 20)].concat();
    vec![
        ("purchase-100", "dataset_purchase.tgz", gzipped(&endless_line), MOST_BYTES),
        ("cifar-10", "cifar-10-binary.tar.gz", gzipped(&long_name.into_inner().unwrap()), MOST_BYTES),
        ("own.npz", "own.npz", claims, MOST_BYTES),
        ("own.npz", "own.npz", zeros, MOST_BYTES),
        ("own.npz", "own.npz", packed, MOST_BYTES),
        // The file itself is read, into at most twice its length; then a quarter of a million instructions of 64 bytes.
        ("cifar-10", "cifar-10-batches-py/data_batch_1", calls, (40 << 20) + (32 << 20)),
    ]
}

fn bombs_do_not_go_off() {
    for (dataset, file, bytes, most) in bombs() {
        let folder = tempfile::tempdir().unwrap();
        put_company(folder.path(), dataset, file);
        put(folder.path(), file, &bytes);
        let (loaded, reserved) = load_damaged(dataset, folder.path());
        assert!(!loaded && reserved <= most, "{file} took {reserved} bytes");
    }
}

#[test]
fn nothing_panics_and_little_is_reserved() {
    let _alone = alone();
    bombs_do_not_go_off();
    let config = Config {
        cases: 300,
        rng_seed: RngSeed::Fixed(11),
        failure_persistence: None,
        source_file: None,
        ..Config::default()
    };
    for (dataset, file, whole) in files() {
        let folder = tempfile::tempdir().unwrap();
        put_company(folder.path(), dataset, file);
        put(folder.path(), file, &whole);
        let (loaded, reserved) = load_damaged(dataset, folder.path());
        assert!(loaded && reserved <= MOST_BYTES, "{file} is sound, and took {reserved} bytes");

        // Half of the damage goes to the first kilobyte, where headers are, the other half anywhere.
        let place = prop_oneof![0..1024_usize.min(whole.len()), 0..whole.len()];
        let flips = prop::collection::vec((place, any::<u8>()), 0..4);
        let cut = prop_oneof![Just(whole.len()), 0..whole.len()];
        let outcome = TestRunner::new(config.clone()).run(&(flips, cut), |(flips, cut)| {
            let mut bytes = whole.clone();
            for (at, byte) in flips {
                bytes[at] = byte;
            }
            bytes.truncate(cut);
            put(folder.path(), file, &bytes);
            let (_, reserved) = load_damaged(dataset, folder.path());
            prop_assert!(reserved <= MOST_BYTES, "{file} took {reserved} bytes");
            Ok(())
        });
        outcome.unwrap();
    }
}
