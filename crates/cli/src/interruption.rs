//! Ctrl-C and its relatives.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The exit code that the first signal asks for; zero while there was none.
static SIGNALLED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// Whether the job has asked since the signal came, so that it saves and ends.
static IS_NOTICED: AtomicBool = AtomicBool::new(false);

/// Whether somebody is telling the end of the process already.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// How long a job that has noticed the signal may take to save what it has and to end by itself, after the first half second.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// Not at all: parts of the job, such as one step of a large model, take minutes and save nothing.
    None,
    /// Four seconds: scores of some gigabytes may have to be put together first.
    ToSave,
}

const UNNOTICED: Duration = Duration::from_millis(500);
const TO_SAVE: Duration = Duration::from_secs(4);

/// From now on the first SIGINT or SIGTERM is only noted, and a second one ends the process at once. A job that has not ended by itself in
/// time after the first is ended too, when no file is being written.
pub fn listen(patience: Patience) -> Result<(), Failure> {
    let code = SIGNALLED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM] {
        let exit_code = 128 + signal;
        let again = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(&again))
            .and_then(|_| flag::register(signal, again))
            .and_then(|_| flag::register_usize(signal, Arc::clone(code), exit_code as usize))
            .map_err(|error| Failure::run_failed(format!("cannot listen for signals: {error}")))?;
    }
    std::thread::Builder::new()
        .name("interruption".into())
        .spawn(move || end_after_signal(patience))
        .map_err(|error| Failure::run_failed(format!("cannot start a thread: {error}")))?;
    Ok(())
}

/// Waits for a signal, is patient, and ends the process.
fn end_after_signal(patience: Patience) {
    while exit_code() == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(UNNOTICED);
    if let (Patience::ToSave, true) = (patience, IS_NOTICED.load(Ordering::Relaxed)) {
        std::thread::sleep(TO_SAVE);
    }
    let _no_file_is_cut_short = misdeal_files::atomic::hold_writes();
    tell_the_end();
    let message = "interrupted in the middle of a step or of the preparations; a store keeps what was saved before (--save-every): \
                   run again with --resume, or without --store from the start";
    Failure::interrupted(message.into()).report();
    std::process::exit(i32::from(exit_code()));
}

/// Must be called before the last line is told: whoever comes second waits for the end.
pub fn tell_the_end() {
    while IS_ENDING.swap(true, Ordering::SeqCst) {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// A file that reaches the limit of its size is an error of writing, with a message, and not the end of the process.
pub fn outlive_file_limits() {
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether a signal has come; whoever asks ends soon if one has.
pub fn has_come() -> bool {
    let has_come = exit_code() != 0;
    if has_come {
        IS_NOTICED.store(true, Ordering::Relaxed);
    }
    has_come
}

/// 130 after SIGINT, 143 after SIGTERM.
pub fn exit_code() -> u8 {
    SIGNALLED.get().map_or(0, |code| code.load(Ordering::Relaxed) as u8)
}
