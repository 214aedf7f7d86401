//! The parsers of data files, applied to bytes in memory for fuzzing. Each function returns whether it accepted the bytes.

use super::array::Array;
use super::cifar_10::{binary, python};
use super::labelled_bits::{self, FileLayout};
use super::limited::{read_whole, unpacked};
use super::npz::LabelledArrays;
use super::records::ImagesOfClasses;
use super::{Shape, archive, idx};
use std::io::Cursor;
use std::path::Path;

/// Limit for unpacked bytes here: large enough that inputs can exceed every limit.
const LIMIT: u64 = 1 << 20;

/// Parses an IDX file of pixels or labels.
pub fn idx(bytes: &[u8]) -> bool {
    idx::elements::<3>(bytes).is_ok() | idx::elements::<1>(bytes).is_ok()
}

fn images() -> ImagesOfClasses<'static> {
    ImagesOfClasses::new(Shape { channels: 3, height: 32, width: 32 }, &[0, 1])
}

/// Parses a CIFAR-10 batch in binary format.
pub fn cifar_binary(bytes: &[u8]) -> bool {
    binary::gather(bytes, &mut images()).is_ok()
}

/// Parses a CIFAR-10 batch in pickle format.
pub fn cifar_pickle(bytes: &[u8]) -> bool {
    python::gather(bytes, &mut images()).is_ok()
}

/// Parses lines of labelled zeros and ones; few features keep the lines short.
pub fn labelled_bits(bytes: &[u8]) -> bool {
    labelled_bits::parse(&mut &*bytes, FileLayout { classes: 30, features: 6 }).is_ok()
}

/// Parses an archive of arrays.
pub fn npz(bytes: &[u8]) -> bool {
    zip::ZipArchive::new(Cursor::new(bytes))
        .is_ok_and(|mut archive| LabelledArrays::from_archive(&mut archive).is_ok())
}

/// Parses one array.
pub fn array(bytes: &[u8]) -> bool {
    Array::read(bytes, bytes.len() as u64, 1 << 30).is_ok()
}

/// Parses an archive of files, gzipped or not.
pub fn tar(bytes: &[u8]) -> bool {
    let names = ["a", "folder/b"].map(str::to_owned);
    unpacked(Cursor::new(bytes.to_vec()), LIMIT).is_ok_and(|unpacked| {
        archive::visit_members_of(Path::new("fuzzed"), unpacked, &names, |_, member, size| {
            read_whole(member, size).map(|_| ())
        })
        .is_ok()
    })
}
