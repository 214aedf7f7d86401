//! Sweeps: one model card checked over ranges of one or two of its fields.

use crate::check::with_verdicts;
use crate::numbers::significant;
use crate::request::{self, SweepRequest};
use crate::{CheckedCard, Tone, Verdict, VerdictKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A card, checked at each point of a range or a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Swept {
    /// What was asked for; absent where no command did.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "request::if_known")]
    pub request: Option<SweepRequest>,
    /// The fields that vary; the last one varies fastest.
    pub varied: Vec<VariedField>,
    /// Whether the claim at each point is what Poisson sampling would justify there.
    pub claims_poisson: bool,
    /// A card for each point.
    #[serde(serialize_with = "with_verdicts")]
    #[schemars(with = "Vec<crate::check::JudgedCard<'static>>")]
    pub cards: Vec<CheckedCard>,
}

/// A field that varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariedField {
    /// Its name on a card.
    pub field: String,
    /// Its values, in order.
    pub values: Vec<Value>,
}

impl VariedField {
    /// Returns the values as numbers; `None` if they are names.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(Value::as_f64).collect()
    }

    /// Returns the values as text for people.
    pub fn labels(&self) -> Vec<String> {
        let label = |value: &Value| match value.as_f64() {
            Some(number) => significant(number),
            None => value.as_str().unwrap_or_default().to_owned(),
        };
        self.values.iter().map(label).collect()
    }
}

impl Swept {
    /// Returns each point's values and its card.
    pub fn points(&self) -> impl Iterator<Item = (Vec<String>, &CheckedCard)> {
        let labels: Vec<Vec<String>> = self.varied.iter().map(VariedField::labels).collect();
        self.cards.iter().enumerate().map(move |(i, card)| {
            let mut rest = i;
            let mut values: Vec<String> = labels
                .iter()
                .rev()
                .map(|labels| {
                    let place = rest % labels.len().max(1);
                    rest /= labels.len().max(1);
                    labels.get(place).cloned().unwrap_or_default()
                })
                .collect();
            values.reverse();
            (values, card)
        })
    }

    /// Returns a verdict that counts the refuted, proven and undecided points.
    pub fn verdict(&self) -> Verdict {
        let number = |kind| self.cards.iter().filter(|card| card.verdict().kind == kind).count();
        let [refuted, holds, undecided] =
            [VerdictKind::Refuted, VerdictKind::Holds, VerdictKind::Undecided].map(number);
        let (kind, tone) = match (refuted, undecided) {
            (1.., _) => (VerdictKind::Refuted, Tone::Refuted),
            (_, 1..) => (VerdictKind::Undecided, Tone::Doubt),
            _ => (VerdictKind::Holds, Tone::Open),
        };
        let claim =
            if self.claims_poisson { "the claim that Poisson sampling would justify" } else { "the claim" };
        let sentence = format!(
            "Of {} points {claim} is refuted at {refuted}, proven at {holds} and undecided at {undecided}.",
            self.cards.len()
        );
        Verdict::new(kind, tone, "Sweep", sentence)
    }
}
