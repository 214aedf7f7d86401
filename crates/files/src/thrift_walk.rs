//! How many elements a struct in Thrift's compact form claims to have, before anybody reads it.

/// Structs, lists and maps within each other that are looked into; the Parquet reader gives up at the same depth.
const DEEPEST: u32 = 64;

const STOP: u8 = 0;
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Refuses a struct whose lists, sets and maps claim more elements together than `most`, and gives what they claim.
///
/// An element takes at least a byte, so that a sound struct claims at most its length. The Parquet reader takes no byte for an element that is true or
/// false where it skips a list, and goes through as many as the list claims (found by fuzzing: two thousand million for a file of 1349 bytes, and seconds).
/// Fields are followed as their headers declare them and as that reader skips them. What is cut off or unknown ends the walk: the reader will say so.
pub(crate) fn claimed_elements(bytes: &[u8], most: u64) -> Option<u64> {
    let mut walk = Walk { bytes, claimed: 0, most };
    match walk.skip(STRUCT, DEEPEST) {
        Err(Halt::TooMany) => None,
        Ok(()) | Err(Halt::Unreadable) => Some(walk.claimed),
    }
}

enum Halt {
    TooMany,
    Unreadable,
}

struct Walk<'a> {
    bytes: &'a [u8],
    claimed: u64,
    most: u64,
}

impl Walk<'_> {
    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), Halt> {
        if depth == 0 {
            return Err(Halt::Unreadable);
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            4..=6 => self.number().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => self.number().and_then(|length| self.pass(length)),
            LIST | SET => {
                let header = self.byte()?;
                let size = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
                self.elements(size, &[header & 15], depth)
            }
            MAP => match self.number()? {
                0 => Ok(()),
                size => self.byte().and_then(|kinds| self.elements(size, &[kinds >> 4, kinds & 15], depth)),
            },
            STRUCT => loop {
                let header = self.byte()?;
                if header & 15 == STOP {
                    return Ok(());
                }
                if header >> 4 == 0 {
                    self.number()?;
                }
                self.skip(header & 15, depth - 1)?;
            },
            UUID => self.pass(16),
            _ => Err(Halt::Unreadable),
        }
    }

    /// Passes a list's elements, or a map's pairs.
    fn elements(&mut self, size: u64, kinds: &[u8], depth: u32) -> Result<(), Halt> {
        self.claimed = self.claimed.saturating_add(size);
        if self.claimed > self.most {
            return Err(Halt::TooMany);
        }
        for _ in 0..size {
            for &kind in kinds {
                self.skip(kind, depth - 1)?;
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Halt> {
        let (&first, rest) = self.bytes.split_first().ok_or(Halt::Unreadable)?;
        self.bytes = rest;
        Ok(first)
    }

    fn pass(&mut self, length: u64) -> Result<(), Halt> {
        let length = usize::try_from(length).map_err(|_| Halt::Unreadable)?;
        self.bytes = self.bytes.get(length..).ok_or(Halt::Unreadable)?;
        Ok(())
    }

    /// A whole number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64, Halt> {
        let mut value = 0_u64;
        for place in 0..10 {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Halt::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_claims_what_its_header_says() {
        // Field 1, a list of three 32-bit numbers; field 2, a struct with a string; the end.
        let sound = [0x19, 0x35, 0x02, 0x80, 0x01, 0x04, 0x1c, 0x18, 0x02, b'a', b'b', 0x00, 0x00];
        assert_eq!(claimed_elements(&sound, 13), Some(3));
        assert_eq!(claimed_elements(&sound, 2), None);
        assert_eq!(claimed_elements(&sound[..4], 13), Some(3), "what is cut off is not refused here");
    }

    #[test]
    fn elements_without_bytes_are_counted() {
        // 2^28 - 1 elements that are true or false, alone, within lists, and as keys of a map.
        let many = [0xff, 0xff, 0xff, 0x7f];
        assert_eq!(claimed_elements(&[&[0x19, 0xf1], &many[..], &[0x00]].concat(), 1000), None);
        assert_eq!(claimed_elements(&[&[0x19, 0x19, 0xf2], &many[..], &[0x00]].concat(), 1000), None);
        assert_eq!(claimed_elements(&[&[0x1b], &many[..], &[0x12, 0x00]].concat(), 1000), None);
        // Empty structs take a byte each, and end with the bytes.
        assert_eq!(claimed_elements(&[&[0x19, 0xfc, 0x90, 0x07], &[0; 10][..]].concat(), 1000), Some(912));
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(claimed_elements(&[0x1c; 10_000], 10), Some(0));
        assert_eq!(claimed_elements(&[0x19; 10_000], 10_000), Some(63));
    }
}
