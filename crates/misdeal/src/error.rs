//! Why a job did not come to its end.

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

/// What lies behind an [`Error`].
#[derive(Debug, thiserror::Error)]
enum Cause {
    /// The request, or what a file says, was refused.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A file was not read or not written.
    #[error(transparent)]
    File(#[from] misdeal_files::Error),
    /// A data set was not loaded.
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
        /// Where they were saved.
        store: Option<PathBuf>,
    },
    /// The watcher interrupted a simulation, which has nothing to keep.
    #[error("interrupted; a simulation keeps nothing, so run the command again, perhaps with fewer samples")]
    SimulationInterrupted,
}

impl Error {
    /// A job that its watcher interrupted after so many observations, which are kept in `store`.
    pub fn interrupted(observations: u64, store: Option<PathBuf>) -> Self {
        Cause::Interrupted { observations, store }.into()
    }

    /// A simulation that its watcher interrupted.
    pub(crate) fn simulation_interrupted() -> Self {
        Cause::SimulationInterrupted.into()
    }

    /// Whether a value of the request is out of its range.
    pub fn is_bad_value(&self) -> bool {
        matches!(self.refusal(), Some(BadValue { .. }))
    }

    /// Whether a file, a store or a data set is missing, damaged, or not what the request is about.
    pub fn is_bad_input(&self) -> bool {
        !self.is_bad_value() && !self.is_device() && !self.is_interrupted() && !self.is_failed_write()
    }

    /// Whether a data set could not be loaded.
    pub fn is_bad_data(&self) -> bool {
        matches!(&*self.0, Cause::Data(_))
    }

    /// Whether a file could not be written: the request was fine.
    pub fn is_failed_write(&self) -> bool {
        self.file().is_some_and(misdeal_files::Error::is_failed_write)
    }

    /// Whether the device is missing or failed. The request itself was fine.
    pub fn is_device(&self) -> bool {
        matches!(self.refusal(), Some(Device(_)))
    }

    /// Whether the watcher interrupted the job.
    pub fn is_interrupted(&self) -> bool {
        matches!(&*self.0, Cause::Interrupted { .. } | Cause::SimulationInterrupted)
    }

    /// How many observations an interrupted job had made, in both worlds together.
    pub fn observations(&self) -> Option<u64> {
        match *self.0 {
            Cause::Interrupted { observations, .. } => Some(observations),
            _ => None,
        }
    }

    /// The refusal behind it, for whoever spells its field in another way.
    pub fn refusal(&self) -> Option<&misdeal_core::Error> {
        match &*self.0 {
            Cause::Refused(error) | Cause::Data(data::Error::Refused(error)) => Some(error),
            _ => None,
        }
    }

    /// The error of a file behind it.
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

/// `Result` with the jobs' [`Error`].
///
/// [`Error`] has an example.
pub type Result<T> = std::result::Result<T, Error>;
