//! Reads model cards from files.

use super::{front_matter, privacy_statement};
use crate::Result;
use misdeal_files::{Error, text};
use misdeal_results::request::Card;
use std::path::{Path, PathBuf};

/// A card, its file, and remarks about its source.
#[derive(Debug, Clone)]
pub struct ReadCard {
    /// The values that the card states.
    pub card: Card,
    /// Remarks for readers about the source of the card.
    pub remarks: Vec<String>,
    /// The file of the card, if it was read from a file.
    pub path: Option<PathBuf>,
}

/// Reads a card from TOML, from Markdown with YAML front matter, or from the text of a privacy statement.
///
/// # Errors
/// The file cannot be read, or it contains no card.
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

/// Returns a parser's message on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
