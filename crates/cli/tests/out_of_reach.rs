//! Settings that once took gigabytes or minutes: each ends with an answer, or with one line that says why not.

use assert_cmd::Command;
use serde_json::Value;

fn misdeal(words: &str) -> (i32, String, String) {
    let output = Command::cargo_bin("misdeal").unwrap().args(words.split(' ')).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(words: &str) -> Value {
    let (code, stdout, stderr) = misdeal(&format!("{words} --format json"));
    assert_eq!(code, 0, "{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

/// The old program asked for 8 GB, and aborted where there were fewer.
#[test]
fn a_billion_steps_behind_a_buffer_are_accounted_for() {
    let report = json("account --scheme stream-shuffle --buffer-size 1000 --steps-per-epoch 1000000000");
    let bounds = &report["schemes"]["stream-shuffle"];
    assert!(bounds["epsilon_upper_bound"].as_f64().unwrap() < 4.378);
    assert!(bounds["epsilon_lower_bound"].as_f64().unwrap() > 0.0);
}

/// The old program computed lower bounds as well, at every noise it tried: 1.1 GB and minutes.
#[test]
fn noise_for_shuffling_is_found_in_closed_form() {
    let report = json("calibrate --target-epsilon 1 --epochs 1000000 --scheme shuffle");
    assert!((report["noise_multiplier"].as_f64().unwrap() / 1000.0 - 3.73).abs() < 0.01);
}

/// The old program took 1.1 GB and minutes. No allowed noise meets this target.
#[test]
fn a_target_that_no_noise_meets_is_refused_in_one_line() {
    let (code, _, stderr) = misdeal("calibrate --target-epsilon 1e-6 --epochs 1000000 --scheme shuffle");
    assert_eq!(code, 2);
    assert!(
        stderr.starts_with("misdeal: --target-epsilon") && stderr.trim_end().lines().count() == 1,
        "{stderr}"
    );
}

/// A side that is out of reach is null, and its method says so. The old program aborted for want of memory.
#[test]
fn what_is_out_of_reach_is_null_with_its_reason() {
    let report = json("account --scheme poisson --epochs 10000000 --epsilon 1");
    let deltas = &report["deltas"]["poisson"];
    assert!(deltas["delta_lower_bound"].is_null(), "{deltas}");
    assert!(deltas["method"].as_str().unwrap().contains("out of reach"), "{deltas}");
}
