//! Batch logs in `.npy` files: arrays of record indices, epochs x batches x records.

use super::BatchLog;
use crate::npy::{self, BLOCK, Element};
use crate::{Error, Result};
use std::io::Read;
use std::path::Path;

/// Reads the batches in a file of `file_length` bytes.
pub fn read(path: &Path, file: impl Read, file_length: u64) -> Result<BatchLog> {
    let (header, mut input) = npy::open(path, file, file_length)?;
    let is_whole = header.element.contains(['i', 'u']);
    let Some(element) = Element::from_name(&header.element).filter(|_| is_whole) else {
        let problem = format!("the elements are of type {:?}", header.element);
        return Err(Error::malformed(path, problem, "convert them to int64 with .astype(\"<i8\")"));
    };
    let ([batches, width] | [_, batches, width]) = header.shape[..] else {
        let problem = format!("the array has the shape {:?}", header.shape);
        return Err(Error::malformed(path, problem, SHAPE));
    };
    if header.fortran_order {
        return Err(Error::malformed(
            path,
            "the array is in Fortran's order",
            "save numpy.ascontiguousarray(it)",
        ));
    }
    let entries = header.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
    let claimed =
        entries.map(|entries| u128::from(entries) * element.size() as u128 + u128::from(header.length));
    let (Some(entries), true) = (entries, claimed == Some(u128::from(file_length))) else {
        let problem =
            format!("the header claims the shape {:?}, which is not what the file has", header.shape);
        return Err(Error::malformed(
            path,
            problem,
            "it is cut short or holds more than one array: save it again",
        ));
    };
    let mut log = BatchLog::default();
    let mut bytes = vec![0; BLOCK.min(entries.saturating_mul(8) as usize)];
    let mut values: Vec<f64> = Vec::new();
    let (mut left, mut place) = (entries, 0_u64);
    while left > 0 {
        let count = left.min((BLOCK / element.size()) as u64);
        let piece = &mut bytes[..count as usize * element.size()];
        input.read_exact(piece).map_err(|error| npy::failed(path, error))?;
        values.clear();
        element.append(piece, &mut values);
        for &value in &values {
            let batch = place / width;
            let wrong = |problem: String| {
                Error::malformed(path, format!("batch {batch} (counted from 0) {problem}"), SHAPE)
            };
            if value >= 0.0 {
                log.push_record(value as u64).map_err(wrong)?;
            } else if value != -1.0 {
                return Err(wrong(format!("holds {value}, which is neither an index nor -1 for no record")));
            }
            place += 1;
            if place.is_multiple_of(width) {
                let epoch =
                    u32::try_from(batch / batches).map_err(|_| wrong("is in too late an epoch".into()))?;
                log.end_batch(epoch, 0, None);
            }
        }
        left -= count;
    }
    Ok(log)
}

const SHAPE: &str = "save integers of shape (epochs, batches, batch size), with -1 where a batch is shorter";
