//! A batch in CIFAR-10's Python format: a pickled dictionary of `data` (an array of bytes, n x 3072) and `labels` (a list).

use super::{ImagesOfClasses, Problem, SHAPE};
use crate::data::pickle::Pickle;

/// Adds the images in `bytes`.
pub(in crate::data) fn gather(bytes: &[u8], images: &mut ImagesOfClasses) -> Result<(), Problem> {
    let pickle = Pickle::read(bytes)?;
    let (shape, pixels) = pickle.byte_array("data")?;
    let labels = pickle.integers("labels")?;
    let expected = [labels.len(), SHAPE.features()];
    if labels.is_empty() || shape != expected {
        return Err(format!("there are {} labels, but data has the shape {shape:?}", labels.len()));
    }
    for (index, (&label, pixels)) in labels.iter().zip(pixels.chunks_exact(SHAPE.features())).enumerate() {
        if !(0..=9).contains(&label) {
            return Err(format!("label {label} of image {index} (counted from 0) is not one of 0 to 9"));
        }
        images.add(label as u16, pixels);
    }
    Ok(())
}
