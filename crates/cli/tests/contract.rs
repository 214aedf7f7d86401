//! What callers may rely on: fields, streams, exit codes.

use crate::program::{self, Run, json, misdeal, refusal};
use misdeal_core::ClosedSet;
use serde_json::Value;
use std::fs;

/// A name in a document, and whether its value is as promised.
type Field = (&'static str, fn(&Value) -> bool);

const ESTIMATE: [Field; 12] = [
    ("delta", Value::is_f64),
    ("significance", Value::is_f64),
    ("estimator", Value::is_string),
    ("threshold_choice", Value::is_string),
    ("valid", Value::is_boolean),
    ("empirical_epsilon", Value::is_f64),
    ("raw_epsilon", |value| value.is_f64() || value.is_null()),
    ("threshold", |value| value.is_f64() || value.is_null()),
    ("false_positives", Value::is_u64),
    ("false_negatives", Value::is_u64),
    ("observations_per_world", Value::is_u64),
    ("observations_in", Value::is_u64),
];

const AUDIT: [Field; 13] = [
    ("schema_version", |value| *value == 2),
    ("command", |value| *value == "audit mechanism"),
    ("version", |value| *value == env!("CARGO_PKG_VERSION")),
    ("setting", Value::is_object),
    ("observations", |value| *value == 20_000),
    ("seed", |value| *value == 3),
    ("claimed_epsilon", |value| *value == 0.7),
    ("violated", Value::is_boolean),
    ("theory", Value::is_object),
    ("scores", |value| *value == "counts"),
    ("engine", Value::is_string),
    ("seconds", |value| value.as_f64().is_some_and(|seconds| seconds > 0.0)),
    ("observations_per_second", |value| value.as_f64().is_some_and(|rate| rate > 0.0)),
];

const SETTING: [Field; 7] = [
    ("noise_multiplier", |value| *value == 1.5),
    ("steps_per_epoch", |value| *value == 20),
    ("epochs", |value| *value == 2),
    ("batch_size", |value| *value == 10),
    ("scheme", |value| *value == "shuffle"),
    ("threat_model", |value| *value == "worst-case"),
    ("adjacency", |value| *value == "zero-out"),
];

const BOUNDS: [Field; 3] = [
    ("epsilon_lower_bound", |value| value.is_f64() || value.is_null()),
    ("epsilon_upper_bound", |value| value.is_f64() || value.is_null()),
    ("method", Value::is_string),
];

fn check(document: &Value, fields: &[Field]) {
    for (name, is_right) in fields {
        let value = document.get(name).unwrap_or_else(|| panic!("no {name} in {document}"));
        assert!(is_right(value), "{name} is {value}");
    }
}

#[test]
fn an_audit_has_every_field() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = "audit mechanism --noise-multiplier 1.5 --steps-per-epoch 20 --epochs 2 --batch-size 10 \
                     --observations 2e4 --seed 3 --claimed-epsilon 0.7 --threshold-choice hold-out";
    let document = json(folder.path(), arguments);
    check(&document, &AUDIT);
    check(&document, &ESTIMATE);
    check(&document["setting"], &SETTING);
    let theory = document["theory"].as_object().unwrap();
    assert!(theory.contains_key("shuffle") && theory.contains_key("poisson"));
    theory.values().for_each(|bounds| check(bounds, &BOUNDS));
    assert_eq!(document["observations_per_world"], 5000, "hold-out counts half of the trials of a world");
    assert_eq!((&document["valid"], &document["threshold_choice"]), (&true.into(), &"hold-out".into()));

    let document = json(folder.path(), &arguments.replace("hold-out", "max"));
    assert_eq!(document["observations_per_world"], 10_000, "max counts all");
    assert_eq!((&document["valid"], &document["threshold_choice"]), (&false.into(), &"max".into()));
}

/// The names of the vocabulary come back as they were given.
#[test]
fn names_come_back_as_given() {
    let folder = tempfile::tempdir().unwrap();
    for scheme in [
        "poisson",
        "shuffle",
        "shuffle-once",
        "partial-shuffle",
        "stream-shuffle",
        "batch-then-shuffle",
        "balls-in-bins",
        "without-replacement",
        "fixed-order",
    ] {
        let buffer =
            if ["partial-shuffle", "stream-shuffle"].contains(&scheme) { "--buffer-size 7" } else { "" };
        for threat_model in ["target-canary", "partially-informed", "worst-case"] {
            let arguments = format!(
                "audit mechanism --observations 1000 --steps-per-epoch 5 --batch-size 4 --target-index 6 --scheme {scheme} \
                 {buffer} --threat-model {threat_model}"
            );
            let setting = &json(folder.path(), &arguments)["setting"];
            assert_eq!(
                (&setting["scheme"], &setting["threat_model"]),
                (&scheme.into(), &threat_model.into())
            );
            assert_eq!(setting.get("buffer_size").and_then(Value::as_u64), (!buffer.is_empty()).then_some(7));
            assert_eq!(setting["target_index"], 6);
        }
    }
}

#[test]
fn output_takes_the_document_and_leaves_standard_output_empty() {
    let folder = tempfile::tempdir().unwrap();
    for (format, is_whole) in [
        ("json", (|text| serde_json::from_str::<Value>(text).is_ok()) as fn(&str) -> bool),
        ("text", |text| text.contains("Verdict:") && text.ends_with('\n')),
    ] {
        let arguments = format!("audit mechanism --observations 1e4 --output result --format {format}");
        let run = misdeal(folder.path(), &arguments);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{format}");
        assert_eq!(run.stderr, "", "{format}");
        let told = run.written.as_str();
        assert!(told.starts_with("Wrote result (") && told.contains("Verdict: "), "{format}: {told}");
        assert_eq!(told.lines().count(), 1, "{format}: {told}");
        let quiet = misdeal(folder.path(), &format!("{arguments} --quiet"));
        assert_eq!((quiet.code, quiet.written.as_str()), (Some(0), ""), "{format}");
        assert!(is_whole(&fs::read_to_string(folder.path().join("result")).unwrap()), "{format}");
        assert_eq!(program::files(folder.path()).len(), 1);
    }
}

/// The default leakage at 1e5 observations is above 0.5 and below 5, whatever the seed.
#[test]
fn check_exits_with_1_on_a_valid_refutation_only() {
    // Theory proves 4.065 at least for the default setting.
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("--claimed-epsilon 0.5 --check", 1, [true, true]),
        ("--claimed-epsilon 0.5", 0, [true, true]),
        ("--claimed-epsilon 5 --check", 0, [false, false]),
        // What is not valid accuses nobody, and theory may refute by itself.
        ("--claimed-epsilon 0.5 --check --threshold-choice max", 1, [false, true]),
        ("--claimed-epsilon 0.5 --check --estimator raw", 1, [false, true]),
        ("--claimed-epsilon 4 --check", 1, [false, false]),
        (
            "--claimed-epsilon 0.7 --check --scheme poisson --estimator raw --threshold-choice hold-out",
            1,
            [false, false],
        ),
        (
            "--claimed-epsilon 0.72 --check --scheme poisson --estimator raw --threshold-choice hold-out",
            0,
            [false, false],
        ),
        ("--claimed-epsilon 4.2 --check --threshold-choice max", 0, [false, false]),
        ("--claimed-epsilon 0 --check", 1, [true, true]),
    ];
    for (arguments, code, expected) in cases {
        let arguments = format!("audit mechanism --observations 1e5 --format json {arguments}");
        let run = misdeal(folder.path(), &arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(code), ""), "{arguments}");
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let found = ["violated", "estimate_exceeds_claim"].map(|field| document[field].as_bool().unwrap());
        assert_eq!(found, expected, "{arguments}");
        let is_refuted = document["verdict"]["kind"] == "refuted";
        assert_eq!(is_refuted && arguments.contains("--check"), code == 1, "{arguments}");
    }
}

/// Every estimator and threshold choice, of an audit, of score files and of searches: `violated` needs `valid`.
#[test]
fn nothing_that_is_not_valid_violates_a_claim() {
    let folder = tempfile::tempdir().unwrap();
    let scores = (0..2000).map(|i| i.to_string()).collect::<Vec<_>>().join("\n") + "\n";
    fs::write(folder.path().join("out.csv"), &scores).unwrap();
    fs::write(folder.path().join("in.csv"), scores.replace('\n', "5\n")).unwrap();
    let mut counted = [0; 2];
    let mut check = |arguments: &str| {
        let document = json(folder.path(), &format!("{arguments} --claimed-epsilon 0.01"));
        let field = |name: &str| document[name].as_bool().unwrap();
        let exceeds = field("estimate_exceeds_claim");
        assert_eq!(field("violated"), field("valid") && exceeds, "{arguments}");
        counted[usize::from(field("violated"))] += usize::from(exceeds);
    };
    for estimator in misdeal_statistics::ESTIMATORS {
        for choice in misdeal_statistics::ThresholdChoice::all().iter().copied() {
            let how = format!("--estimator {} --threshold-choice {}", estimator.name(), choice.name());
            check(&format!("audit mechanism --observations 4000 --noise-multiplier 0.5 {how}"));
            check(&format!("estimate --scores-in in.csv --scores-out out.csv {how}"));
        }
    }
    let search = "audit mechanism --observations 4000 --noise-multiplier 0.5 --scheme partial-shuffle --buffer-size 1000 --search-buffer";
    check(search);
    check(&format!("{search} --uncorrected"));
    check(
        "audit training --observations 40 --noise-multiplier 0.3 --dataset-size 200 --canary null-space --canaries 4 --threat-model target-canary",
    );
    assert!(counted[0] >= 20 && counted[1] >= 8, "{counted:?}");
}

/// The claim that Poisson sampling would justify is tested if none is given; where theory has none, nothing is.
#[test]
fn the_default_claim_is_poissons() {
    let folder = tempfile::tempdir().unwrap();
    let document = json(folder.path(), "audit mechanism --observations 1e4");
    let poisson = &document["theory"]["poisson"]["epsilon_upper_bound"];
    assert!(poisson.as_f64().is_some_and(|bound| (bound - 0.71804).abs() < 1e-3), "{poisson}");
    assert_eq!(document["claimed_epsilon"], *poisson);
    assert!(document["violated"].is_boolean());

    let document = json(folder.path(), "audit mechanism --observations 1e4 --delta 0 --check");
    for field in ["claimed_epsilon", "violated"] {
        assert_eq!(document.get(field), Some(&Value::Null), "{field}");
    }
}

#[test]
fn alone_it_checks_the_default_setting_with_an_audit() {
    let folder = tempfile::tempdir().unwrap();
    let run = misdeal(folder.path(), "");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.starts_with("Verdict: The claim of epsilon 0.719 is REFUTED"), "{}", run.stdout);
    assert!(run.stdout.contains("\nAudit: 10,000,000 observations of shuffle batches"), "{}", run.stdout);
}

#[test]
fn quiet_says_nothing_but_the_result_and_failures() {
    let folder = tempfile::tempdir().unwrap();
    let run = misdeal(folder.path(), "audit mechanism --observations 1e5 --quiet");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains("Verdict:"));
    refusal(folder.path(), "audit mechanism --observations 7 --quiet");
}

/// Numbers may be written as people write them, and the seed decides everything.
#[test]
fn the_same_numbers_give_the_same_answer() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |arguments: &str| {
        let document = json(folder.path(), &format!("audit mechanism --steps-per-epoch 10 {arguments}"));
        document["empirical_epsilon"].as_f64().unwrap()
    };
    let first = answer("--observations 1e5 --seed 4");
    for same in ["--observations 100000 --seed 4", "--observations 100_000 --seed 4 --threads 3"] {
        assert_eq!(answer(same).to_bits(), first.to_bits(), "{same}");
    }
    assert_ne!(answer("--observations 1e5 --seed 5").to_bits(), first.to_bits());
}

/// Where there is a device it plays; where there is none, one line says what is missing, and `auto` plays all the same.
#[test]
fn a_missing_device_is_an_error_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let has_device = json(folder.path(), "devices")["devices"].as_array().unwrap().len() > 1;
    let is_without_device = |run: &Run| {
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (Some(3), "", 1), "{run:?}");
        assert!(run.stderr.starts_with("misdeal: ") && run.stderr.contains("CUDA"), "{}", run.stderr);
    };
    for flag in ["--device", "--engine"] {
        let run = misdeal(folder.path(), &format!("audit mechanism {flag} cuda --observations 1e5 --quiet"));
        if has_device {
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
            assert!(run.stdout.contains(" s on cuda"), "{run:?}");
        } else {
            is_without_device(&run);
        }
    }
    assert_eq!(misdeal(folder.path(), "audit mechanism --device auto --observations 1e5").code, Some(0));
    let training = "audit training --dataset-size 100 --batch-size 10 --observations 40 --quiet";
    for flags in ["--device cuda", "--precision tf32", "--device cuda --precision tf32"] {
        let run = misdeal(folder.path(), &format!("{training} {flags}"));
        if has_device {
            assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
        } else {
            is_without_device(&run);
        }
    }
    assert_eq!(misdeal(folder.path(), &format!("{training} --device auto")).code, Some(0));
    let line = refusal(folder.path(), &format!("{training} --device cpu --precision tf32"));
    assert!(line.contains("precision") && line.contains("--device cuda"), "{line}");
}

#[test]
fn help_states_the_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in
        ["--help", "-h", "audit mechanism --help", "audit training --help", "estimate --help", "merge --help"]
    {
        let run = misdeal(folder.path(), arguments);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments}");
        let help = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in ["Exit codes: 0 done", "1 done", "2 bad usage", "3 the run", "130 and 143"] {
            assert!(help.contains(words), "{arguments} does not mention {words}: {help}");
        }
    }
    let run = misdeal(folder.path(), "--version");
    assert_eq!(run.stdout.trim(), concat!("misdeal ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn devices_begin_with_the_processor() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "devices");
    assert_eq!((report["command"].as_str(), report["schema_version"].as_u64()), (Some("devices"), Some(2)));
    let devices = report["devices"].as_array().unwrap();
    assert_eq!(devices[0]["device"], "cpu");
    assert!(devices[0]["engine"].as_str().unwrap().starts_with("cpu-"));
    assert_eq!(
        devices.len() == 1,
        report["cuda_missing"].is_string(),
        "either there is one, or it is said why not"
    );
}
