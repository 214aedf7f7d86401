//! Finds columns of a Parquet file, and the types of their numbers.

use crate::{Error, Result};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};
use std::path::Path;

/// The index of the column called `name`, in upper or lower case.
///
/// # Errors
/// Several columns have this name.
pub(crate) fn find(path: &Path, schema: &SchemaDescriptor, name: &str) -> Result<Option<usize>> {
    let is_named = |column: usize| schema.column(column).path().string().eq_ignore_ascii_case(name);
    let mut named = (0..schema.num_columns()).filter(|&column| is_named(column));
    let first = named.next();
    if named.next().is_some() {
        let problem = format!("several columns are called {name}");
        return Err(Error::malformed(path, problem, "name only one of them so"));
    }
    Ok(first)
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Float,
    /// Signed integers with this many bits.
    Signed(u32),
    /// Unsigned integers with this many bits.
    Unsigned(u32),
}

impl Number {
    /// The type of a column; `None` for decimals, dates, times and text.
    pub(crate) fn of(column: &ColumnDescriptor) -> Option<Self> {
        let bits = match column.physical_type() {
            Type::DOUBLE | Type::FLOAT => {
                let is_plain =
                    column.logical_type_ref().is_none() && column.converted_type() == ConvertedType::NONE;
                return is_plain.then_some(Self::Float);
            }
            Type::INT32 => 32,
            Type::INT64 => 64,
            _ => return None,
        };
        let logical = match column.logical_type_ref() {
            None => None,
            Some(LogicalType::Integer(integer)) => {
                let bits = u32::try_from(integer.bit_width).ok()?;
                Some(if integer.is_signed { Self::Signed(bits) } else { Self::Unsigned(bits) })
            }
            Some(_) => return None,
        };
        let converted = match column.converted_type() {
            ConvertedType::NONE => None,
            ConvertedType::INT_8 => Some(Self::Signed(8)),
            ConvertedType::INT_16 => Some(Self::Signed(16)),
            ConvertedType::INT_32 => Some(Self::Signed(32)),
            ConvertedType::INT_64 => Some(Self::Signed(64)),
            ConvertedType::UINT_8 => Some(Self::Unsigned(8)),
            ConvertedType::UINT_16 => Some(Self::Unsigned(16)),
            ConvertedType::UINT_32 => Some(Self::Unsigned(32)),
            ConvertedType::UINT_64 => Some(Self::Unsigned(64)),
            _ => return None,
        };
        match (logical, converted) {
            (Some(logical), Some(converted)) if logical != converted => None,
            (Some(number), _) | (None, Some(number)) => number.fits(bits).then_some(number),
            (None, None) => Some(Self::Signed(bits)),
        }
    }

    fn fits(self, physical: u32) -> bool {
        let (Self::Signed(bits) | Self::Unsigned(bits)) = self else { return false };
        if physical == 64 { bits == 64 } else { [8, 16, 32].contains(&bits) }
    }

    /// The integer for a stored 32-bit value; `None` if it is out of the column type's range.
    pub(crate) fn short(self, value: i32) -> Option<i128> {
        self.whole(i128::from(value), i128::from(value.cast_unsigned()))
    }

    /// Like [`short`](Self::short), for 64 bits.
    pub(crate) fn long(self, value: i64) -> Option<i128> {
        self.whole(i128::from(value), i128::from(value.cast_unsigned()))
    }

    fn whole(self, signed: i128, unsigned: i128) -> Option<i128> {
        match self {
            Self::Float => None,
            Self::Signed(bits) => {
                let end = 1_i128 << (bits - 1);
                (-end..end).contains(&signed).then_some(signed)
            }
            Self::Unsigned(bits) => (unsigned < 1_i128 << bits).then_some(unsigned),
        }
    }
}
