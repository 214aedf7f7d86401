//! `misdeal diagnose` on logs of real data loaders, and its contract.

use crate::program::{json, misdeal, refusal};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The logs that `testdata/diagnose/write_logs.py` wrote.
fn logs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/diagnose")
}

fn names(defects: &Value) -> Vec<&str> {
    defects.as_array().unwrap().iter().map(|defect| defect["defect"].as_str().unwrap()).collect()
}

#[test]
fn real_loaders_are_recognised() {
    let expected: toml::Table = fs::read_to_string(logs().join("expected.toml")).unwrap().parse().unwrap();
    assert_eq!(expected.len(), 18);
    for (name, expected) in expected {
        let file = logs().join(expected["file"].as_str().unwrap());
        let report = json(&logs(), &format!("diagnose {}", file.display()));
        assert_eq!(report["scheme"].as_str(), expected["scheme"].as_str(), "{name}: {report:#}");
        assert_eq!(report["certain"], true, "{name}: {report:#}");
        let defects: Vec<&str> = expected.get("defects").map_or(vec![], |list| {
            list.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect()
        });
        assert_eq!(names(&report["defects"]), defects, "{name}: {report:#}");
        let size = expected.get("buffer_size").and_then(toml::Value::as_integer);
        let found = report["parameters"]["buffer_size"].as_i64();
        // The last records of a buffer may not have come out first by chance.
        assert_eq!(size.is_some(), found.is_some(), "{name}: {report:#}");
        assert!(
            size.zip(found).is_none_or(|(size, found)| (size - 3..=size).contains(&found)),
            "{name}: {report:#}"
        );
    }
}

#[test]
fn the_document_has_the_fields_of_the_contract() {
    let log = logs().join("torch-shuffled.jsonl");
    let report = json(&logs(), &format!("diagnose {} --noise-multiplier 1 --delta 1e-5", log.display()));
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["command"], "diagnose");
    assert!(report["parameters"].is_object() && report["certain"].is_boolean());
    let candidates = report["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 9);
    for one in candidates {
        assert!(one["scheme"].is_string() && one["p_value"].is_f64(), "{one}");
        assert!(one["log_likelihood"].is_f64() || one["log_likelihood"].is_null(), "{one}");
    }
    let sides =
        ["epsilon_lower_bound", "epsilon_upper_bound"].map(|side| report["leakage"][side].as_f64().unwrap());
    let theory = json(&logs(), "account --steps-per-epoch 30 --epochs 3 --batch-size 20 --scheme shuffle");
    let expected = ["epsilon_lower_bound", "epsilon_upper_bound"]
        .map(|side| theory["schemes"]["shuffle"][side].as_f64().unwrap());
    // A diagnosis shares its work among several bounds, so that its grids are coarser.
    let is_near = |(found, expected): (f64, f64)| (found / expected - 1.0).abs() < 0.01;
    assert!(sides.into_iter().zip(expected).all(is_near), "{sides:?} {expected:?}");
    assert!(report["theory"]["poisson"].is_object() && report["theory"]["shuffle"].is_object());
    let without = json(&logs(), &format!("diagnose {}", log.display()));
    assert!(without["leakage"].is_null());
}

/// A fixed order leaks more than a shuffle and a shuffle more than Poisson sampling; what has no formula is an estimate between.
#[test]
fn leakage_is_that_of_what_was_found() {
    let costs = |name: &str| {
        let report =
            json(&logs(), &format!("diagnose {}.jsonl --noise-multiplier 1", logs().join(name).display()));
        let side = |side: &str| report["leakage"][side].as_f64();
        (
            side("epsilon_lower_bound").unwrap(),
            side("epsilon_upper_bound").unwrap_or(f64::NAN),
            report["leakage"]["is_estimate"].as_bool().unwrap(),
        )
    };
    let (sequential, shuffled, poisson) =
        (costs("torch-sequential"), costs("torch-shuffled"), costs("opacus-poisson"));
    assert!(sequential.0 > shuffled.0 && shuffled.0 > poisson.1, "{sequential:?} {shuffled:?} {poisson:?}");
    assert!(!sequential.2 && !shuffled.2 && !poisson.2);
    let reused = costs("torch-distributed-forgotten");
    assert!(reused.0 > shuffled.0, "{reused:?} {shuffled:?}");
    let growing = costs("webdataset-growing-buffer");
    // No upper bound is given for a law that is not known.
    assert!(growing.2 && growing.0 > poisson.1 && growing.1.is_nan(), "{growing:?}");
    let twice = costs("torch-iterable-workers");
    assert!(twice.1 > sequential.1, "{twice:?} {sequential:?}");
}

#[test]
fn text_and_plot_say_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let log = logs().join("torch-distributed-forgotten.jsonl");
    let run = misdeal(folder.path(), &format!("diagnose {} --plot log.svg", log.display()));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    for words in ["shuffle-once", "certain", "set_epoch", "Verdict: One permutation", "from 3 ranks"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    // With the noise the verdict says what a claim for Poisson sampling would be worth, where it would be wrong.
    let judged = |name: &str| {
        let log = logs().join(name);
        let text = misdeal(folder.path(), &format!("diagnose {} --noise-multiplier 1", log.display())).stdout;
        // The verdict is the first paragraph, whose lines are wrapped.
        text.split("\n\n").next().unwrap().replace('\n', " ").contains("would claim epsilon")
    };
    assert_eq!(["torch-shuffled.jsonl", "opacus-poisson.jsonl"].map(judged), [true, false]);
    let svg = fs::read_to_string(folder.path().join("log.svg")).unwrap();
    assert!(svg.contains("position in epoch 0") && svg.contains("shuffle-once"));
}

#[test]
fn bad_logs_and_flags_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("log.jsonl"), "{\"epoch\": 0, \"batch\": [0, 5]}\n").unwrap();
    fs::write(folder.path().join("broken.jsonl"), "{\"epoch\": 0, \"batch\": [0, 5}\n").unwrap();
    let cases = [
        ("diagnose none.jsonl", "check the path"),
        ("diagnose log.csv", ".jsonl, .npy and .parquet"),
        ("diagnose broken.jsonl", "line 1"),
        ("diagnose log.jsonl --dataset-size 5", "--dataset-size 5"),
        ("diagnose log.jsonl --noise-multiplier -1", "--noise-multiplier -1"),
        ("diagnose log.jsonl --noise-multiplier 1 --delta 2", "--delta 2"),
        ("diagnose log.jsonl --noise-multiplier 1 --epochs 0", "--epochs 0"),
        ("diagnose log.jsonl --plot log.pdf", ".svg or .png"),
        ("diagnose", "LOG"),
    ];
    for (arguments, words) in cases {
        let line = refusal(folder.path(), arguments);
        assert!(line.contains(words), "{arguments}: {line}");
    }
    // Two records of six in one batch are too little for any certainty, but no reason to fail.
    let report = json(folder.path(), "diagnose log.jsonl");
    assert_eq!(report["certain"], false, "{report:#}");
}
