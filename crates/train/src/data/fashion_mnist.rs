//! Fashion-MNIST: T-shirts and trousers, 28 x 28 grey pixels (Xiao, Rasul and Vollgraf, 2017).

use super::limited::{open, read_whole};
use super::records::{ImagesOfClasses, Records};
use super::selection::choose;
use super::{Dataset, Error, Result, Shape, idx};
use std::path::{Path, PathBuf};

const NAME: &str = "fashion-mnist";

/// T-shirt and Trouser, the two classes that the paper uses.
const CLASSES: [u16; 2] = [0, 1];

const SHAPE: Shape = Shape { channels: 1, height: 28, width: 28 };

/// Limit for one file; the official training images have 47,040,016 bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Folders searched below the data folder: ours first, then torchvision's.
const FOLDERS: [&str; 3] = [NAME, "FashionMNIST/raw", ""];

const HINT: &str = "download it again from Zalando Research";

const FILES: &str = "train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and \
                     t10k-labels-idx1-ubyte.gz from Zalando Research (https://github.com/zalandoresearch/fashion-mnist) \
                     into its subfolder fashion-mnist";

/// Loads the two classes: `size` training images (the official files have 12,000) and all test images.
pub(super) fn load(folder: Option<&Path>, size: usize, seed: u64) -> Result<Dataset> {
    let missing = || Error::Missing { dataset: NAME, folder: folder.map(Path::to_owned), files: FILES };
    let data_folder = folder.ok_or_else(missing)?;
    let places = FOLDERS.map(|below| data_folder.join(below));
    let place = places.iter().find(|place| find(place, "train-images-idx3-ubyte").is_some());
    let place = place.ok_or_else(missing)?;
    let part = |images: &str, labels: &str| match (find(place, images), find(place, labels)) {
        (Some(images), Some(labels)) => read(&images, &labels),
        _ => Err(missing()),
    };
    let train = part("train-images-idx3-ubyte", "train-labels-idx1-ubyte")?;
    let test = part("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")?;
    choose(NAME, CLASSES.len(), &train, Some(&test), size, seed)
}

/// Finds the file of this name in `folder`, gzipped as distributed or unpacked.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    [format!("{name}.gz"), name.to_owned()]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|path| path.is_file())
}

/// Reads the images of the two classes from a pair of IDX files.
fn read(images_path: &Path, labels_path: &Path) -> Result<Records> {
    let bytes = |path| {
        let refused = Error::in_file(path, HINT);
        read_whole(open(path, MOST_BYTES)?, MOST_BYTES).map_err(refused)
    };
    let (image_bytes, label_bytes) = (bytes(images_path)?, bytes(labels_path)?);
    let refuse_images = Error::in_file(images_path, HINT);
    let refuse_labels = Error::in_file(labels_path, HINT);
    let ([images, height, width], pixels) = idx::elements::<3>(&image_bytes).map_err(&refuse_images)?;
    if (height, width) != (SHAPE.height, SHAPE.width) {
        return Err(refuse_images(format!(
            "the images have {height} x {width} pixels, but 28 x 28 are expected"
        )));
    }
    let ([count], labels) = idx::elements::<1>(&label_bytes).map_err(&refuse_labels)?;
    if count != images {
        return Err(refuse_labels(format!("there are {count} labels for {images} images")));
    }
    if let Some(index) = labels.iter().position(|&label| label > 9) {
        return Err(refuse_labels(format!("label {} at index {index} is not one of 0 to 9", labels[index])));
    }
    let mut gathered = ImagesOfClasses::new(SHAPE, &CLASSES);
    for (&label, image) in labels.iter().zip(pixels.chunks_exact(SHAPE.features())) {
        gathered.add(label.into(), image);
    }
    Ok(gathered.finish())
}
