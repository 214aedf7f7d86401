//! What a result says of a claim.

use crate::Judged;
use misdeal_core::BatchScheme;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What follows for a claim, in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
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

/// What follows for a claim.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// In a word.
    pub kind: VerdictKind,
    /// In a sentence or two.
    pub sentence: String,
}

impl fmt::Display for Verdict {
    /// The sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl Judged {
    /// The verdict of an estimate and of theory's bounds for the scheme that ran, if it is known.
    pub fn verdict(&self, scheme: Option<BatchScheme>, theory: [Option<f64>; 2]) -> Verdict {
        let kind = if self.claimed_epsilon.is_none() {
            VerdictKind::NoClaim
        } else if self.refutes() || self.contradicted(theory).is_some() {
            VerdictKind::Refuted
        } else if self.proven(theory).is_some() {
            VerdictKind::Holds
        } else {
            VerdictKind::Undecided
        };
        let by_theory = scheme.and_then(|scheme| self.by_theory(scheme, theory));
        let sentence = by_theory.map_or_else(|| capitalised(&self.sentence()), |says| says.sentence);
        Verdict { kind, sentence }
    }
}

/// The text with a capital at its beginning.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_valid_bounds_alone() {
        let kind = |epsilon: f64, valid: bool, claimed_epsilon: Option<f64>, theory: [Option<f64>; 2]| {
            let judged = Judged {
                empirical_epsilon: epsilon,
                valid,
                guarantee: String::new(),
                delta: 1e-5,
                significance: 0.05,
                claimed_epsilon,
                largest_epsilon: None,
            };
            judged.verdict(Some(BatchScheme::Shuffle), theory).kind
        };
        let unknown = [None, None];
        assert_eq!(kind(2.0, true, None, [Some(3.0), None]), VerdictKind::NoClaim);
        assert_eq!(kind(2.0, true, Some(1.0), unknown), VerdictKind::Refuted);
        assert_eq!(kind(2.0, false, Some(1.0), unknown), VerdictKind::Undecided);
        assert_eq!(kind(0.5, true, Some(1.0), [Some(1.5), Some(2.0)]), VerdictKind::Refuted);
        assert_eq!(kind(0.5, true, Some(2.0), [Some(1.5), Some(2.0)]), VerdictKind::Holds);
        assert_eq!(kind(0.5, true, Some(1.7), [Some(1.5), Some(2.0)]), VerdictKind::Undecided);
    }
}
