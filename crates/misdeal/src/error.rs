//! Why a job did not come to its end.

use std::path::PathBuf;

/// Why a job did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request, or what a file says, was refused.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A file was not read or not written.
    #[error(transparent)]
    File(#[from] misdeal_files::Error),
    /// A data set was not loaded.
    #[error(transparent)]
    Data(#[from] misdeal_train::data::Error),
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

/// `Result` with the jobs' [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
