//! A batch in CIFAR-10's binary format: for each image, a label byte and 3,072 pixel bytes, channel by channel (red first), row by
//! row.

use super::{ImagesOfClasses, Problem, SHAPE};

/// Adds the images in `bytes`.
pub(in crate::data) fn gather(bytes: &[u8], images: &mut ImagesOfClasses) -> Result<(), Problem> {
    let (record, length) = (1 + SHAPE.features(), bytes.len());
    if bytes.is_empty() || !length.is_multiple_of(record) {
        return Err(format!("it has {length} bytes, which is not a positive multiple of {record}"));
    }
    for (index, record) in bytes.chunks_exact(record).enumerate() {
        let (label, pixels) = (record[0], &record[1..]);
        if label > 9 {
            return Err(format!("label {label} of image {index} (counted from 0) is not one of 0 to 9"));
        }
        images.add(label.into(), pixels);
    }
    Ok(())
}
