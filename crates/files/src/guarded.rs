//! Readers of others that may panic on damaged files.

use crate::{Error, Result};
use std::path::Path;

/// What `read` gives; where it panics, the file is refused as damaged, and nothing is printed.
///
/// The Parquet reader asserts what it should check (found by fuzzing: offsets below 0, pages that need a dictionary which is not there). It leaves no
/// state behind, so that unwinding out of it is sound.
///
/// # Errors
/// As `read`, and a file on which it panics.
pub(crate) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    misdeal_core::guarded(read)
        .unwrap_or_else(|| Err(Error::malformed(path, "it is damaged", "save it again")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        let path = Path::new("a.parquet");
        let refusal = guarded::<()>(path, || panic!("an assertion of somebody else's")).unwrap_err();
        assert!(refusal.to_string().contains("a.parquet: it is damaged"), "{refusal}");
        assert_eq!(guarded(path, || Ok(7)).unwrap(), 7);
    }
}
