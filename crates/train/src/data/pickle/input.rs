//! Reads the bytes of a pickle program.

use super::Problem;

/// The unread rest of the program.
pub(super) struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Takes the next `count` bytes.
    pub fn bytes(&mut self, count: u64) -> Result<&'a [u8], Problem> {
        let parts = usize::try_from(count).ok().and_then(|count| self.0.split_at_checked(count));
        let (taken, left) = parts.ok_or("the pickle is cut short")?;
        self.0 = left;
        Ok(taken)
    }

    /// Takes the next `N` bytes as a little-endian number.
    pub fn number<const N: usize>(&mut self) -> Result<u64, Problem> {
        let bytes = self.bytes(N as u64)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Takes a string; its length is stored first, in `N` bytes.
    pub fn counted<const N: usize>(&mut self) -> Result<&'a [u8], Problem> {
        let count = self.number::<N>()?;
        self.bytes(count)
    }

    /// Takes an integer of up to eight bytes in two's complement; its length is stored first.
    pub fn long(&mut self) -> Result<i64, Problem> {
        let bytes = self.counted::<1>()?;
        if bytes.len() > 8 {
            return Err(format!("the pickle holds an integer of {} bytes", bytes.len()));
        }
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut padded = [if negative { 0xff } else { 0 }; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        Ok(i64::from_le_bytes(padded))
    }

    /// Takes the rest of the line, without the newline.
    pub fn line(&mut self) -> Result<&'a [u8], Problem> {
        let end = self.0.iter().position(|&byte| byte == b'\n').ok_or("the pickle is cut short")?;
        let line = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Ok(line)
    }
}
