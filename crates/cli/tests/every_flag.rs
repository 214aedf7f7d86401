//! Every flag of every command, from the definition that parses them: what is out of range, no number, empty or enormous is refused with
//! exit code 2 and one line. A flag that is added is tested without a word here; one for which a strange value is fine must be named below.

use crate::program;
use clap::{Arg, Command};
use std::any::TypeId;
use std::path::{Path, PathBuf};

/// Words that make each command complete and small; a command that is missing here fails the test.
const SMALL: [(&str, &str); 17] = [
    (
        "check",
        "--dataset-size 100 --batch-size 10 --epochs 1 --noise-multiplier 1 --claimed-epsilon 1 --scheme fixed-order",
    ),
    (
        "sweep",
        "--dataset-size 100 --batch-size 10 --epochs 1 --claimed-epsilon 1 --scheme fixed-order --vary noise-multiplier=1,2",
    ),
    ("audit mechanism", "--observations 8 --steps-per-epoch 2 --device cpu"),
    ("audit training", "--observations 8 --dataset-size 20 --batch-size 10 --device cpu"),
    ("estimate", "--scores-in in.csv --scores-out out.csv"),
    ("merge", "sound --output merged"),
    ("account", "--scheme fixed-order"),
    ("calibrate", "--target-epsilon 1 --scheme fixed-order"),
    ("deal", "--dataset-size 100 --batch-size 10 --output plan.jsonl"),
    ("diagnose", "log.jsonl"),
    ("scan", "a.py"),
    ("reproduce", "settings --quick"),
    ("report", "result.json"),
    ("devices", ""),
    ("self-test", "--device cpu"),
    ("completions", "bash"),
    ("man", ""),
];

/// What a flag of a command needs beside it to be looked at.
const COMPANY: [(&str, &str, &str); 6] = [
    ("deal", "delta", "--noise-multiplier 1"),
    ("diagnose", "delta", "--noise-multiplier 1"),
    ("diagnose", "epochs", "--noise-multiplier 1"),
    ("audit mechanism", "stop-when", "--threshold-choice sequential"),
    ("audit training", "stop-when", "--threshold-choice sequential"),
    ("audit training", "data", "--dataset fashion-mnist"),
];

/// Stands for a value of a hundred thousand of these.
const LONG: &str = "x";

/// Values that are strange and fine, flag by flag, with the reason.
const FINE: [(&str, &str, &str); 34] = [
    ("member-column", "", "not looked at without --scores"),
    ("member-column", "nobody", "not looked at without --scores"),
    ("member-column", "--", "not looked at without --scores"),
    ("member-column", LONG, "not looked at without --scores"),
    ("score-column", "", "not looked at without --scores"),
    ("score-column", "nobody", "not looked at without --scores"),
    ("score-column", "--", "not looked at without --scores"),
    ("score-column", LONG, "not looked at without --scores"),
    ("name", "", "any name is one"),
    ("name", "nobody", "any name is one"),
    ("name", "--", "any name is one"),
    ("name", LONG, "any name is one"),
    ("reproduce only", "", "every name contains nothing"),
    ("reproduce store", "missing/folder/file", "a folder that is made"),
    ("reproduce store", ".", "a folder"),
    ("man output", "missing/folder/file", "a folder that is made"),
    ("man output", ".", "a folder"),
    ("reproduce data", "missing/folder/file", "not looked at where nothing is trained"),
    ("reproduce data", ".", "not looked at where nothing is trained"),
    ("reproduce data", LONG, "not looked at where nothing is trained"),
    ("epsilon", "1e300", "delta is zero there"),
    ("exclude", "", "a pattern that matches nothing leaves nothing out"),
    ("exclude", "nobody", "a pattern that matches nothing leaves nothing out"),
    ("exclude", "--", "a pattern that matches nothing leaves nothing out"),
    ("exclude", LONG, "a pattern that matches nothing leaves nothing out"),
    ("seed", "18446744073709551615", "any seed is one"),
    ("seed", "8e15", "any seed is one"),
    ("title", "nobody", "any words are a title"),
    ("title", "--", "any words are a title"),
    ("report name", "nobody", "any words are a name"),
    ("report name", "--", "any words are a name"),
    ("date", "nobody", "people write dates in many ways"),
    ("date", "--", "people write dates in many ways"),
    ("claimed-epsilon", "1e300", "a claim may be as weak as it likes"),
];

const NO_NUMBERS: [&str; 8] = ["", " ", "seven", "1,5", "0x10", "--", "1e", "\u{661}"];
const NO_COUNTS: [&str; 8] =
    ["-1", "1.5", "NaN", "inf", "1e300", "99999999999999999999", "-9223372036854775808", "1e-3"];
const ENORMOUS_COUNTS: [&str; 2] = ["18446744073709551615", "8e15"];
const NO_MEASURES: [&str; 5] = ["NaN", "inf", "-inf", "-1e300", "1e300"];

/// A command of the tree, with the words that lead to it.
fn commands(command: &Command, words: &str, found: &mut Vec<(String, Command)>) {
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let words = format!("{words} {}", below.get_name()).trim().to_owned();
        if below.has_subcommands() {
            commands(below, &words, found);
        } else {
            found.push((words, below.clone()));
        }
    }
}

fn bad_values(arg: &Arg) -> Vec<String> {
    let long = LONG.repeat(100_000);
    let all = |lists: &[&[&str]]| lists.concat().into_iter().map(str::to_owned).collect();
    let parser = arg.get_value_parser().type_id();
    if parser == TypeId::of::<u64>() {
        all(&[&NO_NUMBERS, &NO_COUNTS, &ENORMOUS_COUNTS])
    } else if parser == TypeId::of::<f64>() {
        all(&[&NO_NUMBERS, &NO_MEASURES])
    } else if parser == TypeId::of::<PathBuf>() {
        vec![String::new(), "missing/folder/file".into(), ".".into(), long]
    } else {
        vec![String::new(), "nobody".into(), "--".into(), long]
    }
}

/// Runs a command with one flag more.
fn run(folder: &Path, words: &str, flag: &str, value: &str) -> program::Run {
    let flag = format!("--{flag}={value}");
    program::run(folder, words.split_whitespace().chain([flag.as_str()]))
}

fn is_fine(words: &str, flag: &str, value: &str) -> bool {
    FINE.iter().any(|(name, fine, _)| {
        (*name == flag || *name == format!("{words} {flag}"))
            && (*fine == value || *fine == LONG && value.len() > 9_999)
    })
}

/// What is wrong with how a bad value was met, if anything is.
fn complaint(run: &program::Run, flag: &str, is_path: bool) -> Option<String> {
    let shown: String = run.stderr.chars().take(300).collect();
    // A place that no file can have is the disk's word, not ours.
    let is_of_the_disk = run.code == Some(3) && run.stderr.contains("cannot write");
    let wrong = if run.code != Some(2) && !is_of_the_disk {
        "the exit code is not 2"
    } else if !run.stdout.is_empty() {
        "something is on standard output"
    } else if run.stderr.lines().count() != 1 || !run.stderr.starts_with("misdeal: ") {
        "not one line is on standard error"
    } else if run.stderr.len() > 2_000 {
        "the line is too long"
    } else if !is_path && !run.stderr.contains(flag) {
        "the flag is not named"
    } else {
        return None;
    };
    Some(format!("{wrong}: {:?}: {shown}", run.code))
}

#[test]
fn every_flag_refuses_what_makes_no_sense() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["in.csv", "out.csv"] {
        std::fs::write(at(name), "1\n2\n3\n4\n5\n6\n7\n8\n").unwrap();
    }
    std::fs::write(
        at("log.jsonl"),
        "{\"epoch\": 0, \"batch\": [0, 1, 2]}\n{\"epoch\": 0, \"batch\": [3, 4, 5]}\n",
    )
    .unwrap();
    std::fs::write(at("a.py"), "x = 1\n").unwrap();
    let made = program::misdeal(
        folder.path(),
        "calibrate --target-epsilon 1 --scheme shuffle --format json --output result.json",
    );
    assert_eq!(made.code, Some(0), "{made:?}");
    let made =
        program::misdeal(folder.path(), "audit mechanism --observations 8 --steps-per-epoch 2 --store sound");
    assert_eq!(made.code, Some(0), "{made:?}");
    let mut found = Vec::new();
    let mut definition = misdeal_cli::definition();
    definition.build();
    commands(&definition, "", &mut found);
    let (mut complaints, mut tried) = (Vec::new(), 0);
    for (words, command) in &found {
        let small = SMALL.iter().find(|(name, _)| name == words);
        let small = small.unwrap_or_else(|| panic!("the command {words} is not in SMALL")).1;
        for arg in command.get_arguments() {
            let Some(flag) = arg.get_long().filter(|_| arg.get_action().takes_values()) else { continue };
            let company = COMPANY.iter().find(|(of, name, _)| of == words && *name == flag);
            let company = company.map_or("", |(_, _, company)| *company);
            // A flag that is among the small words is given once.
            let (all, own) = (format!("{words} {small} {company}"), format!("--{flag}"));
            let mut given: Vec<&str> = all.split_whitespace().collect();
            while let Some(place) = given.iter().position(|word| *word == own) {
                given.drain(place..place + 2);
            }
            let given = given.join(" ");
            // A refusal of a file names the file.
            let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
            for value in bad_values(arg) {
                if is_fine(words, flag, &value) {
                    continue;
                }
                tried += 1;
                if let Some(wrong) = complaint(&run(folder.path(), &given, flag, &value), flag, is_path) {
                    let value: String = value.chars().take(40).collect();
                    complaints.push(format!("{given} --{flag}={value:?}: {wrong}"));
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert!(complaints.is_empty(), "{} of {tried}:\n{}", complaints.len(), complaints.join("\n"));
}
