#![allow(clippy::float_cmp)]

use crate::scores::{read, write_npy};
use npyz::{AutoSerialize, DType, Order, WriteOptions, WriterBuilder};
use proptest::{prelude::*, test_runner::RngSeed};
use std::fs;

/// Makes the bytes of a version 1 file with this description and data.
fn file(element: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn read_bytes(bytes: &[u8]) -> crate::Result<Vec<f64>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.npy");
    fs::write(&path, bytes).unwrap();
    read(&path)
}

/// Reads what npyz writes, in every type and byte order that it knows.
#[test]
fn reads_every_element_type() {
    fn check<T: AutoSerialize + npyz::Serialize>(name: &str, values: &[T], expected: &[f64]) {
        for order in ["<", ">"] {
            let name = if name.ends_with('1') { format!("|{name}") } else { format!("{order}{name}") };
            let mut bytes = Vec::new();
            let dtype = DType::Plain(name.parse().unwrap());
            let shape = [values.len() as u64];
            let mut writer = WriteOptions::new()
                .dtype(dtype)
                .shape(&shape)
                .order(Order::C)
                .writer(&mut bytes)
                .begin_nd()
                .unwrap();
            for value in values {
                writer.push(value).unwrap();
            }
            writer.finish().unwrap();
            assert_eq!(read_bytes(&bytes).unwrap(), expected, "{name}");
        }
    }
    check("f8", &[0.1, -2.5e300, -0.0], &[0.1, -2.5e300, -0.0]);
    check("f4", &[0.1_f32, -2.5e30], &[f64::from(0.1_f32), f64::from(-2.5e30_f32)]);
    check("i8", &[-3_i64, 1 << 52], &[-3.0, 4503599627370496.0]);
    check("i4", &[-3_i32, i32::MAX], &[-3.0, 2147483647.0]);
    check("i2", &[-3_i16, i16::MAX], &[-3.0, 32767.0]);
    check("i1", &[-3_i8, i8::MAX], &[-3.0, 127.0]);
    check("u8", &[3_u64, u64::MAX], &[3.0, 18446744073709551615.0]);
    check("u4", &[3_u32, u32::MAX], &[3.0, 4294967295.0]);
    check("u2", &[3_u16, u16::MAX], &[3.0, 65535.0]);
    check("u1", &[3_u8, u8::MAX], &[3.0, 255.0]);
}

#[test]
fn writes_what_npyz_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.npy");
    // The scores fill several blocks, and the last block is not full.
    let scores: Vec<f64> = (0..100_003).map(|i| f64::from(i) * 0.37 - 1e4).collect();
    write_npy(&path, &scores).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!((bytes.len() - 8 * scores.len()) % 64, 0);
    assert_eq!(npyz::NpyFile::new(&bytes[..]).unwrap().into_vec::<f64>().unwrap(), scores);
    assert_eq!(read(&path).unwrap(), scores);
}

#[test]
fn one_long_dimension_is_enough() {
    let data: Vec<u8> = [1.5_f64, 2.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    for shape in ["(2,)", "(1, 2)", "(2, 1)", "(1, 2, 1)"] {
        assert_eq!(read_bytes(&file("<f8", shape, &data)).unwrap(), [1.5, 2.5], "{shape}");
    }
    assert_eq!(read_bytes(&file("<f8", "()", &data[..8])).unwrap(), [1.5]);
}

#[test]
fn refuses_bad_files() {
    let data = [0; 32];
    let nan = [0.0, 1.0, f64::NAN, f64::INFINITY].map(f64::to_le_bytes).concat();
    let infinite = [0.0, f32::NEG_INFINITY].map(f32::to_be_bytes).concat();
    let mut long_header = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
    long_header.extend([b'('; 500]);
    let cases: [(&str, Vec<u8>, &str); 16] = [
        ("another format", b"score\n1.0\n2.0\n".to_vec(), "does not begin as a .npy file"),
        ("five bytes", b"\x93NUMP".to_vec(), "cut short"),
        ("no header", b"\x93NUMPY\x01\x00\x40\x00".to_vec(), "cut short"),
        ("version 9", b"\x93NUMPY\x09\x00\x40\x00\x00\x00".to_vec(), "version 9"),
        ("a header of 4 GB", long_header, "claims 4294967295 bytes"),
        ("cut in an element", file("<f8", "(4,)", &data[..31]), "cut short"),
        ("cut at an element", file("<f8", "(4,)", &data[..24]), "claims 4 elements"),
        ("more than claimed", file("<f8", "(3,)", &data), "save one array"),
        (
            "10^18 elements",
            file("<f8", "(1000000000000000000,)", &data),
            "claims 1000000000000000000 elements",
        ),
        ("2^64 - 1 elements", file("<f8", "(18446744073709551615,)", &data), "cut short"),
        ("2^64 elements", file("<f8", "(4294967296, 4294967296)", &data), "shape [4294967296, 4294967296]"),
        ("two dimensions", file("<f8", "(2, 2)", &data), "shape [2, 2]"),
        ("no elements", file("<f8", "(0,)", &[]), "no scores"),
        ("complex", file("<c16", "(2,)", &data), "type \"<c16\""),
        ("not a number", file("<f8", "(4,)", &nan), "index 2 (counted from 0) is NaN"),
        ("infinite", file(">f4", "(2,)", &infinite), "index 1 (counted from 0) is -inf"),
    ];
    for (what, bytes, expected) in cases {
        let message = read_bytes(&bytes).unwrap_err().to_string();
        assert!(message.contains(expected) && message.contains("scores.npy"), "{what}: {message}");
        assert!(!message.contains('\n'), "{what}: {message}");
    }
}

#[test]
fn counts_the_index_over_blocks() {
    let mut scores = vec![0.0; 200_000];
    scores[150_001] = f64::NAN;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    write_npy(&path, &scores).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("index 150001 "));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(2),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Damaged files are refused or read; nothing panics, and nothing large is reserved.
    #[test]
    fn survives_damage(cut in 0..200_usize, place in 0..120_usize, byte in any::<u8>()) {
        let mut bytes = file("<f8", "(16,)", &[1; 128]);
        if let Some(old) = bytes.get_mut(place) {
            *old = byte;
        }
        bytes.truncate(cut);
        let _ = read_bytes(&bytes);
    }
}
