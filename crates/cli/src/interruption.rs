//! Handles SIGINT (Ctrl-C) and SIGTERM.

use crate::failure::Failure;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The signals that the process received since it started to listen.
static SIGNALS: OnceLock<Signals> = OnceLock::new();

struct Signals {
    /// The exit code for the signal that came; zero if none came.
    code: Arc<AtomicUsize>,
    /// Whether each signal has come. If it comes again, the process ends.
    came: [Arc<AtomicBool>; 2],
}

/// Whether the job has asked for signals since one came. Such a job saves and ends.
static IS_NOTICED: AtomicBool = AtomicBool::new(false);

/// The extra time that a job gets to save its results after a signal.
///
/// The time counts from half a second after the signal. Only a job that has noticed the signal gets it.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// No extra time. Parts of the job, such as one step of a large model, take minutes and save nothing.
    None,
    /// Four seconds. The job may first have to merge several gigabytes of scores.
    ToSave,
}

const UNNOTICED: Duration = Duration::from_millis(500);
const TO_SAVE: Duration = Duration::from_secs(4);

/// A run that listens for signals, and whether it has ended.
///
/// The lock ensures that only one thread reports the end of the run.
#[derive(Debug, Clone, Default)]
pub struct Listener {
    ended: Arc<Mutex<bool>>,
}

impl Listener {
    /// Starts to listen for SIGINT and SIGTERM.
    ///
    /// The first signal is only noted. If the same signal comes again, the process ends at once. A job that does not end by itself in time
    /// after the
    /// first signal is ended too, but not while a file is being written.
    pub fn listen(&self, patience: Patience) -> Result<(), Failure> {
        hear().map_err(|error| Failure::run_failed(format!("cannot listen for signals: {error}")))?;
        let listener = self.clone();
        std::thread::Builder::new()
            .name("interruption".into())
            .spawn(move || listener.end_after_signal(patience))
            .map_err(|error| Failure::run_failed(format!("cannot start a thread: {error}")))?;
        Ok(())
    }

    /// Marks the run as ended. Waits if another thread is already ending the process.
    pub fn end(&self) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn has_ended(&self) -> bool {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a signal and for the extra time, then ends the process unless the job ended first.
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

/// Starts to note signals, and forgets those of earlier runs.
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

/// Turns a reached file-size limit into a write error, instead of the end of the process.
pub fn outlive_file_limits() {
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Whether a signal has come. If so, the caller should save and end soon.
pub fn has_come() -> bool {
    let has_come = exit_code() != 0;
    if has_come {
        IS_NOTICED.store(true, Ordering::Relaxed);
    }
    has_come
}

/// Returns the exit code: 130 after SIGINT, 143 after SIGTERM, 0 without a signal.
pub fn exit_code() -> u8 {
    SIGNALS.get().map_or(0, |signals| signals.code.load(Ordering::Relaxed) as u8)
}
