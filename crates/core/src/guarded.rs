//! Panics in third-party parsers become errors.
//!
//! The Parquet reader and the Python parser use assertions that a damaged file can violate; fuzzing found both. They
//! run behind `catch_unwind`, with a panic hook that prints nothing for that thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether this thread runs guarded code, so its panics are not printed.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// The result of `work`, or `None` if it panics. The panic is not printed.
///
/// Use it for readers and parsers that assert what they should check. `work` must not leave state behind that a panic
/// could make inconsistent.
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
