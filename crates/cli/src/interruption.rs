//! Ctrl-C and its relatives.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The exit code that the first signal asks for; zero while there was none.
static SIGNALLED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on the first SIGINT or SIGTERM is only noted, and a second one ends the process at once.
pub fn listen() -> Result<(), Failure> {
    let code = SIGNALLED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        let exit_code = 128 + signal;
        let again = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(&again))
            .and_then(|_| flag::register(signal, again))
            .and_then(|_| flag::register_usize(signal, Arc::clone(code), exit_code as usize))
            .map_err(|error| Failure::run_failed(format!("cannot listen for signals: {error}")))?;
    }
    Ok(())
}

/// A file that reaches the limit of its size is an error of writing, with a message, and not the end of the process.
pub fn outlive_file_limits() {
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether a signal has come.
pub fn has_come() -> bool {
    exit_code() != 0
}

/// 130 after SIGINT, 143 after SIGTERM.
pub fn exit_code() -> u8 {
    SIGNALLED.get().map_or(0, |code| code.load(Ordering::Relaxed) as u8)
}
