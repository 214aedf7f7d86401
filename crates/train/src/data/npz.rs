//! Data sets in NumPy's `.npz` files: one array of features, one of labels.

use super::array::Array;
use super::error::Problem;
use super::limited::{MOST_MEMORY, unreadable};
use super::records::{Records, Values};
use super::selection::choose;
use super::{Dataset, Error, Result, Shape};
use std::io::{BufReader, Read, Seek};
use std::path::Path;

/// Accepted names of the arrays: features, labels, test features, test labels.
const NAMES: [[&str; 4]; 5] = [
    ["features", "labels", "test_features", "test_labels"],
    ["x_train", "y_train", "x_test", "y_test"],
    ["X", "Y", "X_test", "Y_test"],
    ["X", "y", "X_test", "y_test"],
    ["arr_0", "arr_1", "arr_2", "arr_3"],
];

/// Largest number of classes; labels then fit `u16`.
const MOST_CLASSES: usize = 1 << 16;

const HINT: &str =
    "save it with numpy.savez(FILE, features=..., labels=...), one row of features and one label a record";

/// The records of a `.npz` file.
pub(super) struct LabelledArrays {
    pub train: Records,
    pub test: Option<Records>,
    pub classes: usize,
}

/// Loads the data set in the file at `path`; its name is the file's name.
///
/// Features are used unchanged, with one exception: byte arrays with a value above 1 are pixels and are divided by 255. Records
/// have the shape n (features), n x height x width, or n x channels x height x width. Labels are whole numbers from 0, or one-hot
/// rows. If the file has no test data, records that were not chosen replace it.
pub(super) fn load(path: &Path, size: usize, seed: u64) -> Result<Dataset> {
    let arrays = LabelledArrays::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    choose(&name, arrays.classes, &arrays.train, arrays.test.as_ref(), size, seed)
}

impl LabelledArrays {
    /// Reads the arrays. The first known pair of names that the file has is used.
    pub fn read(path: &Path) -> Result<Self> {
        let refused = Error::in_file(path, HINT);
        let (file, _) = misdeal_files::input::open(path)?;
        let archive = zip::ZipArchive::new(BufReader::with_capacity(1 << 16, file));
        let mut archive = archive.map_err(|error| refused(format!("it is not a .npz file: {error}")))?;
        Self::from_archive(&mut archive).map_err(&refused)
    }

    pub fn from_archive<R: Read + Seek>(
        archive: &mut zip::ZipArchive<R>,
    ) -> std::result::Result<Self, Problem> {
        let has = |name: &&str| archive.index_for_name(&format!("{name}.npy")).is_some();
        let names = NAMES.iter().find(|names| names[..2].iter().all(has));
        let [features, labels, test_features, test_labels] =
            names.ok_or("it has no arrays features and labels")?;
        let tested = has(test_features) && has(test_labels);
        let (train, classes) = records(archive, features, labels, MOST_MEMORY)?;
        if !tested {
            return Ok(LabelledArrays { train, test: None, classes });
        }
        let left = MOST_MEMORY.saturating_sub(train.bytes());
        let (test, test_classes) = records(archive, test_features, test_labels, left)?;
        if test.shape != train.shape {
            return Err(format!(
                "records have the shape {}, but those for testing {}",
                train.shape, test.shape
            ));
        }
        Ok(LabelledArrays { train, test: Some(test), classes: classes.max(test_classes) })
    }
}

/// Reads the records in two arrays of at most `most` bytes, and the number of classes.
fn records<R: Read + Seek>(
    archive: &mut zip::ZipArchive<R>,
    features: &str,
    labels: &str,
    most: u64,
) -> std::result::Result<(Records, usize), Problem> {
    let array = member(archive, features, most)?;
    let (shape, count) = match array.shape[..] {
        [records, features] => (Shape::flat(features), records),
        [records, height, width] => (Shape { channels: 1, height, width }, records),
        [records, channels, height, width] => (Shape { channels, height, width }, records),
        _ => {
            return Err(format!(
                "{features} has the shape {:?}, but two to four axes are expected",
                array.shape
            ));
        }
    };
    if shape.features() == 0 || count == 0 {
        return Err(format!("{features} has the shape {:?} and no numbers", array.shape));
    }
    let left = most.saturating_sub(4 * array.values.len() as u64);
    let (labels, classes) =
        labels_of(&member(archive, labels, left)?).map_err(|problem| format!("{labels} {problem}"))?;
    if labels.len() != count {
        return Err(format!("there are {} labels for {count} records", labels.len()));
    }
    Ok((Records { shape, values: values_of(array), labels }, classes))
}

/// Reads the array `name`.
fn member<R: Read + Seek>(
    archive: &mut zip::ZipArchive<R>,
    name: &str,
    most: u64,
) -> std::result::Result<Array, Problem> {
    let in_array = |problem| format!("array {name}: {problem}");
    let entry =
        archive.by_name(&format!("{name}.npy")).map_err(|error| in_array(unreadable(error.into())))?;
    let size = entry.size();
    Array::read(entry, size, most).map_err(in_array)
}

/// Byte arrays with a value above 1 are pixels; everything else is used unchanged.
fn values_of(array: Array) -> Values {
    let are_pixels = array.are_bytes && array.values.iter().any(|&value| value > 1.0);
    if are_pixels {
        Values::Pixels(array.values.iter().map(|&value| value as u8).collect())
    } else {
        Values::Numbers(array.values)
    }
}

/// Returns labels from 0, and the number of classes: the largest label plus one, or the length of one-hot rows.
fn labels_of(array: &Array) -> std::result::Result<(Vec<u16>, usize), Problem> {
    match array.shape[..] {
        [_] | [_, 1] => {
            let label = |&value: &f32| {
                let whole = value.fract() == 0.0 && (0.0..MOST_CLASSES as f32).contains(&value);
                if whole { Ok(value as u16) } else { Err(value) }
            };
            let labels: std::result::Result<Vec<u16>, f32> = array.values.iter().map(label).collect();
            let labels = labels.map_err(|value| {
                format!("holds {value}, but whole numbers from 0 to {} are expected", MOST_CLASSES - 1)
            })?;
            let classes = labels.iter().max().map_or(0, |&label| usize::from(label) + 1);
            Ok((labels, classes))
        }
        [_, classes @ 2..=MOST_CLASSES] => {
            let hot = |(index, row): (usize, &[f32])| {
                let hot = row.iter().position(|&value| value == 1.0);
                let cold = row.iter().filter(|&&value| value == 0.0).count() == classes - 1;
                match hot {
                    Some(label) if cold => Ok(label as u16),
                    _ => Err(format!("is not one-hot in row {index} (counted from 0)")),
                }
            };
            let labels: std::result::Result<_, Problem> =
                array.values.chunks_exact(classes).enumerate().map(hot).collect();
            Ok((labels?, classes))
        }
        _ => Err(format!(
            "has the shape {:?}, but one label or one one-hot row a record is expected",
            array.shape
        )),
    }
}
