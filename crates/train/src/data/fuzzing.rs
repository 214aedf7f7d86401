//! The parsers of data files on bytes in memory, for fuzzing. Each returns whether the bytes were accepted.

use super::array::Array;
use super::cifar_10::{binary, python};
use super::labelled_bits::{self, FileLayout};
use super::limited::{read_whole, unpacked};
use super::npz::LabelledArrays;
use super::records::ImagesOfClasses;
use super::{Shape, archive, idx};
use std::io::Cursor;
use std::path::Path;

/// The most that compressed bytes may unpack to here: enough for any limit to be passed.
const LIMIT: u64 = 1 << 20;

/// Pixels and labels of MNIST's successors.
pub fn idx(bytes: &[u8]) -> bool {
    idx::elements::<3>(bytes).is_ok() | idx::elements::<1>(bytes).is_ok()
}

fn images() -> ImagesOfClasses<'static> {
    ImagesOfClasses::new(Shape { channels: 3, height: 32, width: 32 }, &[0, 1])
}

/// A binary batch of CIFAR-10.
pub fn cifar_binary(bytes: &[u8]) -> bool {
    binary::gather(bytes, &mut images()).is_ok()
}

/// A pickled batch of CIFAR-10.
pub fn cifar_pickle(bytes: &[u8]) -> bool {
    python::gather(bytes, &mut images()).is_ok()
}

/// Lines of labelled zeros and ones, with few features, so that lines are short.
pub fn labelled_bits(bytes: &[u8]) -> bool {
    labelled_bits::parse(&mut &*bytes, FileLayout { classes: 30, features: 6 }).is_ok()
}

/// An archive of arrays.
pub fn npz(bytes: &[u8]) -> bool {
    zip::ZipArchive::new(Cursor::new(bytes))
        .is_ok_and(|mut archive| LabelledArrays::from_archive(&mut archive).is_ok())
}

/// One array.
pub fn array(bytes: &[u8]) -> bool {
    Array::read(bytes, bytes.len() as u64, 1 << 30).is_ok()
}

/// An archive of files, gzipped or not.
pub fn tar(bytes: &[u8]) -> bool {
    let names = ["a", "folder/b"].map(str::to_owned);
    unpacked(Cursor::new(bytes.to_vec()), LIMIT).is_ok_and(|unpacked| {
        archive::visit_members_of(Path::new("fuzzed"), unpacked, &names, |_, member, size| {
            read_whole(member, size).map(|_| ())
        })
        .is_ok()
    })
}
