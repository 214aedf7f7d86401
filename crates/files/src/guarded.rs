//! Panics in third-party parsers become errors.

use crate::{Error, Result};
use std::path::Path;

/// Runs `read`; a panic becomes the error that the file is damaged, and prints nothing.
///
/// The Parquet reader asserts what it should check (fuzzing found negative offsets and missing dictionaries). It keeps no state, so unwinding
/// out of it is sound.
///
/// # Errors
/// As `read`; and a panic.
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
