//! Turns panics in third-party parsers into errors.

use crate::{Error, Result};
use std::path::Path;

/// Runs `read`. A panic becomes an error that says the file is damaged, and nothing is printed.
///
/// The Parquet reader uses assertions where it should return errors (fuzzing found negative offsets and missing dictionaries). It
/// keeps no state, so it is safe to unwind out of it.
///
/// # Errors
/// `read` returns an error or panics.
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
