//! Every format from small files made here: what is in them comes out, in the file's order and scaled.

mod fixtures;

use fixtures::*;
use misdeal_train::data::{Dataset, Examples, Shape, load};
use std::fs;
use std::path::Path;
use tempfile::tempdir;

fn refusal(dataset: &str, folder: &Path, size: usize) -> String {
    let message = load(dataset, Some(folder), size, 0).unwrap_err().to_string();
    assert!(!message.contains('\n') && message.contains(';'), "{message}");
    message
}

/// The images of classes 0 and 1 in these batches.
fn expected_images(batches: std::ops::Range<usize>, images: usize, shape: Shape) -> Examples {
    let all = batches.flat_map(|batch| (0..images).map(move |index| (batch, index)));
    let kept: Vec<_> = all.filter(|&(batch, index)| class(batch, index) < 2).collect();
    let pixels = kept.iter().flat_map(|&(batch, index)| image(batch, index, shape.features()));
    let features = pixels.map(|pixel| f32::from(pixel) / 255.0).collect();
    Examples {
        shape,
        features,
        labels: kept.iter().map(|&(batch, index)| class(batch, index).into()).collect(),
    }
}

#[test]
fn fashion_mnist_packed_and_unpacked() {
    let shape = Shape { channels: 1, height: 28, width: 28 };
    let part = |batch| {
        let pixels: Vec<u8> = (0..9).flat_map(|index| image(batch, index, 784)).collect();
        let labels: Vec<u8> = (0..9).map(|index| class(batch, index)).collect();
        (idx(&[9, 28, 28], &pixels), idx(&[9], &labels))
    };
    let ((images, labels), (test_images, test_labels)) = (part(0), part(1));
    for (below, packed) in [("fashion-mnist/", true), ("FashionMNIST/raw/", false), ("", true)] {
        let folder = tempdir().unwrap();
        let files = [("train-images-idx3", &images), ("train-labels-idx1", &labels)];
        let test_files = [("t10k-images-idx3", &test_images), ("t10k-labels-idx1", &test_labels)];
        for (name, bytes) in files.into_iter().chain(test_files) {
            let (name, bytes) = if packed {
                (format!("{below}{name}-ubyte.gz"), gzipped(bytes))
            } else {
                (format!("{below}{name}-ubyte"), bytes.clone())
            };
            put(folder.path(), &name, &bytes);
        }
        let dataset = load("fashion-mnist", Some(folder.path()), 6, 0).unwrap();
        assert_eq!((dataset.name.as_str(), dataset.classes), ("fashion-mnist", 2));
        assert_eq!(dataset.train, expected_images(0..1, 9, shape));
        assert_eq!(dataset.test, Some(expected_images(1..2, 9, shape)));
        assert!(
            refusal("fashion-mnist", folder.path(), 7)
                .contains("dataset_size is 7, but a whole number from 1 to 6")
        );

        let cases = [
            (idx(&[8], &[0; 8]), "8 labels for 9 images"),
            (idx(&[9], &[11; 9]), "label 11 at index 0"),
            (images.clone(), "2051, but 2049"),
            (gzipped(&labels)[..20].to_vec(), "cut short"),
        ];
        for (bytes, expected) in cases {
            let name = format!("{below}train-labels-idx1-ubyte{}", if packed { ".gz" } else { "" });
            put(folder.path(), &name, &bytes);
            let message = refusal("fashion-mnist", folder.path(), 6);
            assert!(message.contains(expected) && message.contains("train-labels"), "{message}");
        }
    }
}

#[test]
fn cifar_10_in_every_distribution() {
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let mut hashes = Vec::new();
    for (python, packed, below) in [
        (false, true, "cifar-10/"),
        (true, true, "cifar-10/"),
        (false, false, ""),
        (true, false, "cifar-10/"),
    ] {
        let folder = tempdir().unwrap();
        let members = cifar_members(python, 4);
        if packed {
            let name = if python { "cifar-10-python.tar.gz" } else { "cifar-10-binary.tar.gz" };
            put(folder.path(), &format!("{below}{name}"), &gzipped(&tarred(&members)));
        } else {
            members.iter().for_each(|(name, bytes)| put(folder.path(), &format!("{below}{name}"), bytes));
        }
        let size = expected_images(0..5, 4, shape).len();
        let dataset = load("cifar-10", Some(folder.path()), size, 0).unwrap();
        assert_eq!(dataset.train, expected_images(0..5, 4, shape));
        assert_eq!(dataset.test, Some(expected_images(5..6, 4, shape)));
        hashes.push(dataset.content_hash());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
}

#[test]
fn archives_that_are_not_what_they_should_be() {
    let members = cifar_members(false, 2);
    let one_more = |name: &str| [&members[..], &[(name.to_owned(), vec![0; 3073])]].concat();
    let mut escaping = members.clone();
    escaping[0].0 = "cifar-10-batches-bin/sub/test_batch.bin".into();
    let mut short_label = members.clone();
    short_label[0].1[0] = 10;
    let mut short = members.clone();
    short[0].1.pop();
    let mut one_huge = members.clone();
    one_huge[0].1 = vec![0; (64 << 20) + 1];
    let whole = gzipped(&tarred(&members));
    let cases = [
        (gzipped(&tarred(&one_more("cifar-10-batches-bin/test_batch.bin"))), "test_batch.bin twice"),
        (gzipped(&tarred(&escaping)), "no member cifar-10-batches-bin/test_batch.bin"),
        (gzipped(&tarred(&short_label)), "label 10 of image 0"),
        (gzipped(&tarred(&short)), "not a positive multiple of 3073"),
        (whole[..whole.len() - 5].to_vec(), "cut short"),
        (b"not an archive at all".repeat(100), "cannot be unpacked"),
        (gzipped(&[tarred(&members), vec![0; 384 << 20]].concat()), "more than 402653184 bytes"),
        (gzipped(&tarred(&one_huge)), "claims 67108865 bytes, but a batch has at most 67108864"),
    ];
    for (bytes, expected) in cases {
        let folder = tempdir().unwrap();
        put(folder.path(), "cifar-10/cifar-10-binary.tar.gz", &bytes);
        let message = refusal("cifar-10", folder.path(), 1);
        assert!(
            message.contains(expected) && message.contains("cifar-10-binary.tar.gz"),
            "{expected}: {message}"
        );
    }
    // Other members, whatever they are called, are passed over: nothing is written anywhere.
    let folder = tempdir().unwrap();
    put(
        folder.path(),
        "cifar-10/cifar-10-binary.tar.gz",
        &gzipped(&tarred(&one_more("cifar-10-batches-bin/readme.html"))),
    );
    assert!(load("cifar-10", Some(folder.path()), 1, 0).is_ok());
    assert_eq!(fs::read_dir(folder.path().join("cifar-10")).unwrap().count(), 1);
}

/// The records of `labelled_bits` with these indices.
fn expected_bits(indices: impl Iterator<Item = usize> + Clone, classes: usize, features: usize) -> Examples {
    let bits = indices.clone().flat_map(|i| (0..features).map(move |j| (i >> (j % 8) & 1) as f32));
    let labels = indices.map(|i| (i % classes) as u16);
    Examples { shape: Shape::flat(features), features: bits.collect(), labels: labels.collect() }
}

#[test]
fn purchase_100_and_location_30_from_text() {
    let (purchase, location) = (labelled_bits(120, 100, 600, true), labelled_bits(60, 30, 446, false));
    for packed in [true, false] {
        let folder = tempdir().unwrap();
        if packed {
            let archive = |name: &str, text: &str| gzipped(&tarred(&[(name.into(), text.into())]));
            put(folder.path(), "purchase-100/dataset_purchase.tgz", &archive("dataset_purchase", &purchase));
            put(folder.path(), "purchase-100/dataset_location.tgz", &archive("bangkok", &location));
            // Real data comes before the stand-in.
            put(folder.path(), "purchase-100/synth_p100.tgz", &archive("synth_p100", &purchase));
        } else {
            put(folder.path(), "purchase-100/dataset_purchase", purchase.as_bytes());
            put(folder.path(), "location-30/bangkok", location.as_bytes());
        }
        let all = load("purchase-100", Some(folder.path()), 120, 0).unwrap();
        assert_eq!((all.name.as_str(), all.classes, &all.test), ("purchase-100", 100, &None));
        assert_eq!(all.train, expected_bits(0..120, 100, 600));
        let some = load("purchase-100", Some(folder.path()), 100, 0).unwrap();
        assert_eq!((some.train.len(), some.test.unwrap().len()), (100, 20));
        let all = load("location-30", Some(folder.path()), 60, 0).unwrap();
        assert_eq!((all.name.as_str(), all.classes, all.test), ("location-30", 30, None));
        assert_eq!(all.train, expected_bits(0..60, 30, 446));
    }
}

#[test]
fn a_stand_in_is_called_one() {
    let folder = tempdir().unwrap();
    let text = labelled_bits(10_010, 100, 600, false);
    put(
        folder.path(),
        "purchase-100/synth_p100.tgz",
        &gzipped(&tarred(&[("synth_p100".into(), text.into())])),
    );
    let dataset = load("purchase-100", Some(folder.path()), 10_000, 0).unwrap();
    assert_eq!(dataset.name, "purchase-100 (synthetic stand-in)");
    assert_eq!(dataset.train, expected_bits(0..10_000, 100, 600));
    assert_eq!(dataset.test, Some(expected_bits(10_000..10_010, 100, 600)));
}

#[test]
fn purchase_100_from_arrays() {
    let (records, features) = (110_usize, 600_usize);
    let bits: Vec<u8> =
        (0..records).flat_map(|i| (0..features).map(move |j| (i >> (j % 8) & 1) as u8)).collect();
    let wide_bits: Vec<u8> = bits.iter().flat_map(|&bit| f64::from(bit).to_le_bytes()).collect();
    let one_hot: Vec<u8> =
        (0..records).flat_map(|i| (0..100).map(move |class| u8::from(i % 100 == class))).collect();
    let from_zero: Vec<u8> = (0..records).flat_map(|i| ((i % 100) as i64).to_le_bytes()).collect();
    let from_one: Vec<u8> = (0..records).flat_map(|i| ((i % 100 + 1) as f32).to_le_bytes()).collect();
    let files = [
        npz(
            &[("features", npy("|u1", "(110, 600)", &bits)), ("labels", npy("|u1", "(110, 100)", &one_hot))],
            true,
        ),
        npz(&[("X", npy("<f8", "(110, 600)", &wide_bits)), ("Y", npy("<i8", "(110,)", &from_zero))], false),
        npz(
            &[("arr_0", npy("|b1", "(110, 600)", &bits)), ("arr_1", npy("<f4", "(110, 1)", &from_one))],
            true,
        ),
    ];
    for bytes in files {
        let folder = tempdir().unwrap();
        put(folder.path(), "purchase-100/purchase100.npz", &bytes);
        let dataset = load("purchase-100", Some(folder.path()), records, 0).unwrap();
        assert_eq!(dataset.name, "purchase-100");
        assert_eq!(dataset.train, expected_bits(0..records, 100, features));
    }
    let other = npz(&[("X", npy("|u1", "(2, 5)", &[0; 10])), ("Y", npy("|u1", "(2,)", &[0, 1]))], true);
    let folder = tempdir().unwrap();
    put(folder.path(), "purchase-100/purchase100.npz", &other);
    assert!(refusal("purchase-100", folder.path(), 1).contains("there are 5 features, but 600 are expected"));
}

fn load_npz(arrays: &[(&str, Vec<u8>)], size: usize) -> Result<Dataset, String> {
    let folder = tempdir().unwrap();
    put(folder.path(), "own data.npz", &npz(arrays, true));
    let path = folder.path().join("own data.npz");
    load(path.to_str().unwrap(), None, size, 0).map_err(|error| error.to_string())
}

#[test]
fn any_arrays_of_features_and_labels() {
    let labels = ("labels", npy("<i4", "(2,)", &[0, 0, 0, 0, 4, 0, 0, 0]));
    let pixels = ("features", npy("|u1", "(2, 2, 1, 3)", &[0, 51, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    let dataset = load_npz(&[labels.clone(), pixels], 2).unwrap();
    assert_eq!((dataset.name.as_str(), dataset.classes, dataset.test), ("own data.npz", 5, None));
    assert_eq!(dataset.train.shape, Shape { channels: 2, height: 1, width: 3 });
    assert_eq!(
        (dataset.train.record(0)[..3].to_vec(), &dataset.train.labels[..]),
        (vec![0.0, 0.2, 1.0], &[0, 4][..])
    );

    let numbers = |values: &[f32]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    let features = ("features", npy(">f4", "(2, 2)", &numbers(&[-1.5, 0.25, 1e6, 0.0])));
    let test = [
        ("test_features", npy(">f4", "(1, 2)", &numbers(&[7.0, 8.0]))),
        ("test_labels", npy("|u1", "(1,)", &[6])),
    ];
    let dataset = load_npz(&[&[features.clone(), labels.clone()], &test[..]].concat(), 2).unwrap();
    assert_eq!((dataset.train.features, dataset.classes), (vec![-1.5, 0.25, 1e6, 0.0], 7));
    assert_eq!(dataset.test.unwrap().features, [7.0, 8.0]);

    let one = |name, bytes| (name, bytes);
    let cases = [
        (vec![features.clone()], "no arrays features and labels"),
        (vec![features.clone(), one("labels", npy("|u1", "(3,)", &[0; 3]))], "3 labels for 2 records"),
        (
            vec![features.clone(), one("labels", npy("<f4", "(2,)", &[0, 0, 0, 0, 0, 0, 0, 63]))],
            "labels holds 0.5",
        ),
        (vec![features.clone(), one("labels", npy("|i1", "(2,)", &[0, 255]))], "labels holds -1"),
        (vec![features.clone(), one("labels", npy("|u1", "(2, 2)", &[0, 1, 1, 1]))], "not one-hot in row 1"),
        (
            vec![features.clone(), one("labels", npy("|O", "(2,)", &[0; 16]))],
            "array labels: the elements are of type",
        ),
        (vec![one("features", npy("|u1", "(2,)", &[0; 2])), labels.clone()], "two to four axes"),
        (vec![one("features", npy("|u1", "(2, 0)", &[])), labels.clone()], "no numbers"),
        (vec![one("features", npy("<f4", "(1, 1)", &f32::NAN.to_le_bytes())), labels], "index 0 is NaN"),
    ];
    for (arrays, expected) in cases {
        let message = load_npz(&arrays, 1).unwrap_err();
        assert!(message.contains(expected) && message.contains("own data.npz"), "{expected}: {message}");
    }
}

#[test]
fn missing_data_is_told_where_to_come_from() {
    let folder = tempdir().unwrap();
    let cases = [
        ("fashion-mnist", "train-images-idx3-ubyte.gz", "zalandoresearch"),
        ("cifar-10", "cifar-10-binary.tar.gz", "cs.toronto.edu"),
        ("purchase-100", "dataset_purchase.tgz", "privacytrustlab"),
        ("location-30", "dataset_location.tgz", "privacytrustlab"),
    ];
    for (dataset, file, whom) in cases {
        let message = refusal(dataset, folder.path(), 10);
        assert!(message.contains(&folder.path().display().to_string()), "{message}");
        let no_folder = load(dataset, None, 10, 0).unwrap_err().to_string();
        assert!(no_folder.contains("--data DIR or the environment variable MISDEAL_DATA"), "{no_folder}");
        for message in [message, no_folder] {
            assert!(
                message.contains(file) && message.contains(whom) && message.contains("--dataset synthetic")
            );
        }
    }
    assert!(
        refusal("mnist", folder.path(), 10)
            .contains("dataset is \"mnist\", but one of fashion-mnist, cifar-10")
    );
    assert!(refusal("absent.npz", folder.path(), 10).contains("cannot read absent.npz"));
    assert!(refusal("synthetic", folder.path(), 0).contains("dataset_size is 0"));
}
