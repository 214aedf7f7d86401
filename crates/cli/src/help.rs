//! Help texts: groups of flags, examples, and flags that only the long help shows.

use crate::arguments::{Arguments, EXIT_CODES};
use clap::{Arg, Command, CommandFactory};
use std::any::TypeId;
use std::path::PathBuf;

/// The heading of the flags that all commands share.
const COMMON: &str = "Common options";

/// Groups of flags, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    (
        "Setting",
        &[
            "adversary-buffer-size",
            "adversary-scheme",
            "batch-size",
            "buffer-size",
            "dataset-size",
            "vary",
            "epochs",
            "noise-multiplier",
            "sampling-probability",
            "scheme",
            "steps",
            "steps-per-epoch",
            "target-index",
            "threat-model",
        ],
    ),
    (
        "Training",
        &[
            "canaries",
            "canary",
            "clip-norm",
            "data",
            "dataset",
            "debias",
            "last-batch",
            "learning-rate",
            "model",
            "precision",
            "target-epsilon",
        ],
    ),
    ("Claim", &["check", "claimed-curve", "claimed-epsilon", "delta", "name"]),
    (
        "Audit",
        &[
            "audit",
            "device",
            "engine",
            "estimator",
            "fair-coins",
            "observations",
            "only",
            "quick",
            "runs",
            "scores",
            "search-buffer",
            "shard",
            "significance",
            "stop-when",
            "threshold-choice",
            "uncorrected",
        ],
    ),
    ("Scores", &["member-column", "score-column", "scores-in", "scores-out"]),
    (
        "Rules",
        &[
            "add-ignores",
            "assume-private",
            "config",
            "diff",
            "exclude",
            "explain",
            "fix",
            "ignore",
            "list-rules",
            "select",
            "survey",
        ],
    ),
    (
        "Output",
        &[
            "bound",
            "compare",
            "date",
            "epsilon",
            "plot",
            "report",
            "resume",
            "save-every",
            "store",
            "title",
            "trade-off",
        ],
    ),
];

/// Flags that few users need. The short help leaves them out.
const RARE: &[&str] = &[
    "adversary-buffer-size",
    "adversary-scheme",
    "assume-private",
    "canaries",
    "claimed-curve",
    "clip-norm",
    "compare",
    "config",
    "debias",
    "engine",
    "epsilon",
    "fair-coins",
    "format",
    "last-batch",
    "member-column",
    "precision",
    "quiet",
    "resume",
    "save-every",
    "score-column",
    "search-buffer",
    "seed",
    "shard",
    "significance",
    "stop-when",
    "survey",
    "target-index",
    "threads",
    "uncorrected",
    "color",
    "trade-off",
    "bound",
    "sampling-probability",
    "canary",
    "only",
    "runs",
];

/// Three examples of every command.
const EXAMPLES: &[(&str, [&str; 3])] = &[
    (
        "",
        [
            "misdeal",
            "misdeal check --dataset-size 60000 --batch-size 512 --epochs 15 --noise-multiplier 0.8 --delta 1e-5 --claimed-epsilon 2.1 --scheme shuffle",
            "misdeal scan src",
        ],
    ),
    (
        "check",
        [
            "misdeal check --dataset-size 60000 --batch-size 512 --epochs 15 --sigma 0.8 --delta 1e-5 --claimed-epsilon 2.1 --scheme shuffle",
            "misdeal check card.toml --report page.html",
            "misdeal check cards/*.toml --check",
        ],
    ),
    (
        "audit",
        [
            "misdeal audit mechanism --noise-multiplier 0.8 --claimed-epsilon 2.1",
            "misdeal audit training --dataset synthetic --observations 200",
            "misdeal audit mechanism --help",
        ],
    ),
    (
        "audit mechanism",
        [
            "misdeal audit mechanism --noise-multiplier 0.8 --steps-per-epoch 117 --epochs 15 --claimed-epsilon 2.1",
            "misdeal audit mechanism --dataset-size 60000 --batch-size 512 --scheme stream-shuffle --buffer-size 1000",
            "misdeal audit mechanism --observations 1e9 --store run.store --resume -o result.json",
        ],
    ),
    (
        "audit training",
        [
            "misdeal audit training --target-epsilon 4 --claimed-epsilon 4 --observations 200",
            "misdeal audit training --dataset fashion-mnist --data ~/data --model lenet --device gpu",
            "misdeal audit training --threat-model worst-case --noise-multiplier 0.5 -o result.json",
        ],
    ),
    (
        "estimate",
        [
            "misdeal estimate --scores-in in.npy --scores-out out.npy --claimed-epsilon 2",
            "misdeal estimate --scores lira.csv --member-column member --score-column score",
            "misdeal estimate --scores-in in.csv --scores-out out.csv --estimator all",
        ],
    ),
    (
        "merge",
        [
            "misdeal merge part-1.store part-2.store --output whole.store",
            "misdeal merge parts/*.store -o whole.store",
            "misdeal merge part-1.store part-2.store -o whole.store --format json",
        ],
    ),
    (
        "account",
        [
            "misdeal account --dataset-size 60000 --batch-size 512 --epochs 15 --noise-multiplier 0.8",
            "misdeal account --scheme shuffle --noise-multiplier 1 --claimed-epsilon 2 --check",
            "misdeal account --sampling-probability 0.01 --steps 10000 --sigma 1.1",
        ],
    ),
    (
        "calibrate",
        [
            "misdeal calibrate --target-epsilon 3 --dataset-size 60000 --batch-size 512 --epochs 15",
            "misdeal calibrate --target-epsilon 3 --scheme balls-in-bins --epochs 10",
            "misdeal calibrate --target-epsilon 8 --scheme shuffle --bound lower",
        ],
    ),
    (
        "diagnose",
        [
            "misdeal diagnose batches.jsonl",
            "misdeal diagnose batches.jsonl --noise-multiplier 0.8 --epochs 15 --check",
            "misdeal diagnose batches.parquet --dataset-size 60000 -o found.json",
        ],
    ),
    (
        "scan",
        [
            "misdeal scan src",
            "misdeal scan train.py --format github",
            "misdeal scan --explain poisson-loader-unused",
        ],
    ),
    (
        "reproduce",
        [
            "misdeal reproduce figure-3 --quick",
            "misdeal reproduce tab1",
            "misdeal reproduce all --store runs --resume",
        ],
    ),
    (
        "report",
        [
            "misdeal report result.json --output page.html",
            "misdeal report audit.json account.json -o page.html",
            "misdeal report audit.json -o figure.svg",
        ],
    ),
    (
        "sweep",
        [
            "misdeal sweep --records 60000 --batch-size 512 --epochs 15 --delta 1e-5 --vary noise-multiplier=0.5:4:8:log",
            "misdeal sweep --records 60000 --batch-size 512 --sigma 0.8 --vary epochs=1:20:5 --vary scheme=shuffle,poisson",
            "misdeal sweep --records 60000 --batch-size 512 --epochs 15 --vary sigma=0.5,1,2 --plot sweep.svg --report sweep.html",
        ],
    ),
    ("devices", ["misdeal devices", "misdeal devices --format json", "misdeal devices -o devices.json"]),
    (
        "self-test",
        ["misdeal self-test", "misdeal self-test --device gpu", "misdeal self-test -o checks.json"],
    ),
    (
        "completions",
        [
            "misdeal completions bash --output ~/.local/share/bash-completion/completions/misdeal",
            "misdeal completions zsh --output ~/.zfunc/_misdeal",
            "misdeal completions fish --output ~/.config/fish/completions/misdeal.fish",
        ],
    ),
    ("man", ["misdeal man", "misdeal man --output man1", "misdeal man | man -l -"]),
];

/// Returns all commands, with grouped flags, examples and exit codes.
pub fn definition() -> Command {
    dressed(Arguments::command(), "")
}

/// Adds groups, examples and exit codes to a command and its subcommands. `words` is the path to the command.
fn dressed(command: Command, words: &str) -> Command {
    let below: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let mut command = command.mut_args(in_its_group);
    if let Some((_, examples)) = EXAMPLES.iter().find(|(name, _)| *name == words) {
        let examples: Vec<String> = examples.iter().map(|one| format!("  {one}")).collect();
        let long = format!("Examples:\n{}\n\n{EXIT_CODES}", examples.join("\n"));
        command = command.after_help(EXIT_CODES).after_long_help(long);
    }
    for name in below {
        let words = format!("{words} {name}").trim().to_owned();
        command = command.mut_subcommand(name, |below| dressed(below, &words));
    }
    command
}

fn in_its_group(arg: Arg) -> Arg {
    let Some(flag) = arg.get_long().map(str::to_owned) else { return arg };
    // A file of scores, and what an audit keeps of a score, have the same name.
    let is_file = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let flag = if flag == "scores" && is_file { "scores-in".to_owned() } else { flag };
    let is_common = arg.get_help_heading() == Some(COMMON);
    let group = GROUPS.iter().find(|(_, flags)| flags.contains(&flag.as_str()));
    let arg = if RARE.contains(&flag.as_str()) { arg.hide_short_help(true) } else { arg };
    match group {
        Some((heading, _)) if !is_common => arg.help_heading(*heading),
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(command: &Command, words: &str, found: &mut Vec<(String, Command)>) {
        found.push((words.to_owned(), command.clone()));
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            all(below, format!("{words} {}", below.get_name()).trim(), found);
        }
    }

    #[test]
    fn every_command_has_three_examples_that_parse() {
        let mut found = Vec::new();
        all(&definition(), "", &mut found);
        for (words, _) in found {
            let examples = EXAMPLES.iter().find(|(name, _)| *name == words);
            let (_, examples) = examples.unwrap_or_else(|| panic!("no examples of {words:?}"));
            for example in examples {
                let example = example.split(" | ").next().unwrap();
                assert!(example.starts_with(format!("misdeal {words}").trim()), "{example}");
                match definition().try_get_matches_from(example.split_whitespace()) {
                    Ok(_) => {}
                    Err(error) => assert!(!error.use_stderr(), "{example}: {error}"),
                }
            }
        }
    }

    #[test]
    fn every_flag_is_in_a_group_and_the_short_help_is_shorter() {
        let mut found = Vec::new();
        all(&definition(), "", &mut found);
        for (words, mut command) in found {
            for arg in command.get_arguments().filter(|arg| arg.get_long().is_some()) {
                assert!(arg.get_help_heading().is_some(), "{words}: {}", arg.get_id());
            }
            let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
            assert!(short.lines().count() < long.lines().count(), "{words}");
        }
    }
}
