//! The real files, where they are at hand: in the folder that `MISDEAL_DATA` names.

use crate::fixtures;
use misdeal_testkit::skip;
use misdeal_train::data::{Dataset, Shape, load};
use std::fs;
use std::path::PathBuf;

/// The data folder, if it has `file`; says so where it has not.
fn folder_with(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("MISDEAL_DATA").map(PathBuf::from);
    let found = folder.filter(|folder| folder.join(file).is_file());
    if found.is_none() {
        skip(format!("set MISDEAL_DATA to a folder that has {file}"));
    }
    found
}

fn counts(labels: &[u16]) -> Vec<usize> {
    (0..2).map(|class| labels.iter().filter(|&&label| label == class).count()).collect()
}

fn check_two_classes(dataset: &Dataset, shape: Shape) {
    assert_eq!((dataset.classes, dataset.train.shape), (2, shape));
    assert_eq!(dataset.train.len(), 10_000);
    let test = dataset.test.as_ref().unwrap();
    assert_eq!((counts(&test.labels), test.len()), (vec![1000, 1000], 2000));
    for examples in [&dataset.train, test] {
        assert_eq!(examples.features.len(), examples.len() * shape.features());
        assert!(examples.features.iter().all(|feature| (0.0..=1.0).contains(feature)));
    }
}

#[test]
fn fashion_mnist() {
    let Some(folder) = folder_with("fashion-mnist/train-images-idx3-ubyte.gz") else { return };
    let dataset = load("fashion-mnist", Some(&folder), 10_000, 0).unwrap();
    check_two_classes(&dataset, Shape { channels: 1, height: 28, width: 28 });
    // T-shirts are wider than trousers: the outer columns tell the classes apart.
    let brightness = |class: u16| {
        let of_class = (0..dataset.train.len()).filter(|&index| dataset.train.labels[index] == class);
        let outer = |index| dataset.train.record(index).chunks(28).map(|row| row[4] + row[23]).sum::<f32>();
        of_class.map(outer).sum::<f32>()
    };
    assert!(brightness(0) > 2.0 * brightness(1));
}

#[test]
fn cifar_10() {
    let Some(folder) = folder_with("cifar-10/cifar10-airplane-automobile-train.bin") else { return };
    let dataset = load("cifar-10", Some(&folder), 10_000, 0).unwrap();
    check_two_classes(&dataset, Shape { channels: 3, height: 32, width: 32 });
    assert_eq!(counts(&dataset.train.labels), [5000, 5000]);
    let smaller = load("cifar-10", Some(&folder), 1_000, 1).unwrap();
    assert_eq!(smaller.train.len(), 1_000);
    assert_ne!(smaller.train, load("cifar-10", Some(&folder), 1_000, 2).unwrap().train);
}

/// Both official archives hold the same images.
#[test]
fn cifar_10_archives_agree() {
    let Some(folder) = folder_with("cifar-10/fixture-cifar-10-python.tar.gz") else { return };
    let [binary, python] = ["binary", "python"].map(|format| {
        let archive = fs::read(folder.join(format!("cifar-10/fixture-cifar-10-{format}.tar.gz"))).unwrap();
        let official = tempfile::tempdir().unwrap();
        fixtures::put(official.path(), &format!("cifar-10/cifar-10-{format}.tar.gz"), &archive);
        load("cifar-10", Some(official.path()), 30, 0).unwrap()
    });
    assert_eq!(binary, python);
    assert_eq!(binary.content_hash(), python.content_hash());
}

#[test]
fn purchase_100() {
    let Some(folder) = folder_with("purchase-100/synth_p100.tgz") else { return };
    let dataset = load("purchase-100", Some(&folder), 10_000, 0).unwrap();
    let real = folder.join("purchase-100/dataset_purchase.tgz").is_file();
    assert_eq!(dataset.name.contains("stand-in"), !real);
    assert_eq!((dataset.classes, dataset.train.shape), (100, Shape::flat(600)));
    assert_eq!((dataset.train.len(), dataset.test.unwrap().len()), (10_000, 2_000));
    let ones: f32 = dataset.train.features.iter().sum();
    assert!((0.1..0.3).contains(&(ones / dataset.train.features.len() as f32)));
}

#[test]
fn location_30() {
    let Some(folder) = folder_with("purchase-100/dataset_location.tgz") else { return };
    let dataset = load("location-30", Some(&folder), 4_000, 0).unwrap();
    assert_eq!((dataset.name.as_str(), dataset.classes), ("location-30", 30));
    assert_eq!(dataset.train.shape, Shape::flat(446));
    assert_eq!((dataset.train.len(), dataset.test.unwrap().len()), (4_000, 800));
    assert!((0..30).all(|class| dataset.train.labels.contains(&class)));
    assert!(load("location-30", Some(&folder), 5_010, 0).unwrap().test.is_none());
    assert!(
        load("location-30", Some(&folder), 10_000, 0).unwrap_err().to_string().contains("from 1 to 5010")
    );
}
