//! A `.npy` array in an archive, read as `f32`.

use super::error::Problem;
use super::limited::{megabytes, unreadable};
use misdeal_files::npy::{Element, Header, read_header};
use std::io::Read;

/// Number of bytes converted at a time; a multiple of every element's size.
const BLOCK: usize = 1 << 16;

/// Numbers with a shape, last axis fastest.
#[derive(Debug, PartialEq)]
pub(super) struct Array {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
    /// Whether the elements were unsigned bytes.
    pub are_bytes: bool,
}

impl Array {
    /// Reads an array of finite numbers from `input`, whose claimed length is `size` bytes.
    ///
    /// Memory grows with the numbers that are read, not with what the header claims. It is at most `most` bytes: a larger array is
    /// refused after its header is read, before any number is unpacked.
    ///
    /// # Errors
    /// The format is different; elements are not numbers, not finite, or too many; or their count differs from the header.
    pub fn read(mut input: impl Read, size: u64, most: u64) -> Result<Self, Problem> {
        let header = read_header(&mut input).map_err(unreadable)?;
        let header = header.map_err(|problem| format!("the header {problem}"))?;
        // Booleans are stored as bytes 0 and 1.
        let name = if header.element == "|b1" { "|u1" } else { &header.element };
        let Some(element) = Element::from_name(name) else {
            return Err(format!("the elements are of type {:?}, not plain numbers", header.element));
        };
        let count = header.shape.iter().try_fold(1_u64, |product, &length| product.checked_mul(length));
        // Each number takes four bytes. Transposed axes need a second copy; pixels also need one byte each.
        let each = match (header.fortran_order, name) {
            (true, _) => 8,
            (false, "|u1") => 5,
            (false, _) => 4,
        };
        let Some(count) = count.filter(|&count| count <= most / each) else {
            let takes = count.and_then(|count| count.checked_mul(each)).map_or("far more".into(), megabytes);
            let most = megabytes(most);
            return Err(format!(
                "it has the shape {:?} and takes {takes} of memory, but there are {most} for it",
                header.shape
            ));
        };
        let bytes = count * element.size() as u64;
        if bytes + header.length != size {
            let claimed = bytes + header.length;
            return Err(format!("the header claims {claimed} bytes, but there are {size}"));
        }
        let values = numbers(input, &element, bytes)?;
        let Header { shape, fortran_order, .. } = header;
        let shape: Vec<usize> = shape.into_iter().map(|length| length as usize).collect();
        let values = if fortran_order { last_axis_fastest(&values, &shape) } else { values };
        Ok(Array { shape, values, are_bytes: name == "|u1" })
    }
}

/// Reads `bytes` bytes of elements, and checks that nothing follows them.
fn numbers(mut input: impl Read, element: &Element, bytes: u64) -> Result<Vec<f32>, Problem> {
    let (mut block, mut wide, mut values) = (vec![0; BLOCK], Vec::new(), Vec::new());
    let mut left = bytes;
    while left > 0 {
        let part = &mut block[..left.min(BLOCK as u64) as usize];
        input.read_exact(part).map_err(unreadable)?;
        left -= part.len() as u64;
        wide.clear();
        element.append(part, &mut wide);
        if let Some(place) = wide.iter().position(|value| !(*value as f32).is_finite()) {
            let index = values.len() + place;
            return Err(format!("the number at index {index} is {}, but it must be finite", wide[place]));
        }
        values.extend(wide.iter().map(|&value| value as f32));
    }
    // This extra read also makes the archive check its checksum.
    match input.read(&mut [0]).map_err(unreadable)? {
        0 => Ok(values),
        _ => Err("there are bytes after the array".into()),
    }
}

/// Reorders `values` from first axis fastest to last axis fastest.
fn last_axis_fastest(values: &[f32], shape: &[usize]) -> Vec<f32> {
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let next = |_| {
        let value = values[index.iter().zip(&strides).map(|(i, stride)| i * stride).sum::<usize>()];
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
        value
    };
    (0..values.len()).map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(element: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{element}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    }

    fn read(bytes: &[u8]) -> Result<Array, Problem> {
        Array::read(bytes, bytes.len() as u64, 1 << 20)
    }

    #[test]
    fn reads_both_orders() {
        let rows = read(&npy("|u1", "False", "(2, 3)", &[1, 2, 3, 4, 5, 6])).unwrap();
        assert_eq!(
            rows,
            Array { shape: vec![2, 3], values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], are_bytes: true }
        );
        assert_eq!(read(&npy("|b1", "True", "(2, 3)", &[1, 4, 2, 5, 3, 6])).unwrap(), rows);
        let cube: Vec<u8> = (0..24).collect();
        let cube = read(&npy("|i1", "True", "(2, 3, 4)", &cube)).unwrap();
        // Element (i, j, k) is at index i + 2 j + 6 k.
        let expected: Vec<f32> =
            (0..24).map(|flat| (flat / 12 + 2 * (flat / 4 % 3) + 6 * (flat % 4)) as f32).collect();
        assert_eq!((cube.values, cube.are_bytes), (expected, false));
    }

    #[test]
    fn refuses_what_is_not_numbers_or_not_all_there() {
        let nan = f32::NAN.to_le_bytes();
        let cases = [
            (npy("|O", "False", "(2,)", &[0; 16]), "type \"|O\""),
            (npy("<f4", "False", "(1,)", &nan), "index 0 is NaN"),
            (npy("<f8", "False", "(1,)", &1e300_f64.to_le_bytes()), "must be finite"),
            (npy("|u1", "False", "(3,)", &[1, 2]), "bytes, but there are"),
            (npy("|u1", "False", "(1,)", &[1, 2]), "bytes, but there are"),
            (
                npy("|u1", "False", "(4294967296, 4294967296)", &[]),
                "takes far more of memory, but there are 2 MB",
            ),
            (npy("|u1", "False", "(536870913,)", &[]), "takes 2685 MB of memory, but there are 2 MB for it"),
            (npy("|u1", "True", "(200000,)", &[]), "takes 2 MB of memory"),
            (b"PK\x03\x04 and the rest".to_vec(), "does not begin as a .npy file"),
            (vec![], "cut short"),
        ];
        for (bytes, expected) in cases {
            let problem = read(&bytes).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
        let whole = npy("|u1", "False", "(3,)", &[1, 2, 3]);
        assert!(
            Array::read(&whole[..whole.len() - 1], whole.len() as u64, 100)
                .unwrap_err()
                .contains("cut short")
        );
        let more = [&whole[..], b"x"].concat();
        assert!(Array::read(&more[..], whole.len() as u64, 100).unwrap_err().contains("after the array"));
    }
}
