//! The same words, exit codes and colours in every command that has a use for them.

use crate::program::{json, misdeal, refusal};
use serde_json::Value;
use std::fs;

/// The ending of the output decides, unless a format was asked for.
#[test]
fn json_is_written_into_files_that_end_so() {
    let folder = tempfile::tempdir().unwrap();
    let is_json = |arguments: &str| {
        let run = misdeal(folder.path(), &format!("calibrate --target-epsilon 1 {arguments} --quiet"));
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{arguments}");
        let written = fs::read_to_string(folder.path().join("x.json")).unwrap();
        serde_json::from_str::<Value>(&written).is_ok()
    };
    assert!(is_json("-o x.json"));
    assert!(!is_json("-o x.json --format text"));
}

/// Whatever bound refutes the claim, in every command that has one.
#[test]
fn check_exits_with_1_in_every_command_with_a_claim() {
    let folder = tempfile::tempdir().unwrap();
    let scores: Vec<String> = (0..2000).map(|i| format!("{},{i}\n", u8::from(i >= 1000))).collect();
    let scores = scores.concat();
    fs::write(folder.path().join("lira.csv"), format!("member,score\n{scores}")).unwrap();
    for (arguments, code) in [
        ("account --scheme shuffle --check", 1),
        ("account --scheme shuffle --claimed-epsilon 5 --check", 0),
        ("account --scheme shuffle --claimed-epsilon 4.2 --check", 0),
        ("account --claimed-epsilon 0.1 --scheme poisson --check", 1),
        ("account --check", 0),
        ("estimate --scores lira.csv --claimed-epsilon 1 --check", 1),
        ("estimate --scores lira.csv --claimed-epsilon 1", 0),
        ("estimate --scores lira.csv --claimed-epsilon 9 --check", 0),
        ("check --dataset-size 6000 --batch-size 60 --epochs 1 --sigma 1 --claimed-epsilon 1 --check", 0),
        (
            "check --dataset-size 6000 --batch-size 60 --epochs 1 --sigma 1 --claimed-epsilon 1 --scheme shuffle --check",
            1,
        ),
    ] {
        let run = misdeal(folder.path(), arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(code), ""), "{arguments}: {}", run.stdout);
        assert!(run.stdout.starts_with("Verdict: "), "{arguments}: {}", run.stdout);
    }
}

/// The same words wherever steps are asked for.
#[test]
fn steps_follow_from_records_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let records = "--records 60000 --batch-size 512 --epochs 15 --sigma 0.8";
    let account = json(folder.path(), &format!("account {records} --scheme poisson"));
    assert_eq!((&account["steps_per_epoch"], &account["steps"]), (&117.into(), &1755.into()));
    assert!((account["sampling_probability"].as_f64().unwrap() - 512.0 / 60_000.0).abs() < 1e-12);
    let poisson = |document: &Value| document["schemes"]["poisson"]["epsilon_upper_bound"].as_f64().unwrap();
    let checked = json(folder.path(), &format!("check {records} --delta 1e-5 --scheme poisson"));
    assert!((poisson(&account) - poisson(&checked["cards"][0])).abs() < 1e-6);
    let audit = json(folder.path(), &format!("audit mechanism {records} --observations 1000"));
    assert_eq!((&audit["setting"]["steps_per_epoch"], &audit["unused_records"]), (&117.into(), &96.into()));
    assert!((audit["claimed_epsilon"].as_f64().unwrap() - poisson(&account)).abs() < 1e-6);
    let all =
        json(folder.path(), "calibrate --records 60000 --batch-size 512 --steps 1755 --target-epsilon 3");
    assert_eq!(all["epochs"], 15);
    let noise = |scheme: &str| all["schemes"][scheme]["noise_multiplier"].as_f64().unwrap();
    assert!((noise("poisson") - 0.856).abs() < 0.05 && (noise("shuffle") - 5.386).abs() < 1e-3, "{all}");
    assert!(noise("balls-in-bins") < 1.0, "{all}");
    for scheme in all["schemes"].as_object().unwrap().values() {
        assert!(scheme["verdict"]["sentence"].is_string(), "{scheme}");
    }
    for arguments in [
        "account --records 60000 --batch-size 512 --steps 1000",
        "calibrate --target-epsilon 3 --steps 250",
        "audit mechanism --steps 250",
    ] {
        let line = refusal(folder.path(), arguments);
        assert!(line.contains("--steps") && line.contains(" or "), "{line}");
    }
    let line = refusal(folder.path(), "audit mechanism --records 1000 --steps-per-epoch 10");
    assert!(line.contains("--dataset-size") && line.contains("--steps-per-epoch"), "{line}");
}

#[test]
fn colours_are_for_terminals_or_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let plain = misdeal(folder.path(), "account --scheme shuffle").stdout;
    assert!(!plain.contains('\u{1b}'));
    let coloured = misdeal(folder.path(), "account --scheme shuffle --color always").stdout;
    assert!(coloured.starts_with("\u{1b}[1;31mVerdict: "), "{coloured}");
    assert_eq!(coloured.replace("\u{1b}[1;31m", "").replace("\u{1b}[0m", ""), plain);
}
