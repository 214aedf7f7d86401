//! Model cards of Hugging Face: Markdown with YAML front matter. The card is under the key `privacy`.

use misdeal_results::request::Card;
use serde::Deserialize;

/// The keys of the front matter that we read. All other keys are ignored.
#[derive(Debug, Deserialize)]
struct FrontMatter {
    privacy: Option<Card>,
    #[serde(default)]
    model_name: Option<String>,
}

const FENCE: &str = "---";

/// Returns whether the text begins like Markdown with front matter.
pub fn is_one(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().next().is_some_and(|line| line.trim_end() == FENCE)
}

/// Reads the card under `privacy`.
///
/// # Errors
/// The front matter has no end, the key is missing, or a field has a wrong value. The message says which.
pub fn read(text: &str) -> Result<Card, String> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().skip(1);
    let yaml: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != FENCE).collect();
    if yaml.len() + 1 == text.lines().count() {
        return Err("its front matter does not end with a line ---".into());
    }
    let options = serde_saphyr::options! { strict_booleans: true };
    let found: FrontMatter = serde_saphyr::from_str_with_options(&yaml.join("\n"), options)
        .map_err(|error| error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))?;
    let card =
        found.privacy.ok_or("its front matter has no key `privacy` with the numbers of the training")?;
    Ok(Card { name: card.name.or(found.model_name), ..card })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = "---\nlicense: mit\ntags: [dp]\nprivacy:\n  dataset_size: 60000\n  batch_size: 512\n  epochs: 15\n  \
                        noise_multiplier: 0.8\n  delta: 1e-5\n  claimed_epsilon: 2.1\n---\n# Model\n";

    #[test]
    fn the_card_under_privacy_is_read() {
        let card = read(CARD).unwrap();
        assert!(is_one(CARD) && !is_one("# Model\n"));
        assert_eq!((card.dataset_size, card.delta, card.scheme), (Some(60_000), Some(1e-5), None));
    }

    #[test]
    fn what_is_no_card_is_refused() {
        for (text, words) in [
            ("---\nlicense: mit\n---\n", "privacy"),
            ("---\nprivacy:\n  dataset_size: 1\n", "does not end"),
            ("---\nprivacy:\n  batchsize: 1\n---\n", "batchsize"),
            ("---\nprivacy: [1, 2]\n---\n", ""),
            ("---\na: &a [1]\nprivacy: *b\n---\n", ""),
        ] {
            assert!(read(text).unwrap_err().contains(words), "{text}");
        }
    }
}
