//! What a number means for whoever has to decide, and what can be done.

use super::command_line::CommandLine;
use super::section::{Advice, Verdict};
use super::settings;
use crate::numbers::{percent, probability, rounded_down, rounded_up, significant};
use crate::verdict::{Judged, Tone};
use misdeal_core::Setting;

/// What was judged, with what theory knows of it.
pub struct Subject<'a> {
    /// The number and the claim.
    pub judged: &'a Judged,
    /// What was audited.
    pub setting: &'a Setting,
    /// Theory's bounds for its scheme.
    pub theory: [Option<f64>; 2],
    /// Whether the claim is the one that Poisson sampling would justify.
    pub claims_poisson: bool,
}

impl Subject<'_> {
    /// The audit's verdict, and theory's where the audit has none and theory knows more.
    pub fn verdict(&self) -> Verdict {
        let plain = verdict(self.judged);
        match self.contradicted() {
            Some([claim, lower]) if plain.tone != Tone::Refuted => {
                let sentence = format!(
                    "Theory contradicts the claim of epsilon {}: in the worst case {} is proven to leak at least {}. This audit by \
                     itself shows {}.",
                    significant(claim),
                    self.setting.scheme,
                    rounded_down(lower),
                    rounded_down(self.judged.empirical_epsilon)
                );
                Verdict { tone: Tone::Refuted, label: "Contradicted by theory".into(), sentence }
            }
            _ => plain,
        }
    }

    /// The claim and a proven lower bound above it.
    fn contradicted(&self) -> Option<[f64; 2]> {
        let (claim, lower) = (self.judged.claimed_epsilon?, self.theory[0]?);
        (lower > claim).then_some([claim, lower])
    }

    /// What can be done; `further` is the same audit with more observations.
    pub fn advice(&self, further: Option<&str>) -> Vec<Advice> {
        let Some(claim) = self.judged.claimed_epsilon else { return Vec::new() };
        let mut advice = Vec::new();
        if self.judged.refutes() || self.contradicted().is_some() {
            if let Some(upper) = self.theory[1].filter(|&upper| upper > claim) {
                let text =
                    format!("State what is proven of these batches: epsilon at most {}.", rounded_up(upper));
                advice.push(Advice { text, command: None });
            }
            if self.claims_poisson {
                let text = "Or draw batches by Poisson sampling, for which the claim was computed.";
                advice.push(Advice { text: text.into(), command: None });
            }
            let scheme = self.setting.scheme;
            let text = format!("Or find the noise with which {scheme} is proven to meet the claim:");
            let command = settings::shape(CommandLine::new("calibrate"), self.setting)
                .flag("target-epsilon", claim)
                .number("delta", self.judged.delta)
                .flag("scheme", scheme.name())
                .flag_if_any("buffer-size", scheme.buffer_size())
                .text();
            advice.push(Advice { text, command: Some(command) });
        } else if let Some(further) = further {
            let text = "Look further: ten times as many observations may show more.";
            advice.push(Advice { text: text.into(), command: Some(further.into()) });
        }
        advice
    }
}

/// The verdict on a number and its claim.
pub fn verdict(judged: &Judged) -> Verdict {
    let tone = judged.tone();
    let label = match tone {
        Tone::Refuted => "Claim refuted",
        Tone::Doubt => "Open",
        Tone::Open => "Not refuted",
        Tone::Neutral => "No claim tested",
    };
    Verdict { tone, label: label.into(), sentence: capitalised(&judged.sentence()) }
}

/// What the number guarantees, and what it does not.
pub fn meaning(judged: &Judged, guarantee: &str, setting: Option<&Setting>) -> Vec<String> {
    let mut paragraphs = Vec::new();
    if !guarantee.is_empty() {
        paragraphs.push(format!("{}.", capitalised(guarantee.trim_end_matches('.'))));
    }
    if judged.valid {
        let level = percent(judged.significance);
        paragraphs
            .push(format!("An audit like this states more than the truth with probability {level} at most."));
    }
    if judged.empirical_epsilon > 0.0 && judged.empirical_epsilon < 50.0 {
        let times = |epsilon: f64| significant(epsilon.exp());
        let claim = judged.claimed_epsilon.filter(|&claim| claim < 50.0);
        let allowed =
            claim.map_or(String::new(), |claim| format!("; the claim allows {} times", times(claim)));
        paragraphs.push(format!(
            "In plain words: up to a probability of {}, epsilon bounds how many times more likely anything that training gives away may \
             become because one person's record was used. Epsilon {} is {} times{allowed}.",
            probability(judged.delta),
            rounded_down(judged.empirical_epsilon),
            times(judged.empirical_epsilon)
        ));
    }
    if let Some(setting) = setting {
        paragraphs.push(settings::threat(setting.threat_model).into());
    }
    paragraphs.push("An audit can refute a claim. It cannot prove one.".into());
    paragraphs
}

/// With a capital letter.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
