//! Reads members of `.tar.gz` archives in memory, by their exact names.
//!
//! Nothing is extracted, so that no member's path leads anywhere; links, devices and extended headers are passed over, and
//! only a regular member whose name in the plain header is the expected one is read.

use super::error::Problem;
use super::limited::{open, unreadable};
use super::{Error, Result};
use std::io::{self, Read};
use std::path::Path;

/// Calls `visit(i, bytes, size)` once for each of the members `names[i]`, in the archive's order.
///
/// The archive may unpack to `limit` bytes; it is read to its end, so that its checksum is checked.
///
/// # Errors
/// A file that is not an archive, is damaged or cut short, unpacks to more than the limit, lacks one of the members or has
/// one twice; and what `visit` found wrong.
pub(super) fn visit_members(
    path: &Path,
    names: &[String],
    limit: u64,
    visit: impl FnMut(usize, &mut dyn Read, u64) -> std::result::Result<(), Problem>,
) -> Result<()> {
    visit_members_of(path, open(path, limit)?, names, visit)
}

/// As [`visit_members`], for unpacked bytes.
pub(super) fn visit_members_of(
    path: &Path,
    bytes: impl Read,
    names: &[String],
    mut visit: impl FnMut(usize, &mut dyn Read, u64) -> std::result::Result<(), Problem>,
) -> Result<()> {
    let refused = Error::in_file(path, "download it again, or check that it is the official archive");
    let mut archive = tar::Archive::new(bytes);
    let mut seen = vec![false; names.len()];
    // Raw entries: the library then reads no long names into memory and follows no extended header.
    for entry in archive.entries().map_err(unreadable).map_err(&refused)?.raw(true) {
        let mut entry = entry.map_err(unreadable).map_err(&refused)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let name = entry.path_bytes().into_owned();
        let name = name.strip_prefix(b"./").unwrap_or(&name);
        let Some(index) = names.iter().position(|wanted| wanted.as_bytes() == name) else { continue };
        if seen[index] {
            return Err(refused(format!("it has the member {} twice", names[index])));
        }
        seen[index] = true;
        let size = entry.size();
        let in_member = |problem| refused(format!("member {}: {problem}", names[index]));
        visit(index, &mut entry, size).map_err(in_member)?;
    }
    if let Some(index) = seen.iter().position(|seen| !seen) {
        return Err(refused(format!("it has no member {}", names[index])));
    }
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(unreadable).map_err(&refused)?;
    Ok(())
}
