//! What surrounds a run: where it prints, and whether it hears signals.

use crate::failure::Failure;
use crate::interruption::{Listener, Patience};
use comfy_table::{ContentArrangement, Table, presets};
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Narrower terminals are taken for ones of unknown width.
const NARROWEST: u16 = 20;

/// What surrounds a run: the process with its streams and signals, or nothing but two buffers.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    captured: Option<Arc<Mutex<Captured>>>,
    listener: Listener,
}

/// What a run printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Environment {
    /// The process: standard output and error, SIGINT and SIGTERM.
    pub fn process() -> Self {
        Environment::default()
    }

    /// Two buffers; a run sees no terminal and no signals.
    pub fn captured() -> Self {
        Environment { captured: Some(Arc::default()), ..Environment::default() }
    }

    /// What was printed so far; nothing where the process printed it.
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

    /// Writes a line to standard error; nobody hears it where nothing can be written.
    pub(crate) fn tell(&self, line: &str) {
        let line = format!("{line}\n");
        let _ = match self.buffers() {
            Some(mut buffers) => buffers.stderr.write_all(line.as_bytes()),
            None => io::stderr().write_all(line.as_bytes()),
        };
    }

    /// Whether somebody watches standard error.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_process() && io::stderr().is_terminal()
    }

    /// Whether somebody reads standard output.
    pub(crate) fn is_read(&self) -> bool {
        self.is_process() && io::stdout().is_terminal()
    }

    /// Columns of the terminal, or of `COLUMNS` where there is none.
    fn columns(&self) -> Option<u16> {
        if !self.is_process() {
            return None;
        }
        let of_terminal = if self.is_read() { Table::new().width() } else { None };
        let stated = || std::env::var("COLUMNS").ok()?.parse().ok();
        of_terminal.or_else(stated).filter(|&columns| columns >= NARROWEST)
    }

    /// Columns that lines may fill: those of the terminal, 100 where there is none.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.columns().unwrap_or(100))
    }

    /// An empty table without lines, as wide as the terminal, or `width` characters where there is none.
    pub(crate) fn table(&self, width: u16) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(self.columns().unwrap_or(width)).force_no_tty();
        table
    }

    /// Hears signals from now on, if there is a process to end.
    pub(crate) fn listen(&self, patience: Patience) -> Result<(), Failure> {
        if self.is_process() { self.listener.listen(patience) } else { Ok(()) }
    }

    /// Must be called before the last line is told: whoever comes second waits for the end.
    pub(crate) fn end(&self) {
        self.listener.end();
    }
}
