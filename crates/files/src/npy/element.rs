//! The element types of `.npy` arrays: integers and floats of every size, in either byte order.

/// Converts the elements of an array to `f64`; integers beyond 2^53 are rounded.
pub struct Element {
    size: usize,
    append: fn(&[u8], &mut Vec<f64>),
}

/// Makes an [`Element`] for a Rust type, read with `from_le_bytes` or `from_be_bytes`.
macro_rules! element {
    ($number:ty, $from_bytes:ident) => {
        Element {
            size: size_of::<$number>(),
            append: |bytes, values| {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$number>() }>();
                values.extend(chunks.iter().map(|chunk| <$number>::$from_bytes(*chunk) as f64));
            },
        }
    };
}

impl Element {
    /// Finds the element type with NumPy's name: byte order, kind, number of bytes.
    #[allow(
        clippy::cast_lossless,
        reason = "one macro for the types that fit an f64 and the two that may not"
    )]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "<f8" => element!(f64, from_le_bytes),
            ">f8" => element!(f64, from_be_bytes),
            "<f4" => element!(f32, from_le_bytes),
            ">f4" => element!(f32, from_be_bytes),
            "<i8" => element!(i64, from_le_bytes),
            ">i8" => element!(i64, from_be_bytes),
            "<i4" => element!(i32, from_le_bytes),
            ">i4" => element!(i32, from_be_bytes),
            "<i2" => element!(i16, from_le_bytes),
            ">i2" => element!(i16, from_be_bytes),
            "|i1" | "<i1" | ">i1" => element!(i8, from_le_bytes),
            "<u8" => element!(u64, from_le_bytes),
            ">u8" => element!(u64, from_be_bytes),
            "<u4" => element!(u32, from_le_bytes),
            ">u4" => element!(u32, from_be_bytes),
            "<u2" => element!(u16, from_le_bytes),
            ">u2" => element!(u16, from_be_bytes),
            "|u1" | "<u1" | ">u1" => element!(u8, from_le_bytes),
            _ => return None,
        })
    }

    /// Number of bytes of one element.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Appends the complete elements in `bytes` to `values`.
    pub fn append(&self, bytes: &[u8], values: &mut Vec<f64>) {
        (self.append)(bytes, values);
    }
}
