//! Panics in third-party parsers become errors.
//!
//! The Parquet reader and the Python parser assert what a damaged file may violate (fuzzing found both). They run
//! behind `catch_unwind`, with a panic hook that is silent for that thread only.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic of this thread is expected, and nobody's business.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `work` gives; `None` where it panics, and nothing is printed.
///
/// For readers and parsers that assert what they should check. `work` must leave no state behind that a panic could make wrong.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                others(panic);
            }
        }));
    });
    let before = IS_GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(before);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_nothing_and_the_guard_ends() {
        assert_eq!(guarded::<()>(|| panic!("an assertion of somebody else's")), None);
        assert_eq!(guarded(|| (guarded::<()>(|| panic!("within")), IS_GUARDED.get())), Some((None, true)));
        assert_eq!((guarded(|| 7), IS_GUARDED.get()), (Some(7), false));
    }
}
