//! Signals: the run ends soon, says what was kept, and goes on later as if nothing had happened.
#![cfg(unix)]

use crate::program::{self, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// A run that nobody would wait for.
const ENDLESS: &str = "audit mechanism --observations 1e14";
/// Starts `misdeal`, sends `signal` once it has saved something, or after a second where nothing is saved, and gives the exit code and the message.
fn interrupted(folder: &Path, arguments: &str, signal: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_misdeal"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    await_listening(&mut child);
    sleep(Duration::from_secs(1));
    let words: Vec<_> = arguments.split_whitespace().collect();
    if words.contains(&"--save-every") {
        let store =
            words.iter().position(|&word| word == "--store").map(|place| folder.join(words[place + 1]));
        while !store.as_ref().unwrap().exists() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(5));
        }
    }
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success(), "the run had ended by itself");
    let status = program::wait(&mut child, arguments);
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.is_empty(), "{arguments}");
    (status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Waits until SIGTERM is caught, where the system says so: before, it ends any process.
fn await_listening(child: &mut Child) {
    let place = format!("/proc/{}/status", child.id());
    let caught = || {
        let status = fs::read_to_string(&place).ok()?;
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).unwrap() >> 14 & 1 == 1)
    };
    while caught() == Some(false) && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(5));
    }
}

/// The number in "interrupted after N observations".
fn observations(message: &str) -> u64 {
    let words: Vec<_> = message.split_whitespace().collect();
    let after = words.iter().position(|&word| word == "after").unwrap();
    words[after + 1].parse().unwrap()
}

#[test]
fn every_signal_has_its_exit_code_and_what_was_played_is_kept() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for (scheme, engine) in [("shuffle", "auto"), ("poisson", "auto"), ("shuffle", "reference")] {
            let folder = tempfile::tempdir().unwrap();
            let arguments =
                format!("{ENDLESS} --scheme {scheme} --engine {engine} --store run --save-every 0.1");
            let (ended, message) = interrupted(folder.path(), &arguments, signal);
            assert_eq!(ended, Some(code), "{arguments}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            assert!(message.contains("kept in run") && message.contains("--resume"), "{message}");
            assert!(observations(&message) > 0, "{message}");
            assert_eq!(program::files(folder.path()).keys().collect::<Vec<_>>(), ["run"]);
        }
    }
}

#[test]
fn without_a_store_nothing_is_kept() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        let (ended, message) = interrupted(folder.path(), ENDLESS, signal);
        assert_eq!(ended, Some(code), "{message}");
        assert!(message.contains("nothing was kept") && message.contains("--store"), "{message}");
        assert!(program::files(folder.path()).is_empty());
    }
}

/// One thread plays in order, so that a total a little above what was kept includes all of it.
#[test]
fn a_resumed_run_ends_in_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["counts", "exact"] {
        let setting = format!("--seed 5 --scores {kind}");
        // Exact scores that do not fit into memory would be refused.
        let endless = if kind == "exact" { "audit mechanism --observations 2e8" } else { ENDLESS };
        let (ended, message) =
            interrupted(folder.path(), &format!("{endless} {setting} --threads 1 --store {kind}"), "INT");
        assert_eq!(ended, Some(130), "{message}");
        let total = observations(&message) + 100_002;
        let audit = format!("audit mechanism --observations {total} {setting}");
        let resumed = json(folder.path(), &format!("{audit} --store {kind} --resume"));
        let whole = json(folder.path(), &format!("{audit} --store {kind}-whole"));
        assert_eq!(resumed["empirical_epsilon"], whole["empirical_epsilon"]);
        assert_eq!(resumed["observations"], total);
        let [resumed, whole] =
            ["", "-whole"].map(|end| fs::read(folder.path().join(format!("{kind}{end}"))).unwrap());
        assert!(resumed == whole, "{kind}");
    }
}

/// Several threads leave gaps; whoever resumes fills them, with whichever engine of the same lineage.
#[test]
fn gaps_are_filled() {
    let folder = tempfile::tempdir().unwrap();
    // Many seconds without vector instructions.
    let audit = "audit mechanism --observations 2e7";
    let slowly = format!("{audit} --engine cpu-portable --threads 2 --store run");
    let (ended, message) = interrupted(folder.path(), &slowly, "INT");
    assert_eq!(ended, Some(130), "{message}");
    assert!((1..20_000_000).contains(&observations(&message)), "{message}");
    let [resumed, whole] = ["--store run --resume", "--store whole"]
        .map(|store| json(folder.path(), &format!("{audit} --engine cpu {store}")));
    assert_eq!(resumed["empirical_epsilon"], whole["empirical_epsilon"]);
    let [resumed, whole] = ["run", "whole"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(resumed == whole);
}

/// Two convolutions of 27 x 27 weights and 64 filters: sixteen records take seconds, and the step has a thousand.
const MODEL: &str = "name = \"slow\"\nlayers = [
  { kind = \"convolution\", filters = 64, size = 27, padding = 13 }, { kind = \"tanh\" },
  { kind = \"convolution\", filters = 64, size = 27, padding = 13 }, { kind = \"tanh\" },
  { kind = \"linear\" },
]\n";

/// A signal was looked for between groups of sixteen records: a large model ended much later.
#[test]
fn a_training_ends_within_a_step() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("slow.toml"), MODEL).unwrap();
        let arguments = "audit training --model slow.toml --dataset-size 1000 --batch-size 1000 --observations 8 --store run";
        let (ended, message) = interrupted(folder.path(), arguments, signal);
        assert_eq!(ended, Some(code), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.starts_with("misdeal: interrupted"), "{message}");
        assert!(!folder.path().join("run").exists(), "a step was completed");
    }
}

/// One trial of the first takes seconds, and so do the checks and the theory of the others: signals were looked for in between. The wait for the end fails if one hangs.
#[test]
fn nothing_long_outlives_a_signal() {
    for arguments in [
        "audit mechanism --scheme without-replacement --epochs 1000 --steps-per-epoch 10000 --engine reference --observations 64",
        "self-test",
        "reproduce table-1",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (ended, message) = interrupted(folder.path(), arguments, "TERM");
        assert_eq!(ended, Some(143), "{arguments}: {message}");
        assert!(message.starts_with("misdeal: interrupted") && message.lines().count() == 1, "{message}");
    }
}
