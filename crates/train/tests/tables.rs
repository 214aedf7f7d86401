//! Tables of features from small files made here, as text and as arrays; and what is said where there are no files.

use crate::fixtures::*;
use misdeal_train::data::{Dataset, Examples, Shape, load};
use tempfile::tempdir;

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
        assert!(no_folder.contains("`data` or the environment variable MISDEAL_DATA"), "{no_folder}");
        for message in [message, no_folder] {
            assert!(
                message.contains(file) && message.contains(whom) && message.contains("`dataset` synthetic")
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
