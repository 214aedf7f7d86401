//! Image sets from small files made here: what is in them comes out, in the file's order and scaled.

use crate::fixtures::*;
use misdeal_train::data::{Examples, Shape, load};
use std::fs;
use tempfile::tempdir;

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
            for (name, bytes) in &members {
                put(folder.path(), &format!("{below}{name}"), bytes);
            }
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
