//! Cards in files.

use super::{front_matter, privacy_statement};
use crate::Result;
use misdeal_files::{Error, text};
use misdeal_results::request::Card;
use std::path::{Path, PathBuf};

/// A card, its file and remarks about its source.
#[derive(Debug, Clone)]
pub struct ReadCard {
    /// What it states.
    pub card: Card,
    /// What a reader should know of its source.
    pub remarks: Vec<String>,
    /// Its file, if it is in one.
    pub path: Option<PathBuf>,
}

/// Reads a card: TOML, Markdown with YAML in front, or the text of a privacy statement.
///
/// # Errors
/// A file that cannot be read, or that is no card.
pub fn card(path: &Path) -> Result<ReadCard> {
    let content = text::read(path)?;
    let refused = |problem: String| {
        let hint = "keys are those of the flags: dataset_size, batch_size, epochs, noise_multiplier, delta, claimed_epsilon, scheme";
        crate::Error::from(Error::malformed(path, problem, hint))
    };
    let (card, remarks) = if privacy_statement::is_one(&content) {
        privacy_statement::read(&content).map_err(refused)?
    } else if front_matter::is_one(&content) {
        (front_matter::read(&content).map_err(refused)?, Vec::new())
    } else {
        (toml::from_str(&content).map_err(|error| refused(one_line(&error.to_string())))?, Vec::new())
    };
    Ok(ReadCard { card, remarks, path: Some(path.to_owned()) })
}

/// A parser's message on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
