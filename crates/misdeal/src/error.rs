//! The reasons why a job can fail.

use misdeal_core::Error::{BadValue, Device};
use misdeal_train::data;
use std::path::PathBuf;

/// The reason why a job failed or was interrupted.
///
/// The message is one line. It names the field, the value, what is allowed and what to do.
///
/// ```
/// use misdeal::Setting;
/// let error = Setting::new(-1.0).account(1e-5).unwrap_err();
/// assert!(error.is_bad_value() && !error.is_interrupted());
/// assert!(error.to_string().starts_with("noise_multiplier is -1"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Cause>);

/// The cause of an [`Error`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    /// The request, or the content of a file, was refused.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] misdeal_files::Error),
    /// A data set could not be loaded.
    #[error(transparent)]
    Data(#[from] data::Error),
    /// The watcher interrupted the job.
    #[error("interrupted after {observations} observations; {}", match store {
        _ if *observations == 0 => "run the command again".to_owned(),
        Some(path) => format!("they are kept in {}: run the same command with `resume` to go on", path.display()),
        None => "nothing was kept: give `store` to be able to go on later".to_owned(),
    })]
    Interrupted {
        /// Observations played in both worlds together.
        observations: u64,
        /// The file in which they were saved.
        store: Option<PathBuf>,
    },
    /// The watcher interrupted a simulation. Simulations save nothing.
    #[error("interrupted; a simulation keeps nothing, so run the command again, perhaps with fewer samples")]
    SimulationInterrupted,
    /// The watcher interrupted the writing of a plan.
    #[error("interrupted; no plan was written, so run the command again")]
    DealInterrupted,
}

impl Error {
    /// Returns the error for an interrupted job with this many observations, saved in `store`.
    pub fn interrupted(observations: u64, store: Option<PathBuf>) -> Self {
        Cause::Interrupted { observations, store }.into()
    }

    /// Returns the error for an interrupted simulation.
    pub(crate) fn simulation_interrupted() -> Self {
        Cause::SimulationInterrupted.into()
    }

    /// Returns whether a value of the request is out of range.
    pub fn is_bad_value(&self) -> bool {
        matches!(self.refusal(), Some(BadValue { .. }))
    }

    /// Returns whether a file, store or data set is missing, damaged, or does not fit the request.
    pub fn is_bad_input(&self) -> bool {
        !self.is_bad_value() && !self.is_device() && !self.is_interrupted() && !self.is_failed_write()
    }

    /// Returns whether a data set could not be loaded.
    pub fn is_bad_data(&self) -> bool {
        matches!(&*self.0, Cause::Data(_))
    }

    /// Returns whether a file could not be written. The request itself was fine.
    pub fn is_failed_write(&self) -> bool {
        self.file().is_some_and(misdeal_files::Error::is_failed_write)
    }

    /// Returns whether the device is missing or failed. The request itself was fine.
    pub fn is_device(&self) -> bool {
        matches!(self.refusal(), Some(Device(_)))
    }

    /// Returns whether the watcher interrupted the job.
    pub fn is_interrupted(&self) -> bool {
        matches!(&*self.0, Cause::Interrupted { .. } | Cause::SimulationInterrupted | Cause::DealInterrupted)
    }

    /// Returns how many observations an interrupted job had made, in both worlds together.
    pub fn observations(&self) -> Option<u64> {
        match *self.0 {
            Cause::Interrupted { observations, .. } => Some(observations),
            _ => None,
        }
    }

    /// Returns the refusal that caused this error, if any. Callers can use it to spell field names their own way.
    pub fn refusal(&self) -> Option<&misdeal_core::Error> {
        match &*self.0 {
            Cause::Refused(error) | Cause::Data(data::Error::Refused(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns the file error that caused this error, if any.
    pub fn file(&self) -> Option<&misdeal_files::Error> {
        match &*self.0 {
            Cause::File(error) => Some(error),
            _ => None,
        }
    }
}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Error(Box::new(cause))
    }
}

impl From<misdeal_core::Error> for Error {
    fn from(error: misdeal_core::Error) -> Self {
        Cause::from(error).into()
    }
}

impl From<misdeal_files::Error> for Error {
    fn from(error: misdeal_files::Error) -> Self {
        Cause::from(error).into()
    }
}

impl From<data::Error> for Error {
    fn from(error: data::Error) -> Self {
        Cause::from(error).into()
    }
}

/// `Result` with this crate's [`Error`].
///
/// [`Error`] has an example.
pub type Result<T> = std::result::Result<T, Error>;
