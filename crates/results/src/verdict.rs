//! [`Verdict`]: what a result says of a claim.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// What follows for a claim, in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[schemars(inline)]
pub enum VerdictKind {
    /// A valid lower bound, of an audit or of theory, is above the claim.
    Refuted,
    /// A proven upper bound is at or below the claim.
    Holds,
    /// Neither.
    Undecided,
    /// Nothing was claimed.
    #[default]
    NoClaim,
}

/// The tone of a verdict, which decides how it is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// The claim is refuted.
    Refuted,
    /// Something is wrong or in doubt.
    Doubt,
    /// Nothing is wrong: the claim is proven, for example.
    Open,
    /// There is nothing to judge.
    #[default]
    Neutral,
}

/// What follows for a claim.
///
/// A result computes it from its numbers; documents have it for their readers, and reading one computes it anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// In a word.
    pub kind: VerdictKind,
    /// In a sentence or two.
    pub sentence: String,
    /// How it is to be taken.
    #[serde(skip)]
    pub tone: Tone,
    /// In two or three words.
    #[serde(skip)]
    pub label: String,
    /// As the end of a line that begins with "Verdict: ".
    #[serde(skip)]
    pub line: String,
}

impl fmt::Display for Verdict {
    /// Writes the sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Verdict {
    /// Creates a verdict; the label and the sentence get a capital first letter.
    pub fn new(kind: VerdictKind, tone: Tone, label: &str, sentence: impl AsRef<str>) -> Self {
        let sentence = capitalised(sentence.as_ref());
        Verdict { kind, tone, label: capitalised(label), line: sentence.clone(), sentence }
    }
}

/// Returns the text with a capital first letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
