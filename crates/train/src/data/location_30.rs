//! Location-30: for each person, which of 446 places they visited; 30 kinds of persons (Shokri et al., 2017).

use super::labelled_bits::{FileLayout, from_archive, from_file};
use super::selection::choose;
use super::{Dataset, Error, Result};
use std::path::Path;

const NAME: &str = "location-30";

const FILE_LAYOUT: FileLayout = FileLayout { classes: 30, features: 446 };

/// The archive's member, named after the city.
const MEMBER: &str = "bangkok";

/// Folders searched below the data folder. The archive is often stored beside that of Purchase-100.
const FOLDERS: [&str; 3] = [NAME, "purchase-100", ""];

const FILES: &str = "dataset_location.tgz from the Privacy and Trust Lab (https://github.com/privacytrustlab/datasets) into \
                     its subfolder location-30";

/// Loads `size` training records; the file has 5,010. There is no test data, so records that were not chosen replace it.
pub(super) fn load(folder: Option<&Path>, size: usize, seed: u64) -> Result<Dataset> {
    let missing = || Error::Missing { dataset: NAME, folder: folder.map(Path::to_owned), files: FILES };
    let data_folder = folder.ok_or_else(missing)?;
    for place in FOLDERS.map(|below| data_folder.join(below)) {
        let [archive, text] = ["dataset_location.tgz", MEMBER].map(|name| place.join(name));
        let records = if archive.is_file() {
            from_archive(&archive, MEMBER, FILE_LAYOUT)?
        } else if text.is_file() {
            from_file(&text, FILE_LAYOUT)?
        } else {
            continue;
        };
        return choose(NAME, FILE_LAYOUT.classes, &records, None, size, seed);
    }
    Err(missing())
}
