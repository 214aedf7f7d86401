//! A model card over a range of one or two fields.

use super::{Card, Request, default_of_flags};
use clap::Args;
use misdeal_core::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most points of a sweep.
pub const MOST_POINTS: usize = 400;

/// What `sweep` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SweepRequest {
    /// A field and its values, once or twice: FIELD=A,B,C, or FIELD=FROM:TO:COUNT for even steps, or FIELD=FROM:TO:COUNT:log for
    /// even factors. Fields are the other flags, such as noise-multiplier, epochs or scheme
    #[arg(long, required = true, value_name = "FIELD=VALUES")]
    pub vary: Vec<String>,
    /// The card, in flags; --claimed-epsilon is what Poisson sampling would justify at each point if not given.
    #[command(flatten)]
    #[serde(flatten)]
    pub card: Card,
}

default_of_flags!(SweepRequest);

impl Request for SweepRequest {
    const COMMAND: &str = "sweep";
}

/// One field with the values that it takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Variation {
    /// The field, as a card has it.
    pub field: String,
    /// Its values: numbers or names.
    pub values: Vec<Value>,
}

/// Fields that count things.
const COUNTS: [&str; 5] = ["dataset_size", "batch_size", "epochs", "steps", "buffer_size"];
/// Fields that are numbers.
const NUMBERS: [&str; 3] = ["noise_multiplier", "delta", "claimed_epsilon"];

impl SweepRequest {
    /// The fields that vary.
    ///
    /// # Errors
    /// None or more than two, an unknown field, a field that the card sets too, or values that cannot be read.
    pub fn variations(&self) -> Result<Vec<Variation>> {
        let refused = |value: &str, allowed: &str| {
            let hint = "for example --vary noise-multiplier=0.5:2:7 or --vary scheme=shuffle,poisson";
            Error::bad_value("vary", value, allowed, hint)
        };
        if self.vary.is_empty() || self.vary.len() > 2 {
            return Err(refused(&format!("{} fields", self.vary.len()), "one or two fields"));
        }
        let set = self.card.stated();
        let mut found: Vec<Variation> = Vec::new();
        for text in &self.vary {
            let one = variation(text).map_err(|allowed| refused(text, &allowed))?;
            if found.iter().any(|other| other.field == one.field) {
                return Err(refused(text, "each field once"));
            }
            if set.contains(&one.field.as_str()) {
                return Err(refused(text, "a field that no other flag sets"));
            }
            found.push(one);
        }
        let points: usize = found.iter().map(|one| one.values.len()).product();
        if points > MOST_POINTS {
            return Err(refused(&format!("{points} points"), &format!("at most {MOST_POINTS} points")));
        }
        Ok(found)
    }
}

fn variation(text: &str) -> std::result::Result<Variation, String> {
    let (field, values) = text.split_once('=').ok_or("FIELD=VALUES")?;
    let field = match field.trim().trim_start_matches("--").replace('-', "_").as_str() {
        "records" => "dataset_size".to_owned(),
        "sigma" => "noise_multiplier".to_owned(),
        other => other.to_owned(),
    };
    if field == "scheme" {
        let names = values.split(',').map(|name| Value::from(name.trim()));
        return Ok(Variation { field, values: names.collect() });
    }
    let is_count = COUNTS.contains(&field.as_str());
    if !is_count && !NUMBERS.contains(&field.as_str()) {
        return Err(format!("one of {}, {}, scheme", COUNTS.join(", "), NUMBERS.join(", ")));
    }
    let mut numbers = numbers(values)?;
    if is_count {
        // Points that round to the same count are one.
        numbers = numbers.into_iter().map(f64::round).collect();
        numbers.dedup();
        if let Some(bad) = numbers.iter().find(|value| !(1.0..9e15).contains(*value)) {
            return Err(format!("counts from 1, and not {bad}"));
        }
    }
    let value = |number: f64| if is_count { Value::from(number as u64) } else { Value::from(number) };
    Ok(Variation { field, values: numbers.into_iter().map(value).collect() })
}

/// A list of numbers, or a range.
fn numbers(text: &str) -> std::result::Result<Vec<f64>, String> {
    let number = |text: &str| match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("finite numbers".to_owned()),
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (from, to, points, is_log) = match parts[..] {
        [list] => return list.split(',').map(number).collect(),
        [from, to, points] => (number(from)?, number(to)?, number(points)?, false),
        [from, to, points, "log"] => (number(from)?, number(to)?, number(points)?, true),
        _ => return Err("FROM:TO:COUNT, or FROM:TO:COUNT:log".into()),
    };
    if points.fract() != 0.0 || !(2.0..=MOST_POINTS as f64).contains(&points) {
        return Err(format!("a range of 2 to {MOST_POINTS} points"));
    }
    if is_log && !(from > 0.0 && to > 0.0) {
        return Err("a logarithmic range of numbers above 0".into());
    }
    let share = |i: u64| i as f64 / (points - 1.0);
    let at = |i: u64| match is_log {
        _ if i == 0 => from,
        _ if i as f64 == points - 1.0 => to,
        true => from * (to / from).powf(share(i)),
        false => from + (to - from) * share(i),
    };
    // Seven digits are enough, and read better.
    let short = |value: f64| format!("{value:.6e}").parse().unwrap_or(value);
    Ok((0..points as u64).map(|i| short(at(i))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn varied(vary: &[&str]) -> std::result::Result<Vec<Value>, String> {
        let request =
            SweepRequest { vary: vary.iter().map(ToString::to_string).collect(), ..SweepRequest::default() };
        let found = request.variations().map_err(|error| error.to_string())?;
        Ok(found.into_iter().map(|one| json!({ one.field: one.values })).collect())
    }

    #[test]
    fn lists_and_ranges_are_read() {
        assert_eq!(varied(&["noise-multiplier=0.5,1"]).unwrap(), [json!({"noise_multiplier": [0.5, 1.0]})]);
        assert_eq!(varied(&["epochs=1:9:3"]).unwrap(), [json!({"epochs": [1, 5, 9]})]);
        assert_eq!(varied(&["sigma=0.01:1:3:log"]).unwrap(), [json!({"noise_multiplier": [0.01, 0.1, 1.0]})]);
        assert_eq!(
            varied(&["scheme=shuffle, poisson"]).unwrap(),
            [json!({"scheme": ["shuffle", "poisson"]})]
        );
        assert_eq!(varied(&["epochs=1:2:5"]).unwrap(), [json!({"epochs": [1, 2]})]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refusals = [
            (&["epochs"][..], "FIELD=VALUES"),
            (&["speed=1"], "one of dataset_size"),
            (&["epochs=0,1"], "counts from 1"),
            (&["epochs=nan"], "finite numbers"),
            (&["delta=1e-5:1e-3:1"], "2 to 400"),
            (&["delta=0:1:3:log"], "above 0"),
            (&["epochs=1", "epochs=2"], "each field once"),
            (&["epochs=1:300:300", "sigma=1:2:2"], "400 points"),
            (&[], "one or two"),
        ];
        for (vary, words) in refusals {
            let refusal = varied(vary).unwrap_err();
            assert!(refusal.contains(words), "{vary:?}: {refusal}");
        }
    }
}
