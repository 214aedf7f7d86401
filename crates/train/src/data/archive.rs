//! Reads members of `.tar.gz` archives in memory, by their exact names.
//!
//! Nothing is extracted to disk, so a member's path cannot lead anywhere. Links, devices and extended headers are skipped. The
//! reader reads only regular members whose name in the plain header is an expected one.

use super::error::Problem;
use super::limited::{open, unreadable};
use super::{Error, Result};
use std::io::{self, Read};
use std::path::Path;

/// Calls `visit(i, bytes, size)` once for each of the members `names[i]`, in the archive's order.
///
/// The archive may unpack to at most `limit` bytes. It is read to its end, which checks its checksum.
///
/// # Errors
/// The file is not an archive, is damaged or cut short, unpacks to more than `limit` bytes, lacks a member, or has a member twice.
/// Errors of `visit` are returned too.
pub(super) fn visit_members(
    path: &Path,
    names: &[String],
    limit: u64,
    visit: impl FnMut(usize, &mut dyn Read, u64) -> std::result::Result<(), Problem>,
) -> Result<()> {
    visit_members_of(path, open(path, limit)?, names, visit)
}

/// Like [`visit_members`], but reads bytes that are already unpacked.
pub(super) fn visit_members_of(
    path: &Path,
    bytes: impl Read,
    names: &[String],
    mut visit: impl FnMut(usize, &mut dyn Read, u64) -> std::result::Result<(), Problem>,
) -> Result<()> {
    let refused = Error::in_file(path, "download it again, or check that it is the official archive");
    let mut archive = tar::Archive::new(bytes);
    let mut seen = vec![false; names.len()];
    // Raw entries: the library then reads no long names into memory and follows no extended headers.
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
