//! Columns of Parquet files whose pages do not claim more than they hold.

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length, RowGroupReader};
use std::io::{self, Read};

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

/// A file whose end is an error for whoever reads on.
///
/// The Parquet reader skips what it does not know without noticing that nothing is left, for as many elements as a header names (found by
/// fuzzing: minutes for a file of two kilobytes). In a sound file the footer comes last, so that nobody who reads a page arrives at the end.
pub(crate) struct Ending<R>(pub R);

impl<R: Length> Length for Ending<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Ending<R> {
    type T = EndingRead<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        self.0.get_read(start).map(EndingRead)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

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
