//! The end of a command: exit codes, and one line for each failure.

use crate::{hints, interruption};
use misdeal_core::{printable, spell_fields};
use misdeal_results::{Document, VerdictKind};
use std::fmt::{self, Display};

/// The outcome of a command that ran without failure.
pub enum Success {
    /// Exit code 0.
    Fine,
    /// Exit code 1: the result is bad news, and the caller asked for an exit code that shows it.
    BadNews,
}

impl Success {
    /// Returns bad news if `check` is set and the document refutes a claim.
    pub fn of(check: bool, document: &Document) -> Self {
        let is_refuted = document.verdict().is_some_and(|verdict| verdict.kind == VerdictKind::Refuted);
        if check && is_refuted { Success::BadNews } else { Success::Fine }
    }
}

/// A failed command, with its exit code and its message.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Creates the failure of a run that a signal interrupted.
    pub fn interrupted(message: String) -> Self {
        Failure { code: interruption::exit_code(), message }
    }

    /// Creates a failure with exit code 3: the request was valid, but the run failed.
    pub fn run_failed(message: impl Display) -> Self {
        Failure { code: 3, message: message.to_string() }
    }

    /// Creates the failure of a file that could not be read (exit code 2) or written (exit code 3).
    fn of_file(error: &misdeal_files::Error) -> Self {
        Failure { code: if error.is_failed_write() { 3 } else { 2 }, message: error.to_string() }
    }

    /// Returns the exit code.
    pub fn code(&self) -> u8 {
        self.code
    }
}

/// Writes the message on one line, made readable.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "misdeal: {}", readable(&self.message))
    }
}

/// Puts a message on one line, and cuts very long words in the middle.
///
/// Long words can occur because names and values come from the user's files.
fn readable(message: &str) -> String {
    const LONGEST: usize = 400;
    const KEPT: usize = 80;
    let word = |word: &str| {
        let length = word.chars().count();
        if length <= LONGEST {
            return word.to_owned();
        }
        let start: String = word.chars().take(KEPT).collect();
        let end: String = word.chars().skip(length - KEPT).collect();
        format!("{start}[{} characters]{end}", length - 2 * KEPT)
    };
    printable(&message.split(' ').map(word).collect::<Vec<_>>().join(" ")).into_owned()
}

/// Returns the flag of a field: `batch_size` becomes `--batch-size`.
fn flag(field: &str) -> String {
    match field {
        // Counted, not given: there is no such flag.
        "observations_per_world" => "observations per world:".to_owned(),
        _ => format!("--{}", field.replace('_', "-")),
    }
}

/// Replaces the fields in a message by their flags.
fn spelled(message: &str) -> String {
    spell_fields(message, flag)
}

impl From<misdeal_core::Error> for Failure {
    fn from(error: misdeal_core::Error) -> Self {
        let message = match error {
            misdeal_core::Error::Device(message) => return Failure::run_failed(spelled(&message)),
            misdeal_core::Error::BadValue { field, value, allowed, hint } => {
                format!("{} {value}: allowed is {}; {}", flag(field), spelled(&allowed), spelled(&hint))
            }
            other => other.to_string(),
        };
        Failure { code: 2, message }
    }
}

impl From<misdeal_files::Error> for Failure {
    fn from(error: misdeal_files::Error) -> Self {
        Failure::of_file(&error)
    }
}

impl From<misdeal_results::Unreadable> for Failure {
    fn from(error: misdeal_results::Unreadable) -> Self {
        Failure { code: 2, message: error.to_string() }
    }
}

impl From<misdeal_scan::Error> for Failure {
    fn from(error: misdeal_scan::Error) -> Self {
        match error {
            misdeal_scan::Error::Threads(_) => Failure::run_failed(error),
            other => Failure { code: 2, message: other.to_string() },
        }
    }
}

impl From<misdeal::Error> for Failure {
    fn from(error: misdeal::Error) -> Self {
        match (error.refusal(), error.file()) {
            (Some(refusal), _) => refusal.clone().into(),
            (_, Some(file)) => Failure::of_file(file),
            _ if error.is_interrupted() => Failure::interrupted(spelled(&error.to_string())),
            _ => Failure { code: 2, message: spelled(&error.to_string()) },
        }
    }
}

/// Creates the failure for wrong arguments, with clap's message on one line.
pub fn of_arguments(error: &clap::Error, words: &[String]) -> Failure {
    let line = hints::better(error, words).unwrap_or_else(|| {
        let text = error.to_string();
        let told =
            text.split("\n\nUsage:").next().unwrap_or(&text).split("\n\nFor more").next().unwrap_or(&text);
        let line = told.split_whitespace().collect::<Vec<_>>().join(" ");
        line.trim_start_matches("error: ").to_owned()
    });
    Failure { code: 2, message: format!("{line}; see --help") }
}
