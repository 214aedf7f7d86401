//! Runs that look again and again, and stop when they may.

use crate::program::{json, misdeal};
use serde_json::Value;
use std::path::Path;

fn sequential(folder: &Path, rest: &str) -> Value {
    let common = "audit mechanism --threshold-choice sequential --steps-per-epoch 10 --claimed-epsilon 2";
    let mut document = json(folder, &format!("{common} {rest}"));
    for field in ["seconds", "observations_per_second", "store", "engine"] {
        document.as_object_mut().unwrap().remove(field);
    }
    document
}

#[test]
fn stops_when_the_claim_is_refuted_and_says_after_how_many_observations() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = sequential(folder.path(), "--observations 1e6 --stop-when violated");
    assert_eq!((&stopped["stopped_early"], &stopped["violated"]), (&true.into(), &true.into()));
    assert!(stopped["valid"] == true && stopped["empirical_epsilon"].as_f64().unwrap() > 2.0);
    let observations = stopped["observations"].as_u64().unwrap();
    assert!((1000..200_000).contains(&observations), "{observations}");
    // The look before did not refute it, and the run that is that long says the same.
    let same = sequential(folder.path(), &format!("--observations {observations}"));
    assert_eq!(same["empirical_epsilon"], stopped["empirical_epsilon"]);
    let before = sequential(folder.path(), &format!("--observations {}", observations - 2));
    assert!(before["observations"].as_u64().unwrap() < observations && before["violated"] == false);
    assert_eq!(before["stopped_early"], false);
    let text = misdeal(
        folder.path(),
        "audit mechanism --threshold-choice sequential --steps-per-epoch 10 --claimed-epsilon 2 --observations 1e6 --stop-when violated",
    );
    assert!(text.stdout.contains("stopped early") && text.stdout.contains("REFUTED"), "{}", text.stdout);
}

#[test]
fn stops_when_the_bound_is_near_the_raw_epsilon() {
    let folder = tempfile::tempdir().unwrap();
    let wide = sequential(folder.path(), "--observations 1e6 --stop-when width=1.5");
    let narrow = sequential(folder.path(), "--observations 1e6 --stop-when width=0.7");
    assert!(wide["observations"].as_u64() < narrow["observations"].as_u64());
    for (document, width) in [(&wide, 1.5), (&narrow, 0.7)] {
        let gap = document["raw_epsilon"].as_f64().unwrap() - document["empirical_epsilon"].as_f64().unwrap();
        assert!(gap <= width || document["stopped_early"] == false, "{gap} {width}");
    }
}

/// In one go, after an earlier end, on another number of threads, as counts: the same document to the last digit.
#[test]
fn resumes_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let whole = sequential(folder.path(), "--observations 1e5 --store whole");
    for first in [2000_u64, 20_010, 64_000] {
        let store = format!("--store at-{first}");
        sequential(folder.path(), &format!("--observations {first} --threads 1 {store}"));
        let resumed = sequential(folder.path(), &format!("--observations 1e5 {store} --resume --threads 3"));
        assert_eq!(resumed, whole, "{first}");
    }
    let exact = sequential(folder.path(), "--observations 1e5 --scores exact");
    assert_eq!(exact["observations"], whole["observations"]);
}

#[test]
fn refuses_what_a_confidence_sequence_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("--threshold-choice sequential --observations 998", "--observations 998: allowed is at least 1000"),
        (
            "--threshold-choice sequential --shard 1/2 --observations 1e5",
            "--shard 1/2: allowed is the whole run",
        ),
        ("--stop-when violated", "--stop-when given: allowed is a stop with --threshold-choice sequential"),
        (
            "--threshold-choice sequential --stop-when soon",
            "--stop-when soon: allowed is violated, or width=X",
        ),
        (
            "--threshold-choice sequential --stop-when width=-1",
            "--stop-when width=-1: allowed is violated, or width=X",
        ),
    ];
    for (arguments, line) in cases {
        let run = misdeal(folder.path(), &format!("audit mechanism {arguments}"));
        assert_eq!(run.code, Some(2), "{arguments}");
        assert!(run.stderr.contains(line) && run.stderr.lines().count() == 1, "{arguments}: {}", run.stderr);
    }
}
