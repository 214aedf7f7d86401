//! Scores in `.npy` files of one-dimensional arrays, read at the speed of the disk.

use super::{check_count, check_finite};
use crate::npy::{self, BLOCK, Element, MAGIC};
use crate::{Error, Result, atomic::write_atomically};
use std::io::Read;
use std::path::Path;

/// Reads the scores in a file of `file_length` bytes.
pub fn read(path: &Path, file: impl Read, file_length: u64) -> Result<Vec<f64>> {
    let (header, mut input) = npy::open(path, file, file_length)?;
    let Some(element) = Element::from_name(&header.element) else {
        let problem = format!("the elements are of type {:?}", header.element);
        return Err(Error::malformed(path, problem, "convert them to float64 with .astype(\"<f8\")"));
    };
    if header.shape.iter().filter(|&&length| length > 1).count() > 1 {
        let problem = format!("the array has the shape {:?}", header.shape);
        return Err(Error::malformed(path, problem, "save one score per entry of a one-dimensional array"));
    }
    // At most one factor exceeds 1, so this product cannot overflow. The number of bytes can.
    let scores: u64 = header.shape.iter().product();
    let claimed = u128::from(scores) * element.size() as u128 + u128::from(header.length);
    if claimed != u128::from(file_length) {
        let problem = format!(
            "the header claims {scores} elements, {claimed} bytes in all, but the file has {file_length}"
        );
        let hint =
            if claimed > u128::from(file_length) { "it is cut short" } else { "save one array to a file" };
        return Err(Error::malformed(path, problem, format!("{hint}: save it again")));
    }

    check_count(path, scores)?;
    let mut values = Vec::with_capacity(scores as usize);
    let mut block = vec![0; BLOCK.min(scores as usize * element.size())];
    let mut left = scores as usize * element.size();
    while left > 0 {
        let bytes = left.min(BLOCK);
        input.read_exact(&mut block[..bytes]).map_err(|error| npy::failed(path, error))?;
        let first = values.len();
        element.append(&block[..bytes], &mut values);
        check_finite(path, first, &values[first..])?;
        left -= bytes;
    }
    Ok(values)
}

/// Writes `scores` atomically as a one-dimensional `float64` array.
///
/// Scores that are not finite are written too; only reading refuses them.
///
/// # Errors
/// The system fails.
pub fn write_npy(path: &Path, scores: &[f64]) -> Result<()> {
    write_atomically(path, |out| {
        let mut header =
            format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", scores.len());
        // NumPy aligns the first element to 64 bytes. Ten bytes come before the text, and a newline ends it.
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header = format!("{header:width$}\n", width = padded - 1);
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&(padded as u16).to_le_bytes())?;
        out.write_all(header.as_bytes())?;
        let mut bytes = Vec::with_capacity(BLOCK);
        for block in scores.chunks(BLOCK / 8) {
            bytes.clear();
            bytes.extend(block.iter().flat_map(|score| score.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
