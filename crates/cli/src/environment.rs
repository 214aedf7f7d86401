//! [`Environment`]: where a run prints, and whether it listens for signals.

use crate::failure::Failure;
use crate::interruption::{Listener, Patience};
use comfy_table::{ContentArrangement, Table, presets};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The least width in columns. A narrower terminal counts as one of unknown width.
const NARROWEST: u16 = 20;

/// The environment of a run: the process with its streams and signals, or two buffers.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    captured: Option<Arc<Mutex<Captured>>>,
    listener: Listener,
}

/// The text that a run printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Environment {
    /// Creates the environment of the process: standard output and error, SIGINT and SIGTERM.
    pub fn process() -> Self {
        Environment::default()
    }

    /// Creates an environment of two buffers, without terminal and signals.
    pub fn captured() -> Self {
        Environment { captured: Some(Arc::default()), ..Environment::default() }
    }

    /// Returns the text printed so far into the buffers. It is empty for the environment of the process.
    pub fn printed(&self) -> Captured {
        self.buffers().map(|buffers| buffers.clone()).unwrap_or_default()
    }

    fn buffers(&self) -> Option<MutexGuard<'_, Captured>> {
        self.captured.as_ref().map(|buffers| buffers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn is_process(&self) -> bool {
        self.captured.is_none()
    }

    /// Writes to standard output.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        match self.buffers() {
            Some(mut buffers) => buffers.stdout.write_all(text.as_bytes()),
            None => io::stdout().lock().write_all(text.as_bytes()),
        }
    }

    /// Writes a line to standard error, and ignores failures to write.
    pub(crate) fn tell(&self, line: &str) {
        let line = format!("{line}\n");
        let _ = match self.buffers() {
            Some(mut buffers) => buffers.stderr.write_all(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }

    /// Whether standard error is a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_process() && io::stderr().is_terminal()
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_read(&self) -> bool {
        self.is_process() && io::stdout().is_terminal()
    }

    /// Returns the terminal's width in columns, or `COLUMNS` if there is no terminal.
    fn columns(&self) -> Option<u16> {
        if !self.is_process() {
            return None;
        }
        let of_terminal = if self.is_read() { Table::new().width() } else { None };
        let stated = || std::env::var("COLUMNS").ok()?.parse().ok();
        of_terminal.or_else(stated).filter(|&columns| columns >= NARROWEST)
    }

    /// Returns the largest width of a line: the terminal's, or 100 without a terminal.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.columns().unwrap_or(100))
    }

    /// Creates an empty table without borders.
    ///
    /// The table is as wide as the terminal, or `width` characters without a terminal.
    pub(crate) fn table(&self, width: u16) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(self.columns().unwrap_or(width)).force_no_tty();
        table
    }

    /// Starts to listen for signals, if this is the environment of the process.
    pub(crate) fn listen(&self, patience: Patience) -> Result<(), Failure> {
        if self.is_process() { self.listener.listen(patience) } else { Ok(()) }
    }

    /// Marks the run as ended. Call this before the last line is printed.
    ///
    /// If a signal is already ending the process, this call waits for the process to end.
    pub(crate) fn end(&self) {
        self.listener.end();
    }
}
