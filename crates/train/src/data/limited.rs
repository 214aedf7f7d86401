//! Reads untrusted files up to a limit.

use super::error::Problem;
use super::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Limit in bytes for a data set in memory. Without it, half a megabyte of packed zeros took 2 GB.
pub(super) const MOST_MEMORY: u64 = 950_000_000;

/// Formats bytes as megabytes, rounded up.
pub(super) fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}

/// A reader that fails if there are more than `limit` bytes.
pub(super) struct Limited<R> {
    inner: R,
    limit: u64,
    left: u64,
}

impl<R: Read> Limited<R> {
    pub fn new(inner: R, limit: u64) -> Self {
        Limited { inner, limit, left: limit }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return match self.inner.read(&mut [0])? {
                0 => Ok(0),
                _ => Err(io::Error::other(format!(
                    "it unpacks to more than {} bytes, the most that is read of such a file",
                    self.limit
                ))),
            };
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Opens a regular file, unpacks it if its first bytes are gzip's, and limits it to `limit` bytes.
pub(super) fn open(path: &Path, limit: u64) -> Result<Limited<Box<dyn Read>>> {
    let (file, _) = misdeal_files::input::open(path)?;
    unpacked(BufReader::with_capacity(1 << 16, file), limit).map_err(Error::io(path))
}

/// Unpacks `input` if its first bytes are gzip's, and limits it to `limit` bytes.
pub(super) fn unpacked(mut input: impl BufRead + 'static, limit: u64) -> io::Result<Limited<Box<dyn Read>>> {
    let packed = input.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    let bytes: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(input)) } else { Box::new(input) };
    Ok(Limited::new(bytes, limit))
}

/// Reads all bytes of `input`, at most `expected`. Memory is at most twice the bytes read.
pub(super) fn read_whole(input: impl Read, expected: u64) -> std::result::Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    Limited::new(input, expected).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

/// Describes a failed read.
#[allow(clippy::needless_pass_by_value, reason = "for map_err")]
pub(super) fn unreadable(error: io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it is cut short".into(),
        _ => format!("it cannot be unpacked: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn up_to_the_limit_and_not_beyond() {
        assert_eq!(read_whole(&[7; 10][..], 10).unwrap(), [7; 10]);
        assert_eq!(read_whole(&[7; 10][..], 11).unwrap(), [7; 10]);
        assert!(read_whole(&[7; 10][..], 9).unwrap_err().contains("more than 9 bytes"));
        assert!(read_whole(io::repeat(0), 1 << 20).unwrap_err().contains("more than 1048576 bytes"));
    }
}
