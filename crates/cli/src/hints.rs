//! Hints for users who type a wrong name for a flag or a value.

use crate::help;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Names that users type, and the flags that they may mean. A command has only some of these flags.
const KNOWN: &[(&[&str], &[&str])] = &[
    (&["noise", "noise-scale", "noise-std", "nm", "z"], &["noise-multiplier"]),
    (&["eps", "epsilon", "claim", "claimed-eps"], &["claimed-epsilon", "target-epsilon", "epsilon"]),
    (&["target-eps", "target"], &["target-epsilon"]),
    (&["q", "rate", "sample-rate", "sampling-rate"], &["sampling-probability", "dataset-size", "batch-size"]),
    (&["lr"], &["learning-rate"]),
    (&["n", "samples", "size", "num-samples", "examples"], &["dataset-size", "observations"]),
    (&["b", "bs", "batch"], &["batch-size"]),
    (&["e", "epoch", "num-epochs"], &["epochs"]),
    (&["t", "num-steps", "iterations"], &["steps", "steps-per-epoch"]),
    (&["sampling", "sampler", "batching", "shuffle"], &["scheme"]),
    (&["buffer"], &["buffer-size"]),
    (&["clip", "max-grad-norm", "clipping-norm"], &["clip-norm"]),
    (&["alpha", "confidence"], &["significance"]),
    (&["threshold"], &["threshold-choice"]),
    (&["gpu", "cuda"], &["device"]),
    (&["json"], &["format"]),
    (&["out", "html"], &["output"]),
    (&["trials", "runs"], &["observations"]),
];

/// Returns a better message than clap's for an unknown flag or an unknown value.
pub fn better(error: &clap::Error, words: &[String]) -> Option<String> {
    match error.kind() {
        ErrorKind::UnknownArgument => unknown_flag(error, words),
        ErrorKind::InvalidValue => invalid_value(error),
        _ => None,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(several) => several.first().cloned(),
        _ => None,
    }
}

fn unknown_flag(error: &clap::Error, words: &[String]) -> Option<String> {
    let typed = text(error, ContextKind::InvalidArg)?;
    let name = typed.trim_start_matches('-').split('=').next()?.to_owned();
    if !typed.starts_with('-') {
        return None;
    }
    let definition = help::definition();
    let flags = flags(&definition, words);
    let known = KNOWN.iter().filter(|(spellings, _)| spellings.contains(&name.as_str()));
    let mut meant: Vec<String> = known
        .flat_map(|(_, flags)| *flags)
        .filter(|flag| flags.iter().any(|own| own == *flag))
        .map(|flag| format!("--{flag}"))
        .collect();
    if meant.is_empty() {
        meant.extend(text(error, ContextKind::SuggestedArg));
    }
    let hint = match &meant[..] {
        [] => String::new(),
        [one] => format!("; a similar argument exists: {one}"),
        several => format!("; similar arguments exist: {}", several.join(", ")),
    };
    Some(format!("unexpected argument {typed}{hint}"))
}

/// Returns the flags of the command that `words` name.
fn flags(definition: &Command, words: &[String]) -> Vec<String> {
    let mut command = definition;
    for word in words.iter().skip(1) {
        if let Some(below) = command.find_subcommand(word) {
            command = below;
        }
    }
    let own = command.get_arguments().chain(definition.get_arguments());
    own.filter_map(|arg| arg.get_long()).map(str::to_owned).collect()
}

fn invalid_value(error: &clap::Error) -> Option<String> {
    let flag = text(error, ContextKind::InvalidArg)?;
    let flag = flag.split(' ').next()?.to_owned();
    let value = text(error, ContextKind::InvalidValue)?;
    let ContextValue::Strings(allowed) = error.get(ContextKind::ValidValue)? else { return None };
    if allowed.is_empty() {
        return None;
    }
    let similar = match error.get(ContextKind::SuggestedValue) {
        Some(ContextValue::String(one)) => format!("; a similar value exists: {one}"),
        _ => String::new(),
    };
    let value = if value.is_empty() { "''".to_owned() } else { value };
    Some(format!("{flag} {value}: allowed is one of {}{similar}", allowed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let error = help::definition().try_get_matches_from(&words).unwrap_err();
        better(&error, &words).unwrap()
    }

    #[test]
    fn the_flag_that_is_meant_is_named() {
        for (line, flag) in [
            ("misdeal audit mechanism --noise 1", "exists: --noise-multiplier"),
            ("misdeal audit mechanism --epsilon 1", "exists: --claimed-epsilon"),
            ("misdeal audit training --lr 1", "exists: --learning-rate"),
            ("misdeal account --q 0.1", "--sampling-probability"),
            ("misdeal calibrate --eps 1", "exists: --target-epsilon"),
            ("misdeal check --n 60000", "--dataset-size"),
            ("misdeal audit mechanism --noise-multiplyer 1", "exists: --noise-multiplier"),
        ] {
            let told = told(line);
            assert!(told.contains(flag), "{line}: {told}");
        }
        assert_eq!(told("misdeal scan --nobody a"), "unexpected argument --nobody");
    }

    #[test]
    fn values_of_closed_sets_are_listed() {
        let line = told("misdeal audit mechanism --device gppu");
        assert!(line.starts_with("--device gppu: allowed is one of auto, cpu, cuda"), "{line}");
        let line = told("misdeal audit mechanism --scheme shufle");
        assert!(line.contains("a similar value exists: shuffle"), "{line}");
    }
}
