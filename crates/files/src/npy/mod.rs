//! Headers and elements of `.npy` arrays, for scores, batch logs and data sets.

mod element;
mod header;

pub use element::Element;
pub(crate) use header::MAGIC;
pub use header::{Header, Problem, read_header};

use crate::{Error, Result};
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Bytes that are read and converted at a time, a multiple of 8.
pub(crate) const BLOCK: usize = 1 << 18;

const SAVE_AGAIN: &str = "save it again with numpy.save";

/// The header of a file of `file_length` bytes, and what follows it.
pub(crate) fn open<R: Read>(path: &Path, file: R, file_length: u64) -> Result<(Header, BufReader<R>)> {
    let mut input = BufReader::with_capacity(file_length.min(BLOCK as u64) as usize, file);
    let header = read_header(&mut input).map_err(|error| failed(path, error))?;
    let header =
        header.map_err(|problem| Error::malformed(path, format!("the header {problem}"), SAVE_AGAIN))?;
    Ok((header, input))
}

/// A file that ends too early, or that cannot be read.
pub(crate) fn failed(path: &Path, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        Error::malformed(path, "the file is cut short", SAVE_AGAIN)
    } else {
        Error::io(path, "read", error)
    }
}
