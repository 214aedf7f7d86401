//! CIFAR-10: airplanes and automobiles, 3 x 32 x 32 pixels (Krizhevsky, 2009), from any of its official distributions.

pub(super) mod binary;
pub(super) mod python;

use super::archive::visit_members;
use super::error::Problem;
use super::limited::{open, read_whole};
use super::records::{ImagesOfClasses, Records};
use super::selection::choose;
use super::{Dataset, Error, Result, Shape};
use std::path::{Path, PathBuf};

const NAME: &str = "cifar-10";

/// Airplane and automobile, the two classes that the paper uses.
const CLASSES: [u16; 2] = [0, 1];

const SHAPE: Shape = Shape { channels: 3, height: 32, width: 32 };

/// Limit for one batch of images.
///
/// An official batch of 10,000 images has 30,730,000 bytes in binary and 31,035,704 as a pickle. A pickle that Python 3 saved
/// again with protocol 2 is about 50 % larger.
const MOST_BATCH_BYTES: u64 = 64 << 20;

/// Limit for an unpacked archive; the official archives unpack to about 186,000,000 bytes.
const MOST_ARCHIVE_BYTES: u64 = 384 << 20;

const HINT: &str = "download it again from the University of Toronto";

const FILES: &str = "cifar-10-binary.tar.gz or cifar-10-python.tar.gz from the University of Toronto \
                     (https://www.cs.toronto.edu/~kriz/cifar.html) into its subfolder cifar-10, packed or unpacked";

/// How a distribution writes its batches.
#[derive(Clone, Copy)]
enum Format {
    Binary,
    Python,
}

impl Format {
    /// The name of the official archive, and of the folder inside it.
    fn archive_and_folder(self) -> (&'static str, &'static str) {
        match self {
            Format::Binary => ("cifar-10-binary.tar.gz", "cifar-10-batches-bin"),
            Format::Python => ("cifar-10-python.tar.gz", "cifar-10-batches-py"),
        }
    }

    /// The file names of the batches in the folder; the test data come last.
    fn batches(self) -> Vec<String> {
        let extension = match self {
            Format::Binary => ".bin",
            Format::Python => "",
        };
        let train = (1..=5).map(|batch| format!("data_batch_{batch}{extension}"));
        train.chain([format!("test_batch{extension}")]).collect()
    }

    fn gather(self, bytes: &[u8], images: &mut ImagesOfClasses) -> std::result::Result<(), Problem> {
        match self {
            Format::Binary => binary::gather(bytes, images),
            Format::Python => python::gather(bytes, images),
        }
    }
}

/// Loads the two classes: `size` training images (the official files have 10,000) and all test images.
pub(super) fn load(folder: Option<&Path>, size: usize, seed: u64) -> Result<Dataset> {
    let missing = || Error::Missing { dataset: NAME, folder: folder.map(Path::to_owned), files: FILES };
    let data_folder = folder.ok_or_else(missing)?;
    for place in [data_folder.join(NAME), data_folder.to_owned()] {
        if let Some((train, test)) = read(&place)? {
            return choose(NAME, CLASSES.len(), &train, Some(&test), size, seed);
        }
    }
    Err(missing())
}

/// Training and test data in `place`, if there are any: an archive, an unpacked archive, or two files with only the two classes.
fn read(place: &Path) -> Result<Option<(Records, Records)>> {
    for format in [Format::Binary, Format::Python] {
        let (archive, folder) = format.archive_and_folder();
        let (archive, unpacked) = (place.join(archive), place.join(folder));
        if archive.is_file() {
            return from_archive(&archive, format).map(Some);
        }
        if unpacked.is_dir() {
            return from_files(
                &format.batches().iter().map(|name| unpacked.join(name)).collect::<Vec<_>>(),
                format,
            )
            .map(Some);
        }
    }
    let cut_out = ["train", "test"].map(|part| place.join(format!("cifar10-airplane-automobile-{part}.bin")));
    if cut_out.iter().all(|path| path.is_file()) {
        from_files(&cut_out, Format::Binary).map(Some)
    } else {
        Ok(None)
    }
}

/// Reads the batches of an archive.
fn from_archive(path: &Path, format: Format) -> Result<(Records, Records)> {
    let folder = format.archive_and_folder().1;
    let names: Vec<String> = format.batches().iter().map(|name| format!("{folder}/{name}")).collect();
    // Batches are put in the order of their names, whatever their order in the archive.
    let mut batches: Vec<_> = names.iter().map(|_| ImagesOfClasses::new(SHAPE, &CLASSES)).collect();
    visit_members(path, &names, MOST_ARCHIVE_BYTES, |index, bytes, size| {
        if size > MOST_BATCH_BYTES {
            return Err(format!("it claims {size} bytes, but a batch has at most {MOST_BATCH_BYTES}"));
        }
        let bytes = read_whole(bytes, size)?;
        if bytes.len() as u64 != size {
            return Err("it is cut short".into());
        }
        format.gather(&bytes, &mut batches[index])
    })?;
    Ok(joined(batches))
}

/// Reads the batches from files; the last file holds the test data.
fn from_files(paths: &[PathBuf], format: Format) -> Result<(Records, Records)> {
    let batch = |path: &PathBuf| {
        let refused = Error::in_file(path, HINT);
        let bytes = read_whole(open(path, MOST_BATCH_BYTES)?, MOST_BATCH_BYTES).map_err(&refused)?;
        let mut images = ImagesOfClasses::new(SHAPE, &CLASSES);
        format.gather(&bytes, &mut images).map_err(&refused)?;
        Ok(images)
    };
    Ok(joined(paths.iter().map(batch).collect::<Result<_>>()?))
}

/// Joins all batches except the last; returns the joined batches and the last one.
fn joined(batches: Vec<ImagesOfClasses>) -> (Records, Records) {
    let mut train = ImagesOfClasses::new(SHAPE, &CLASSES);
    let mut test = ImagesOfClasses::new(SHAPE, &CLASSES);
    for batch in batches {
        train.append(std::mem::replace(&mut test, batch));
    }
    (train.finish(), test.finish())
}
