//! Readers of others that may panic on damaged files.

use crate::{Error, Result};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is expected, and nobody's business.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `read` gives; where it panics, the file is refused as damaged, and nothing is printed.
///
/// The Parquet reader asserts what it should check (found by fuzzing: offsets below 0, pages that need a dictionary which is not there). It leaves no
/// state behind, so that unwinding out of it is sound.
///
/// # Errors
/// As `read`, and a file on which it panics.
pub(crate) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(Error::malformed(path, "it is damaged", "save it again")))
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
        assert!(!IS_GUARDED.get());
    }
}
