//! Checks a struct in Thrift's compact encoding before the Parquet reader reads it.

/// Deepest nesting of an unknown field; the Parquet reader has the same limit.
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

/// The known fields of a struct, by number. Other fields may have any type.
pub(crate) type FieldKinds = [(i16, Kind)];

/// The type of a field.
pub(crate) enum Kind {
    /// A number or bytes, by Thrift's type code.
    Plain(u8),
    /// A boolean, stored in the field's header.
    Boolean,
    /// A list.
    List(&'static Kind),
    /// A struct.
    Struct(&'static FieldKinds),
}

impl Kind {
    /// Whether a type code in a header fits this type.
    fn is(&self, kind: u8) -> bool {
        match self {
            // Integers of 16, 32 and 64 bits are encoded alike, and some writers mix up their type codes.
            Self::Plain(4..=6) => (4..=6).contains(&kind),
            Self::Plain(own) => *own == kind,
            Self::Boolean => kind == TRUE || kind == FALSE,
            Self::List(_) => kind == LIST,
            Self::Struct(_) => kind == STRUCT,
        }
    }
}

/// Why a struct must be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsound {
    /// Lists claim more elements than there are bytes.
    TooManyElements,
    /// A known field has another type.
    OtherKind,
    /// An unknown field is nested too deeply.
    TooDeep,
    /// A type code or field number is invalid.
    Unreadable,
}

/// The result of checking a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Whether the bytes contain the complete struct.
    pub whole: bool,
    /// The largest value of the requested field, if present; only 32 bits, as in the Parquet reader.
    pub number: Option<i32>,
}

/// Checks the types of a struct's fields, and that its lists claim at most `most` elements in total.
///
/// Also returns the number in field `asked`.
///
/// An element takes at least one byte, so an intact struct claims at most as many elements as it has bytes. When the Parquet
/// reader skips a list of booleans, it uses no bytes and loops as often as the list claims. (Fuzzing found two thousand million
/// loops for a file of 1349 bytes.)
pub(crate) fn check(bytes: &[u8], shape: &FieldKinds, most: u64, asked: i16) -> Result<Seen, Unsound> {
    let mut walk = Walk { bytes, claimed: 0, most };
    let mut number = None;
    let ended = walk.fields(shape, &mut |field, value| {
        if field == asked {
            number = number.max(Some(value as i32));
        }
    });
    match ended {
        Ok(()) => Ok(Seen { whole: true, number }),
        Err(Halt::Cut) => Ok(Seen { whole: false, number }),
        Err(Halt::Unsound(why)) => Err(why),
    }
}

enum Halt {
    Unsound(Unsound),
    Cut,
}

struct Walk<'a> {
    bytes: &'a [u8],
    claimed: u64,
    most: u64,
}

impl Walk<'_> {
    /// Skips the fields of a known struct, and calls `tell` with each field's number and integer value.
    fn fields(&mut self, shape: &FieldKinds, tell: &mut dyn FnMut(i16, i64)) -> Result<(), Halt> {
        let mut last = 0_i16;
        loop {
            let header = self.byte()?;
            let declared = header & 15;
            if declared == STOP {
                return Ok(());
            }
            last = match header >> 4 {
                0 => self.field_number()?,
                step => last.checked_add(i16::from(step)).ok_or(Halt::Unsound(Unsound::Unreadable))?,
            };
            match shape.iter().find(|(number, _)| *number == last) {
                Some((_, kind)) if !kind.is(declared) => return Err(Halt::Unsound(Unsound::OtherKind)),
                Some((_, Kind::Plain(4..=6))) => tell(last, signed(self.number()?)),
                Some((_, kind)) => self.known(kind)?,
                None => self.skip(declared, DEEPEST)?,
            }
        }
    }

    /// Skips a value of a known type.
    fn known(&mut self, kind: &Kind) -> Result<(), Halt> {
        match kind {
            Kind::Plain(kind) => self.skip(*kind, DEEPEST),
            Kind::Boolean => Ok(()),
            Kind::Struct(shape) => self.fields(shape, &mut |_, _| ()),
            Kind::List(element) => {
                let (size, declared) = self.list()?;
                if size > 0 && !element.is(declared) {
                    return Err(Halt::Unsound(Unsound::OtherKind));
                }
                (0..size).try_for_each(|_| self.known(element))
            }
        }
    }

    /// Skips a value by its declared type.
    fn skip(&mut self, kind: u8, depth: u32) -> Result<(), Halt> {
        if depth == 0 {
            return Err(Halt::Unsound(Unsound::TooDeep));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.pass(1),
            4..=6 => self.number().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => self.number().and_then(|length| self.pass(length)),
            LIST | SET => {
                let (size, kind) = self.list()?;
                (0..size).try_for_each(|_| self.skip(kind, depth - 1))
            }
            MAP => {
                let size = self.number()?;
                self.claim(size)?;
                let kinds = if size > 0 { self.byte()? } else { 0 };
                (0..size).try_for_each(|_| {
                    self.skip(kinds >> 4, depth - 1).and_then(|()| self.skip(kinds & 15, depth - 1))
                })
            }
            STRUCT => loop {
                // Unknown structs may have any fields, so the field's number is not needed.
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
            _ => Err(Halt::Unsound(Unsound::Unreadable)),
        }
    }

    /// Reads the size of a list and the type of its elements.
    fn list(&mut self) -> Result<(u64, u8), Halt> {
        let header = self.byte()?;
        let size = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
        self.claim(size)?;
        Ok((size, header & 15))
    }

    fn claim(&mut self, elements: u64) -> Result<(), Halt> {
        self.claimed = self.claimed.saturating_add(elements);
        if self.claimed > self.most { Err(Halt::Unsound(Unsound::TooManyElements)) } else { Ok(()) }
    }

    fn byte(&mut self) -> Result<u8, Halt> {
        let (&first, rest) = self.bytes.split_first().ok_or(Halt::Cut)?;
        self.bytes = rest;
        Ok(first)
    }

    fn pass(&mut self, length: u64) -> Result<(), Halt> {
        let length = usize::try_from(length).map_err(|_| Halt::Cut)?;
        self.bytes = self.bytes.get(length..).ok_or(Halt::Cut)?;
        Ok(())
    }

    /// Reads a field's number that is given in full, not as a difference.
    fn field_number(&mut self) -> Result<i16, Halt> {
        Ok(signed(self.number()?) as i16)
    }

    /// Reads a variable-length integer, lowest seven bits first, of any length, as the Parquet reader does.
    fn number(&mut self) -> Result<u64, Halt> {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            if byte < 0x80 {
                return Ok(value);
            }
            shift = shift.wrapping_add(7);
        }
    }
}

/// Decodes a zigzag number, whose lowest bit is the sign.
fn signed(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Result<Seen, Unsound> = Ok(Seen { whole: true, number: None });
    const CUT: Result<Seen, Unsound> = Ok(Seen { whole: false, number: None });
    const TOO_MANY: Result<Seen, Unsound> = Err(Unsound::TooManyElements);
    const OTHER_KIND: Result<Seen, Unsound> = Err(Unsound::OtherKind);

    // Field 1: a list of three 32-bit numbers. Field 2: a struct with a string and a boolean. Then the end.
    const SOUND: [u8; 14] =
        [0x19, 0x35, 0x02, 0x80, 0x01, 0x04, 0x1c, 0x18, 0x02, b'a', b'b', 0x11, 0x00, 0x00];

    fn check(bytes: &[u8], shape: &FieldKinds, most: u64) -> Result<Seen, Unsound> {
        super::check(bytes, shape, most, 2)
    }

    #[test]
    fn numbers_are_told_as_the_reader_reads_them() {
        const SHAPE: &FieldKinds = &[
            (1, Kind::Plain(5)),
            (2, Kind::Plain(5)),
            (3, Kind::Plain(5)),
            (4, Kind::Struct(&[(2, Kind::Plain(5))])),
        ];
        let number = |bytes: &[u8]| super::check(bytes, SHAPE, 100, 2).unwrap().number;
        assert_eq!(number(&[0x15, 0x00, 0x15, 0x80, 0x02, 0x15, 0x04, 0x00]), Some(128));
        assert_eq!(number(&[0x15, 0x04, 0x15, 0xff, 0xff, 0xff, 0xed, 0x30, 0x00]), Some(2_032_140_288));
        // The field in another order, twice, with its number in full, and cut off.
        assert_eq!(number(&[0x25, 0x08, 0x05, 0x02, 0x02, 0x15, 0x06, 0x00]), Some(4));
        assert_eq!(number(&[0x25, 0x08]), Some(4));
        // In another struct, the same number is another field.
        assert_eq!(number(&[0x4c, 0x25, 0x08, 0x00, 0x00]), None);
    }

    #[test]
    fn a_list_claims_what_its_header_says() {
        assert_eq!(check(&SOUND, &[], 14), WHOLE);
        assert_eq!(check(&SOUND, &[], 2), TOO_MANY);
        assert_eq!(check(&SOUND[..4], &[], 14), CUT, "what is cut off is not refused here");
    }

    #[test]
    fn known_fields_are_what_they_should_be() {
        const INNER: &FieldKinds = &[(1, Kind::Plain(BINARY)), (2, Kind::Boolean)];
        const LISTED: (i16, Kind) = (1, Kind::List(&Kind::Plain(5)));
        assert_eq!(check(&SOUND, &[LISTED, (2, Kind::Struct(INNER))], 14), WHOLE);
        assert_eq!(
            check(&SOUND, &[(1, Kind::List(&Kind::Plain(6)))], 14),
            WHOLE,
            "numbers are written alike"
        );
        assert_eq!(check(&SOUND, &[(1, Kind::List(&Kind::Plain(8)))], 14), OTHER_KIND);
        assert_eq!(check(&SOUND, &[(1, Kind::Plain(5))], 14), OTHER_KIND);
        assert_eq!(check(&SOUND, &[(2, Kind::Struct(&[(2, Kind::Plain(3))]))], 14), OTHER_KIND);
        // If a field's number is given in full, its lowest sixteen bits count: 2 * 65,537 is field 1.
        assert_eq!(check(&[0x06, 0x82, 0x80, 0x08, 0x00, 0x00], &[(1, Kind::Plain(8))], 6), OTHER_KIND);
    }

    #[test]
    fn elements_without_bytes_are_counted() {
        // 2^28 - 1 booleans: in a list, in nested lists, and as keys of a map.
        let many = [0xff, 0xff, 0xff, 0x7f];
        assert_eq!(check(&[&[0x19, 0xf1], &many[..], &[0x00]].concat(), &[], 1000), TOO_MANY);
        assert_eq!(check(&[&[0x19, 0x19, 0xf2], &many[..], &[0x00]].concat(), &[], 1000), TOO_MANY);
        assert_eq!(check(&[&[0x1b], &many[..], &[0x12, 0x00]].concat(), &[], 1000), TOO_MANY);
        // In unknown structs, field numbers do not matter: 32,767, and the number after it.
        let within = [&[0x1c, 0x05, 0xfe, 0xff, 0x03, 0x00, 0x19, 0xf1], &many[..], &[0x00, 0x00]].concat();
        assert_eq!(check(&within, &[], 1000), TOO_MANY);
        // Empty structs take one byte each; here the bytes end too early.
        assert_eq!(check(&[&[0x19, 0xfc, 0x90, 0x07], &[0; 10][..]].concat(), &[], 1000), CUT);
    }

    #[test]
    fn what_nobody_can_read_is_refused() {
        assert_eq!(check(&[0x1e, 0x00], &[], 10), Err(Unsound::Unreadable));
        // Field 32,767, and the field after it.
        assert_eq!(
            check(&[0x05, 0xfe, 0xff, 0x03, 0x00, 0x15, 0x00, 0x00], &[], 10),
            Err(Unsound::Unreadable)
        );
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(check(&[0x1c; 10_000], &[], 10), Err(Unsound::TooDeep));
        assert_eq!(check(&[0x19; 10_000], &[], 10_000), Err(Unsound::TooDeep));
        assert_eq!(check(&[0x19; 10_000], &[], 60), TOO_MANY);
    }
}
