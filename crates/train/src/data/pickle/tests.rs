use super::*;

fn from_hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Reads files that Python 3 and NumPy 2 wrote in protocols 2 to 5; `testdata/scripts/pickles.py` says what they contain.
#[test]
fn reads_what_python_writes_and_runs_nothing() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/pickles.toml");
    let golden: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let pixels: Vec<u8> = (0..15).map(|i| (250 + i) as u8).collect();
    let mut refused = 0;
    for golden in golden["pickle"].as_array().unwrap() {
        let (name, protocol) = (golden["name"].as_str().unwrap(), &golden["protocol"]);
        let bytes = from_hex(golden["hex"].as_str().unwrap());
        let expected = match name {
            "fortran" => "Fortran's order",
            "floats" => "another element type",
            "malice" => "which data does not need and is not run",
            _ => {
                let pickle = Pickle::read(&bytes).unwrap();
                assert_eq!(pickle.integers("labels").unwrap(), [6, 9, 300, -1, 70_000], "{name}, {protocol}");
                assert_eq!(
                    pickle.byte_array("data").unwrap(),
                    (&[5, 3][..], &pixels[..]),
                    "{name}, {protocol}"
                );
                assert!(pickle.byte_array("labels").is_err() && pickle.integers("data").is_err());
                assert!(pickle.integers("filenames").unwrap_err().contains("a string instead of an integer"));
                assert!(pickle.integers("absent").unwrap_err().contains("no entry \"absent\""));
                continue;
            }
        };
        let problem = Pickle::read(&bytes).err().unwrap_or_default();
        assert!(problem.contains(expected), "{name}, {protocol}: {problem:?}");
        refused += 1;
    }
    assert_eq!(refused, 12);
}

/// The layout of the official batches: Python 2's strings, `numpy.core`, memo numbers from 1 and integers of every size.
#[test]
fn reads_what_python_2_wrote() {
    let bytes = b"\x80\x02}q\x01(U\x06labelsq\x04]q\x05(K\x06M\x2c\x01J\xff\xff\xff\xff\x8a\x03\x70\x11\x01\x8a\x00\
        \x8a\x01\xffeU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85U\x01b\
        \x87Rq\x09(K\x01K\x02K\x03\x86cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xff\
        J\xff\xff\xff\xffK\x00tb\x89T\x06\x00\x00\x00abcdeftbu.";
    let pickle = Pickle::read(bytes).unwrap();
    assert_eq!(pickle.integers("labels").unwrap(), [6, 300, -1, 70_000, 0, -1]);
    assert_eq!(pickle.byte_array("data").unwrap(), (&[2, 3][..], &b"abcdef"[..]));
    for end in 0..bytes.len() {
        assert!(Pickle::read(&bytes[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn refuses_programs_that_misbehave() {
    let many = [&b"\x80\x02}"[..], &b"N0".repeat(MOST_INSTRUCTIONS)].concat();
    let endless = [&b"\x80\x02"[..], &b"N".repeat(MOST_INSTRUCTIONS)].concat();
    let mut repeated = b"\x80\x02c_codecs\nencode\nq\x00X\xe8\x03\x00\x00".to_vec();
    repeated.extend([b'a'; 1000]);
    repeated.extend(b"X\x06\x00\x00\x00latin1\x86q\x01");
    repeated.extend(b"h\x00h\x01R".repeat(1000));
    let cases: [(&[u8], &str); 18] = [
        (b"", "cut short"),
        (b"\x80\x02.", "empty stack"),
        (b"\x80\x02]q\x00.", "a list instead of a dictionary"),
        (b"\x80\x02(].", "a list instead"),
        (b"\x80\x02](.", "empty stack"),
        (b"\x80\x02t.", "a mark that is not open"),
        (b"\x80\x02}K\x01a.", "appends to a dictionary"),
        (b"\x80\x02]K\x01K\x02s.", "sets items of a list"),
        (b"\x80\x02}(K\x01u.", "sets items"),
        (b"\x80\x02h\x07.", "did not remember"),
        (b"\x80\x02cos\nsystem\n(U\x02lstR.", "\"os.system\""),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", "\"posix.system\""),
        (b"\x80\x02U\x02osU\x06system\x93.", "something else than text"),
        (b"\x80\x02K\x01)R.", "not a function"),
        (b"(S'ls'\nios\nsystem\n.", "instruction 0x53"),
        (&many, "instruction 0x30"),
        (&endless, "more than 262144 instructions"),
        (&repeated, "more bytes than it has"),
    ];
    for (program, expected) in cases {
        let problem = Pickle::read(program).err().unwrap_or_default();
        assert!(problem.contains(expected), "{:?}: {problem:?}", &program[..program.len().min(40)]);
    }
    // Accepts a list that contains itself; refuses strings and numbers longer than the input.
    assert!(Pickle::read(b"\x80\x02}q\x00(U\x01ah\x00u.").is_ok());
    for claim in [&b"T\xff\xff\xff\xffabc"[..], b"\x8e\xff\xff\xff\xff\xff\xff\xff\xffabc", b"\x8a\xffabc"] {
        assert!(Pickle::read(claim).err().unwrap().contains("cut short"));
    }
}
