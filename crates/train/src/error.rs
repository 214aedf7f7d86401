//! Why a model was not trained.

/// Why a model was not trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value lies outside its range.
    #[error(transparent)]
    Refused(#[from] misdeal_core::Error),
    /// A data set was not loaded.
    #[error(transparent)]
    Data(#[from] crate::data::Error),
}

/// `Result` with the [`Error`] of training.
pub type Result<T> = std::result::Result<T, Error>;
