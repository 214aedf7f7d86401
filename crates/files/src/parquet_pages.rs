//! Reads Parquet files defensively: pages may not claim more than they contain.

use crate::parquet_shape::{FOOTER, PAGE_HEADER};
use crate::thrift_walk::{FieldKinds, Seen, Unsound, check};
use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, FileReader, Length, RowGroupReader};
use std::io::{self, Read};
use std::path::Path;

/// Limit for the rows per byte of a file. Constant columns in ordinary pages reach a few hundred.
pub(crate) const MOST_ROWS_PER_BYTE: u64 = 4096;

/// Smallest number of bytes of a number in a dictionary.
const BYTES_PER_NUMBER: usize = 4;

/// Opens a column of a row group without trusting the numbers of values that its pages claim.
///
/// The Parquet reader allocates memory for as many dictionary entries as the header claims. A dictionary that claims more entries
/// than its bytes can hold is refused here (fuzzing found gigabytes for a file of two kilobytes). The Parquet reader unpacks a
/// page as a whole, to at most what its bytes give.
pub(crate) fn column(group: &dyn RowGroupReader, index: usize) -> Result<ColumnReader> {
    let pages = group.get_column_page_reader(index)?;
    Ok(get_column_reader(group.metadata().schema_descr().column(index), Box::new(HonestPages(pages))))
}

/// Refuses a file if the number of rows read differs from the number that it claims.
pub(crate) fn check_rows(path: &Path, reader: &dyn FileReader, rows: u64) -> crate::Result<()> {
    let claimed = reader.metadata().file_metadata().num_rows();
    if u64::try_from(claimed) == Ok(rows) {
        return Ok(());
    }
    let problem = format!("it claims {claimed} rows and has {rows}");
    Err(crate::Error::malformed(path, problem, "save it again"))
}

/// Size in bytes up to which every page may be unpacked.
const LARGEST_PAGE: u64 = 64 << 20;

/// Unpacked bytes of a page per byte of the file; this limit applies if it is larger.
const MOST_BYTES_PER_BYTE: u64 = 1024;

/// A file that protects the Parquet reader from damaged headers.
///
/// - Reading at the end of the file is an error. The Parquet reader skips as many unknown elements as a header claims, without
///   noticing the end (fuzzing found minutes for a file of two kilobytes). In an intact file the footer comes last, so
///   reading a page never reaches the end.
/// - A page may not claim much more than it can be unpacked to. The Parquet reader allocates the claimed size before it unpacks
///   the page (fuzzing found gigabytes for a file of half a kilobyte).
/// - Lists may not claim too many elements. The Parquet reader loops over lists whose elements take no bytes for as long as they
///   claim ([`check`]).
pub(crate) struct Ending<R>(pub R);

/// Refuses a header or footer if a field has another type, or if lists claim more than `most` elements.
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
            // The tail of the file is read in the same way, but it is not a page header.
            if start.saturating_add(AFTER_FOOTER) == self.len() {
                break;
            }
            let seen = checked(&bytes, PAGE_HEADER, MOST_ELEMENTS_OF_A_PAGE)?;
            // The Parquet reader itself refuses negative sizes.
            let claimed = seen.number.and_then(|number| u64::try_from(number).ok());
            if let Some(claimed) = claimed.filter(|&claimed| claimed > most) {
                let told = format!("a page claims {claimed} bytes, in a file of {}", self.len());
                return Err(ParquetError::General(told));
            }
            // If the header is longer, because values in it are, a longer part is read.
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

/// Number of bytes of a page's header that are read first. Without minimum and maximum values, a header has less than a hundred.
const OPENING: u64 = 1024;

/// Longest accepted page header in bytes; real headers with the longest values are shorter.
const LONGEST_HEADER: u64 = 1 << 20;

/// Limit for the list elements in a page's header; known headers have none.
const MOST_ELEMENTS_OF_A_PAGE: u64 = 1024;

/// Number of bytes after the footer: its length, and the letters that end a file.
const AFTER_FOOTER: u64 = 8;

/// The field of a page's header that holds the unpacked size.
const UNPACKED_BYTES: i16 = 2;

/// The reader of an [`Ending`] file.
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
