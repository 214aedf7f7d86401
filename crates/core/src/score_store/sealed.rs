//! Streams of bytes that end with a BLAKE3 checksum of everything before it.

use super::ReadError;
use std::io::{self, Read, Write};

const PIECE: usize = 1 << 16;
const SEAL: usize = blake3::OUT_LEN;

/// Writes bytes and computes their checksum.
pub struct SealedWriter<'a> {
    sink: &'a mut dyn Write,
    buffer: Vec<u8>,
    hasher: blake3::Hasher,
}

impl<'a> SealedWriter<'a> {
    pub fn new(sink: &'a mut dyn Write) -> Self {
        SealedWriter { sink, buffer: Vec::with_capacity(PIECE + 64), hasher: blake3::Hasher::new() }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE { self.pass_on() } else { Ok(()) }
    }

    /// Writes `value` with seven bits in each byte, the lowest first (LEB128). The high bit is set if more bytes
    /// follow.
    pub fn write_varint(&mut self, mut value: u64) -> io::Result<()> {
        while value >= 0x80 {
            self.write(&[value as u8 | 0x80])?;
            value >>= 7;
        }
        self.write(&[value as u8])
    }

    /// Writes the checksum.
    pub fn seal(mut self) -> io::Result<()> {
        self.pass_on()?;
        self.sink.write_all(self.hasher.finalize().as_bytes())?;
        self.sink.flush()
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.hasher.update(&self.buffer);
        self.sink.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// Reads the output of a [`SealedWriter`]. Do not trust its data before [`check_seal`](Self::check_seal) succeeds.
pub struct SealedReader<'a> {
    source: &'a mut dyn Read,
    buffer: Box<[u8]>,
    /// `buffer[at..end]` was read from the source but not yet returned.
    at: usize,
    end: usize,
    hasher: blake3::Hasher,
}

impl<'a> SealedReader<'a> {
    pub fn new(source: &'a mut dyn Read) -> Self {
        let buffer = vec![0; PIECE].into_boxed_slice();
        SealedReader { source, buffer, at: 0, end: 0, hasher: blake3::Hasher::new() }
    }

    pub fn read(&mut self, mut target: &mut [u8]) -> Result<(), ReadError> {
        while !target.is_empty() {
            if self.at == self.end && !self.refill()? {
                return Err(ReadError::corrupt("the store is truncated"));
            }
            let length = target.len().min(self.end - self.at);
            target[..length].copy_from_slice(&self.buffer[self.at..self.at + length]);
            target = &mut target[length..];
            self.at += length;
        }
        Ok(())
    }

    /// The next `length` bytes. Memory grows with the bytes that the source has, not with `length`.
    pub fn read_vec(&mut self, length: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        let mut left = length;
        while left > 0 {
            let (start, piece) = (bytes.len(), left.min(PIECE as u64));
            bytes.resize(start + piece as usize, 0);
            self.read(&mut bytes[start..])?;
            left -= piece;
        }
        Ok(bytes)
    }

    pub fn read_varint(&mut self) -> Result<u64, ReadError> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.read(&mut byte)?;
            let low = u64::from(byte[0] & 0x7f);
            if low << shift >> shift != low {
                break;
            }
            value |= low << shift;
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        Err(ReadError::corrupt("the store is altered: a number has more than 64 bits"))
    }

    /// # Errors
    /// A wrong checksum, or bytes after it.
    pub fn check_seal(mut self) -> Result<(), ReadError> {
        self.hasher.update(&self.buffer[..self.at]);
        let computed = self.hasher.finalize();
        // The hash is complete, so later reads may change the hasher.
        let mut seal = [0; SEAL];
        self.buffer.copy_within(self.at..self.end, 0);
        (self.at, self.end) = (0, self.end - self.at);
        self.read(&mut seal)?;
        if computed != seal {
            return Err(ReadError::corrupt("the store is altered: its checksum does not match its contents"));
        }
        if self.at < self.end || self.refill()? {
            return Err(ReadError::corrupt("the store has bytes after its end"));
        }
        Ok(())
    }

    /// Refills the empty buffer. Returns false if the source has no more bytes.
    fn refill(&mut self) -> Result<bool, ReadError> {
        self.hasher.update(&self.buffer[..self.end]);
        (self.at, self.end) = (0, 0);
        loop {
            match self.source.read(&mut self.buffer) {
                Ok(length) => {
                    self.end = length;
                    return Ok(length > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ReadError::Io(error)),
            }
        }
    }
}
