//! Purchase-100: for each customer, which of 600 things they bought; 100 kinds of customers (Shokri et al., 2017).

use super::labelled_bits::{FileLayout, from_archive, from_file};
use super::npz::LabelledArrays;
use super::records::{Records, Values};
use super::selection::choose;
use super::{Dataset, Error, Result};
use std::path::Path;

const NAME: &str = "purchase-100";

/// Name in reports of the synthetic data that share only their shape with Purchase-100.
const STAND_IN: &str = "purchase-100 (synthetic stand-in)";

/// Number of the stand-in's rows for training; the rows after them are for testing.
const STAND_IN_TRAINING_ROWS: usize = 10_000;

const FILE_LAYOUT: FileLayout = FileLayout { classes: 100, features: 600 };

const FILES: &str = "dataset_purchase.tgz from the Privacy and Trust Lab (https://github.com/privacytrustlab/datasets), or \
                     purchase100.npz with the arrays features and labels, into its subfolder purchase-100";

/// Loads `size` training records. The official files have no test data, so records that were not chosen replace it.
///
/// Real data are preferred. If there is only the synthetic stand-in `synth_p100.tgz`, it is loaded, and its name says so.
pub(super) fn load(folder: Option<&Path>, size: usize, seed: u64) -> Result<Dataset> {
    let missing = || Error::Missing { dataset: NAME, folder: folder.map(Path::to_owned), files: FILES };
    let data_folder = folder.ok_or_else(missing)?;
    let places = [data_folder.join(NAME), data_folder.to_owned()];
    for place in &places {
        if let Some(records) = real(place)? {
            return choose(NAME, FILE_LAYOUT.classes, &records, None, size, seed);
        }
    }
    for place in &places {
        let path = place.join("synth_p100.tgz");
        if path.is_file() {
            let records = from_archive(&path, "synth_p100", FILE_LAYOUT)?;
            let training_rows = STAND_IN_TRAINING_ROWS.min(records.labels.len());
            let (pool, test) = records.split_at(training_rows);
            return choose(STAND_IN, FILE_LAYOUT.classes, &pool, Some(&test), size, seed);
        }
    }
    Err(missing())
}

/// Reads the real data in `place`, if there are any.
fn real(place: &Path) -> Result<Option<Records>> {
    let [archive, text] = ["dataset_purchase.tgz", "dataset_purchase"].map(|name| place.join(name));
    if archive.is_file() {
        return from_archive(&archive, "dataset_purchase", FILE_LAYOUT).map(Some);
    }
    if text.is_file() {
        return from_file(&text, FILE_LAYOUT).map(Some);
    }
    let arrays = ["purchase100.npz", "purchase-100.npz"].map(|name| place.join(name));
    arrays.iter().find(|path| path.is_file()).map(|path| from_arrays(path)).transpose()
}

/// Reads the records of a `.npz` copy. Labels may be one-hot, 0 to 99, or 1 to 100 as in the text file.
fn from_arrays(path: &Path) -> Result<Records> {
    let refused =
        Error::in_file(path, "save 600 zeros and ones a record, and one of 100 classes as its label");
    let mut records = LabelledArrays::read(path)?.train;
    let features = records.shape.features();
    if features != FILE_LAYOUT.features {
        return Err(refused(format!(
            "there are {features} features, but {} are expected",
            FILE_LAYOUT.features
        )));
    }
    if let Values::Numbers(numbers) = &records.values
        && let Some(place) = numbers.iter().position(|&number| number != 0.0 && number != 1.0)
    {
        let (record, feature) = (place / features, place % features);
        return Err(refused(format!(
            "feature {feature} of record {record} (counted from 0) is neither 0 nor 1"
        )));
    }
    if let Values::Pixels(_) = &records.values {
        return Err(refused("the features are bytes other than 0 and 1".into()));
    }
    if !records.labels.contains(&0)
        && records.labels.iter().all(|&label| usize::from(label) <= FILE_LAYOUT.classes)
    {
        records.labels.iter_mut().for_each(|label| *label -= 1);
    }
    if let Some(&label) = records.labels.iter().find(|&&label| usize::from(label) >= FILE_LAYOUT.classes) {
        return Err(refused(format!("label {label} is beyond the {} classes", FILE_LAYOUT.classes)));
    }
    Ok(records)
}
