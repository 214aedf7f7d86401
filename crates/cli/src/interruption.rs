//! Ctrl-C and its relatives.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// What the process has heard, once it listens.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

struct Signals {
    /// The exit code that the first signal asks for; zero while there was none.
    code: Arc<AtomicUsize>,
    /// For each signal, whether it came: its second one ends the process.
    came: [Arc<AtomicBool>; 2],
}

/// Whether the job has asked since the signal came, so that it saves and ends.
static IS_NOTICED: AtomicBool = AtomicBool::new(false);

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

/// A run that hears signals, and whether it has ended: one thread alone tells its end.
#[derive(Debug, Clone, Default)]
pub struct Listener {
    ended: Arc<Mutex<bool>>,
}

impl Listener {
    /// From now on the first SIGINT or SIGTERM is only noted, and a second one ends the process at once. A job that has not ended by itself in
    /// time after the first is ended too, when no file is being written.
    pub fn listen(&self, patience: Patience) -> Result<(), Failure> {
        hear().map_err(|error| Failure::run_failed(format!("cannot listen for signals: {error}")))?;
        let listener = self.clone();
        std::thread::Builder::new()
            .name("interruption".into())
            .spawn(move || listener.end_after_signal(patience))
            .map_err(|error| Failure::run_failed(format!("cannot start a thread: {error}")))?;
        Ok(())
    }

    /// The run has ended by itself; waits for the end of the process where that is told already.
    pub fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn has_ended(&self) -> bool {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a signal, is patient, and ends the process, unless the job ends first.
    fn end_after_signal(&self, patience: Patience) {
        while exit_code() == 0 {
            if self.has_ended() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(UNNOTICED);
        if let (Patience::ToSave, true) = (patience, IS_NOTICED.load(Ordering::Relaxed)) {
            std::thread::sleep(TO_SAVE);
        }
        let _no_file_is_cut_short = misdeal_files::atomic::hold_writes();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if *ended {
            return;
        }
        let message = "interrupted in the middle of a step or of the preparations; a store keeps what was saved before (--save-every): \
                       run again with --resume, or without --store from the start";
        let _ = writeln!(io::stderr(), "{}", Failure::interrupted(message.into()));
        std::process::exit(i32::from(exit_code()));
    }
}

/// Notes signals from now on, and forgets those of earlier runs.
fn hear() -> io::Result<()> {
    if let Some(signals) = SIGNALS.get() {
        signals.code.store(0, Ordering::Relaxed);
        IS_NOTICED.store(false, Ordering::Relaxed);
        signals.came.iter().for_each(|came| came.store(false, Ordering::Relaxed));
        return Ok(());
    }
    let signals = SIGNALS.get_or_init(|| Signals { code: Arc::default(), came: Default::default() });
    for (signal, came) in [SIGINT, SIGTERM].into_iter().zip(&signals.came) {
        let exit_code = 128 + signal;
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(came))?;
        flag::register(signal, Arc::clone(came))?;
        flag::register_usize(signal, Arc::clone(&signals.code), exit_code as usize)?;
    }
    Ok(())
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
    SIGNALS.get().map_or(0, |signals| signals.code.load(Ordering::Relaxed) as u8)
}
