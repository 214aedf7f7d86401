//! IDX files of bytes, the format of MNIST and similar data sets.
//!
//! An IDX file has, in this order: two zero bytes; the element type (8 means unsigned bytes); the number of dimensions; each
//! dimension in four bytes, big-endian; the elements, last dimension fastest.

use super::error::Problem;

/// Returns the dimensions and elements of the IDX file in `bytes`, which must have `N` dimensions.
///
/// # Errors
/// The format, element type or number of dimensions is different, or the number of elements does not match the dimensions.
pub(super) fn elements<const N: usize>(bytes: &[u8]) -> Result<([usize; N], &[u8]), Problem> {
    let (header, rest) = bytes.split_at_checked(4 + 4 * N).ok_or("it is cut short within the header")?;
    if header[..4] != [0, 0, 8, N as u8] {
        let magic = u32::from_be_bytes([header[0], header[1], header[2], header[3]]);
        let expected = 0x800 + N;
        return Err(format!(
            "it begins with the number {magic}, but {expected} is expected of an IDX file here"
        ));
    }
    let dimensions: [usize; N] = std::array::from_fn(|axis| {
        let at = 4 + 4 * axis;
        u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize
    });
    let claimed = dimensions.iter().try_fold(1_usize, |product, &length| product.checked_mul(length));
    if claimed != Some(rest.len()) {
        return Err(format!("the header claims {dimensions:?} elements, but {} follow", rest.len()));
    }
    Ok((dimensions, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_header_says_or_refuses() {
        let file = [&[0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3], &b"abcdef"[..]].concat();
        assert_eq!(elements::<2>(&file).unwrap(), ([2, 3], &b"abcdef"[..]));
        assert!(elements::<1>(&file).unwrap_err().contains("number 2050, but 2049"));
        assert!(elements::<2>(&file[..11]).unwrap_err().contains("header"));
        assert!(elements::<2>(&file[..17]).unwrap_err().contains("[2, 3] elements, but 5 follow"));
        let huge = [[0, 0, 8, 3].as_slice(), &[0xff; 12]].concat();
        assert!(elements::<3>(&huge).unwrap_err().contains("but 0 follow"));
        assert_eq!(elements::<1>(&[0, 0, 8, 1, 0, 0, 0, 0]).unwrap(), ([0], &[][..]));
    }
}
