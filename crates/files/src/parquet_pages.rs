//! Columns of Parquet files whose pages do not claim more than they hold.

use crate::parquet_shape::{FOOTER, PAGE_HEADER};
use crate::thrift_walk::{FieldKinds, Seen, Unsound, check};
use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use std::io::{self, Read};
use std::path::Path;

/// Rows that a byte of a file may stand for, at most: a constant column in the pages that writers make takes some hundreds.
pub(crate) const MOST_ROWS_PER_BYTE: u64 = 4096;

/// Bytes of a number in a dictionary, at least.
const BYTES_PER_NUMBER: usize = 4;

/// A column of a row group, without trust in the numbers of values that its pages name.
///
/// A dictionary is reserved by the number that its header names, whatever follows; one that is longer than its bytes is refused here (found by
/// fuzzing: gigabytes for a file of two kilobytes). A page itself is unpacked whole by the Parquet reader, to at most what its bytes give.
pub(crate) fn column(group: &dyn RowGroupReader, index: usize) -> Result<ColumnReader> {
    let pages = group.get_column_page_reader(index)?;
    Ok(get_column_reader(group.metadata().schema_descr().column(index), Box::new(HonestPages(pages))))
}

/// Refuses a file of whose rows only some were there to read, or more than it says it has.
pub(crate) fn check_rows(path: &Path, reader: &dyn FileReader, rows: u64) -> crate::Result<()> {
    let claimed = reader.metadata().file_metadata().num_rows();
    if u64::try_from(claimed) == Ok(rows) {
        return Ok(());
    }
    let problem = format!("it claims {claimed} rows and has {rows}");
    Err(crate::Error::malformed(path, problem, "save it again"))
}

/// Bytes that a page may be unpacked to in any file.
const LARGEST_PAGE: u64 = 64 << 20;

/// Bytes of a page for each byte of the file, where that is more.
const MOST_BYTES_PER_BYTE: u64 = 1024;

/// A file whose end is an error for whoever reads on, and in which no page claims to be unpacked to much more than it can be.
///
/// The Parquet reader skips what it does not know without noticing that nothing is left, for as many elements as a header names (found by
/// fuzzing: minutes for a file of two kilobytes). In a sound file the footer comes last, so that nobody who reads a page arrives at the end.
/// It also reserves what a page's header names before it unpacks the page (found by fuzzing: gigabytes for a file of half a kilobyte). And it goes through
/// lists of things that take no byte for as long as they claim to be ([`check`]).
pub(crate) struct Ending<R>(pub R);

/// Refuses a header or a footer with fields of another kind, or with more elements than `most`.
fn checked(bytes: &[u8], shape: &FieldKinds, most: u64) -> Result<Seen> {
    check(bytes, shape, most, UNPACKED_BYTES).map_err(|why| {
        ParquetError::General(match why {
            Unsound::TooManyElements => {
                format!("lists claim more than {most} elements, more than there can be")
            }
            Unsound::OtherKind => "a field is of another kind than the format has it".into(),
            Unsound::TooDeep => "a field has too many others within it".into(),
            Unsound::Unreadable => "a field is of no kind that there is".into(),
        })
    })
}

impl<R: Length> Length for Ending<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Ending<R> {
    type T = EndingRead<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let most = LARGEST_PAGE.max(self.len().saturating_mul(MOST_BYTES_PER_BYTE));
        let mut opening = OPENING;
        loop {
            let mut bytes = Vec::new();
            self.0.get_read(start)?.take(opening).read_to_end(&mut bytes)?;
            // The tail of the file is read in the same way, and is no header.
            if start.saturating_add(AFTER_FOOTER) == self.len() {
                break;
            }
            let seen = checked(&bytes, PAGE_HEADER, MOST_ELEMENTS_OF_A_PAGE)?;
            // The Parquet reader refuses sizes below 0 itself.
            let claimed = seen.number.and_then(|number| u64::try_from(number).ok());
            if let Some(claimed) = claimed.filter(|&claimed| claimed > most) {
                let told = format!("a page claims {claimed} bytes, in a file of {}", self.len());
                return Err(ParquetError::General(told));
            }
            // A header that is longer, because the values in it are, is looked at whole.
            if seen.whole || (bytes.len() as u64) < opening {
                break;
            }
            if opening >= LONGEST_HEADER {
                return Err(ParquetError::General(format!(
                    "the header of a page takes more than {opening} bytes"
                )));
            }
            opening *= OPENING;
        }
        self.0.get_read(start).map(EndingRead)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.get_bytes(start, length)?;
        if start.saturating_add(length as u64 + AFTER_FOOTER) == self.len() {
            checked(&bytes, FOOTER, self.len())?;
        }
        Ok(bytes)
    }
}

/// Bytes of a page's header that are looked at first; without the least and the greatest value it takes less than a hundred.
const OPENING: u64 = 1024;

/// Bytes of a header after which it is refused: one with the longest values that anybody writes takes less.
const LONGEST_HEADER: u64 = 1 << 20;

/// Elements of lists in a page's header, at most: those that are known have none.
const MOST_ELEMENTS_OF_A_PAGE: u64 = 1024;

/// Bytes after the footer: its length, and the letters that end a file.
const AFTER_FOOTER: u64 = 8;

/// The field of a page's header with the size that it is unpacked to.
const UNPACKED_BYTES: i16 = 2;

/// What [`Ending`] reads with.
pub(crate) struct EndingRead<T>(T);

impl<T: Read> Read for EndingRead<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }
}

struct HonestPages(Box<dyn PageReader>);

impl PageReader for HonestPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.0.get_next_page()?;
        match &page {
            Some(Page::DictionaryPage { buf, num_values, .. })
                if *num_values as usize > buf.len() / BYTES_PER_NUMBER =>
            {
                let (values, bytes) = (num_values, buf.len());
                Err(ParquetError::General(format!("a dictionary claims {values} values in {bytes} bytes")))
            }
            _ => Ok(page),
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.0.at_record_boundary()
    }
}

impl Iterator for HonestPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
