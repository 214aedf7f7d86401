//! Parquet files that are sound in every kind of field, and claim more than they hold. They are written here byte by byte: no writer makes them.

use misdeal_files::scores;

/// The fields of a group in Thrift's compact protocol.
#[derive(Default)]
struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const GROUP: u8 = 12;

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = vec![];
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn text(text: &[u8]) -> Vec<u8> {
    [varint(text.len() as u64), text.to_vec()].concat()
}

impl Fields {
    fn field(mut self, id: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = id;
        self
    }

    fn number(self, id: u8, kind: u8, value: usize) -> Self {
        self.field(id, kind, &varint(2 * value as u64))
    }

    fn list(self, id: u8, kind: u8, elements: &[Vec<u8>]) -> Self {
        let list = [vec![(elements.len() as u8) << 4 | kind], elements.concat()].concat();
        self.field(id, LIST, &list)
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// What a file claims, and what is in it.
#[derive(Clone, Copy)]
struct Claims {
    dictionary: Option<usize>,
    page_bytes: usize,
    statistics: usize,
}

/// Of a column of eight numbers, all from a dictionary of two.
const SOUND: Claims = Claims { dictionary: Some(2), page_bytes: 3, statistics: 0 };

fn file(claims: Claims) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    if let Some(values) = claims.dictionary {
        let numbers = [1.5_f64, 2.5].map(f64::to_le_bytes).concat();
        let dictionary = Fields::default().number(1, I32, values).number(2, I32, 0).end();
        let sizes =
            Fields::default().number(1, I32, 2).number(2, I32, numbers.len()).number(3, I32, numbers.len());
        file.extend(sizes.field(7, GROUP, &dictionary).end());
        file.extend(numbers);
    }
    let data_at = file.len();
    // Numbers of one bit, eight times the second.
    let data = [1, 16, 1];
    let page = Fields::default().number(1, I32, 8).number(2, I32, 8).number(3, I32, 3).number(4, I32, 3);
    let statistics = Fields::default().field(1, BINARY, &text(&vec![0; claims.statistics])).end();
    let page = if claims.statistics > 0 { page.field(5, GROUP, &statistics) } else { page };
    let sizes =
        Fields::default().number(1, I32, 0).number(2, I32, claims.page_bytes).number(3, I32, data.len());
    file.extend(sizes.field(5, GROUP, &page.end()).end());
    file.extend(data);

    let size = file.len() - 4;
    let encodings = [varint(0), varint(16)];
    let column =
        Fields::default().number(1, I32, 5).list(2, I32, &encodings).list(3, BINARY, &[text(b"score")]);
    let column = column.number(4, I32, 0).number(5, I64, 8).number(6, I64, size).number(7, I64, size);
    let column = column.number(9, I64, data_at);
    let column = if claims.dictionary.is_some() { column.number(11, I64, 4) } else { column };
    let chunk = Fields::default().number(2, I64, 0).field(3, GROUP, &column.end()).end();
    let group = Fields::default().list(1, GROUP, &[chunk]).number(2, I64, size).number(3, I64, 8).end();
    let root = Fields::default().field(4, BINARY, &text(b"schema")).number(5, I32, 1).end();
    let score = Fields::default().number(1, I32, 5).number(3, I32, 0).field(4, BINARY, &text(b"score")).end();
    let footer = Fields::default().number(1, I32, 1).list(2, GROUP, &[root, score]).number(3, I64, 8);
    let footer = footer.list(4, GROUP, &[group]).end();
    file.extend(&footer);
    file.extend((footer.len() as u32).to_le_bytes());
    file.extend(b"PAR1");
    file
}

fn read(claims: Claims) -> Result<Vec<f64>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scores.parquet");
    std::fs::write(&path, file(claims)).unwrap();
    scores::read(&path).map_err(|error| error.to_string())
}

#[test]
fn what_is_sound_is_read() {
    assert_eq!(read(SOUND).unwrap(), [2.5; 8]);
    assert_eq!(read(Claims { statistics: 1_000_000, ..SOUND }).unwrap(), [2.5; 8]);
}

#[test]
fn claims_beyond_what_is_there_are_refused() {
    let cases = [
        (
            Claims { dictionary: Some(500_000_000), ..SOUND },
            "a dictionary claims 500000000 values in 16 bytes",
        ),
        (Claims { page_bytes: 2_000_000_000, ..SOUND }, "a page claims 2000000000 bytes"),
        (Claims { statistics: 1_100_000, ..SOUND }, "the header of a page takes more than 1048576 bytes"),
        (Claims { dictionary: None, ..SOUND }, "scores.parquet"),
    ];
    for (claims, words) in cases {
        let refusal = read(claims).unwrap_err();
        assert!(refusal.contains(words) && !refusal.contains('\n'), "{words}: {refusal}");
    }
}
