//! Command lines that ask for the same again.

use super::Request;
use clap::Command;
use serde_json::Value;
use std::collections::BTreeMap;

/// The command and its flags, but for those that stand at their defaults.
pub fn command_line<R: Request>(request: &R) -> String {
    let (values, defaults) = (fields(request), fields(&R::default()));
    let flags = R::augment_args(Command::new("misdeal"));
    let given = |name: &str| values.get(name).filter(|&value| defaults.get(name) != Some(value));
    let mut words = vec![format!("misdeal {}", R::COMMAND)];
    for arg in flags.get_arguments() {
        let Some(value) = given(arg.get_id().as_str()) else { continue };
        words.extend(arg.get_long().map(|name| format!("--{name}")));
        match value {
            Value::Bool(_) => {}
            Value::Array(several) => {
                let several: Vec<String> = several.iter().map(text).collect();
                match arg.get_value_delimiter() {
                    Some(delimiter) => words.push(quoted(&several.join(&delimiter.to_string()))),
                    None => words.extend(several.iter().map(|one| quoted(one))),
                }
            }
            one => words.push(quoted(&text(one))),
        }
    }
    // What is left are flags of all commands, such as the seed.
    let has_flag = |name: &str| flags.get_arguments().any(|arg| arg.get_id() == name);
    for (name, value) in values.iter().filter(|(name, _)| !has_flag(name)) {
        if given(name).is_some() {
            words.push(format!("--{name} {}", quoted(&text(value))));
        }
    }
    words.join(" ")
}

/// A request's fields by name, those of its groups among them.
fn fields(request: &impl Request) -> BTreeMap<String, Value> {
    let value = serde_json::to_value(request).expect("requests have only names, numbers and paths");
    serde_json::from_value(value).expect("a request is an object")
}

/// A value as people type it: 1e-5 rather than 0.00001.
fn text(value: &Value) -> String {
    match value.as_f64().filter(|number| value.is_f64() && number.abs() < 1e-3 && *number != 0.0) {
        Some(small) => format!("{small:e}"),
        None => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}

/// A word as a POSIX shell takes it literally.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
