//! What commands print stays as it is: text and JSON of every command, scheme, estimator and defect, kept in `tests/snapshots`.
//!
//! `INSTA_UPDATE=always cargo test --profile tested -p misdeal-cli --test suite snapshots` writes them again; read the difference before you commit it.
//! What depends on the machine (times, speeds, the instruction set) is replaced. Numbers keep nine digits, because the last bits of theory
//! depend on the instruction set. Long lists keep their length and their sum.

use crate::program::misdeal;
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands by the name of their snapshot. Each is run for people and as JSON, in the order of the list, in one folder.
const COMMANDS: &[(&str, &[&str])] = &[
    ("default", &[""]),
    (
        "check",
        &[
            "check --dataset-size 60000 --batch-size 512 --epochs 15 --noise-multiplier 0.8 --delta 1e-5 --claimed-epsilon 2.1 --scheme shuffle",
            "check --records 60000 --batch-size 500 --epochs 1 --sigma 1 --claimed-epsilon 3",
            "check --dataset-size 1000 --batch-size 100 --steps 25 --noise-multiplier 5 --scheme stream-shuffle --buffer-size 200",
            "sweep --dataset-size 1000 --batch-size 100 --epochs 2 --vary noise-multiplier=1:4:3:log",
        ],
    ),
    (
        "audit-mechanism-schemes",
        &[
            "audit mechanism --observations 2e4 --scheme poisson",
            "audit mechanism --observations 2e4 --scheme shuffle",
            "audit mechanism --observations 2e4 --scheme shuffle-once --epochs 3",
            "audit mechanism --observations 2e4 --scheme partial-shuffle --buffer-size 1000",
            "audit mechanism --observations 2e4 --scheme stream-shuffle --buffer-size 1000",
            "audit mechanism --observations 2e4 --scheme batch-then-shuffle --steps-per-epoch 10",
            "audit mechanism --observations 2e4 --scheme balls-in-bins --epochs 2",
            "audit mechanism --observations 2e4 --scheme without-replacement",
            "audit mechanism --observations 2e4 --scheme fixed-order",
        ],
    ),
    (
        "audit-mechanism-adversaries",
        &[
            "audit mechanism --observations 2e4 --threat-model target-canary",
            "audit mechanism --observations 2e4 --threat-model partially-informed",
            "audit mechanism --observations 2e4 --scheme stream-shuffle --buffer-size 1000 --adversary-scheme partial-shuffle --adversary-buffer-size 500",
            "audit mechanism --observations 2e4 --scheme partial-shuffle --buffer-size 1000 --search-buffer",
            "audit mechanism --observations 2e4 --scheme partial-shuffle --buffer-size 1000 --search-buffer --uncorrected",
        ],
    ),
    (
        "audit-mechanism-estimators",
        &[
            "audit mechanism --observations 2e4 --estimator jeffreys",
            "audit mechanism --observations 2e4 --estimator joint-bayesian",
            "audit mechanism --observations 2e4 --estimator log-katz",
            "audit mechanism --observations 2e4 --estimator gdp",
            "audit mechanism --observations 2e4 --estimator divergence",
            "audit mechanism --observations 2e4 --estimator one-run",
            "audit mechanism --observations 2e4 --estimator one-run-fdp",
            "audit mechanism --observations 2e4 --estimator raw",
            "audit mechanism --observations 2e4 --threshold-choice band",
            "audit mechanism --observations 2e4 --threshold-choice max",
            "audit mechanism --observations 1e5 --threshold-choice sequential --stop-when violated --claimed-epsilon 0.1",
        ],
    ),
    (
        "audit-mechanism-runs",
        &[
            "audit mechanism --observations 2e4 --trade-off",
            "audit mechanism --observations 2e4 --trade-off --claimed-curve gdp=1",
            "audit mechanism --observations 2e4 --claimed-epsilon 0.5 --check",
            "audit mechanism --observations 200 --claimed-epsilon 9",
            "audit mechanism --observations 2000 --scores exact --engine reference --steps-per-epoch 7 --seed 3",
            "audit mechanism --observations 2e4 --shard 1/2 --store FORMAT-first.store",
            "audit mechanism --observations 2e4 --shard 2/2 --store FORMAT-second.store",
            "merge FORMAT-first.store FORMAT-second.store --output FORMAT-both.store",
            "audit mechanism --observations 2e4 --store FORMAT-both.store --resume",
            "audit mechanism --observations 4e4 --store FORMAT-both.store --resume",
        ],
    ),
    (
        "audit-training",
        &[
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --target-epsilon 4 --threat-model partially-informed --trade-off",
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --scheme poisson",
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --scheme partial-shuffle --buffer-size 100 --search-buffer --canary null-space",
            "audit training --observations 20 --dataset-size 210 --batch-size 50 --canaries 3 --canary dirac --threat-model target-canary --last-batch keep --debias --learning-rate 0.5 --clip-norm 2",
            "audit training --observations 8 --dataset-size 20 --batch-size 10 --model lenet --scheme stream-shuffle --buffer-size 5 --adversary-scheme shuffle",
        ],
    ),
    (
        "estimate",
        &[
            "estimate --scores-in in.csv --scores-out out.csv",
            "estimate --scores-in in.csv --scores-out out.csv --estimator all --trade-off --claimed-epsilon 1",
            "estimate --scores-in in.csv --scores-out out.csv --estimator all --threshold-choice band --fair-coins",
            "estimate --scores-in in.csv --scores-out few.csv --claimed-epsilon 1 --estimator divergence --threshold-choice band",
            "estimate --scores-in out.csv --scores-out in.csv --claimed-curve gdp=1 --trade-off",
        ],
    ),
    (
        "account",
        &[
            "account --buffer-size 1000",
            "account --scheme poisson --epsilon 1 --trade-off --compare",
            "account --scheme balls-in-bins --epochs 3 --compare",
            "account --scheme without-replacement --epsilon 1",
            "account --scheme shuffle --noise-multiplier 0.5 --epochs 10 --delta 1e-6",
            "account --sampling-probability 0.01 --steps 100 --delta 0.001",
        ],
    ),
    (
        "calibrate",
        &[
            "calibrate --target-epsilon 3 --scheme poisson",
            "calibrate --target-epsilon 3 --scheme shuffle",
            "calibrate --target-epsilon 8 --scheme partial-shuffle --buffer-size 500 --bound lower",
            "calibrate --target-epsilon 1 --scheme fixed-order --epochs 7",
        ],
    ),
    (
        "diagnose",
        &[
            "diagnose LOGS/datasets-buffer.jsonl",
            "diagnose LOGS/datasets-buffer-no-set-epoch.jsonl",
            "diagnose LOGS/opacus-poisson.jsonl --noise-multiplier 1 --epochs 5",
            "diagnose LOGS/torch-array.npy",
            "diagnose LOGS/torch-distributed.jsonl",
            "diagnose LOGS/torch-distributed-forgotten.jsonl",
            "diagnose LOGS/torch-distributed-padded.jsonl",
            "diagnose LOGS/torch-drop-last.jsonl",
            "diagnose LOGS/torch-iterable-split.jsonl",
            "diagnose LOGS/torch-iterable-workers.jsonl",
            "diagnose LOGS/torch-ranks-not-split.jsonl",
            "diagnose LOGS/torch-replacement.jsonl",
            "diagnose LOGS/torch-same-seed.jsonl --noise-multiplier 1",
            "diagnose LOGS/torch-sequential.jsonl --noise-multiplier 1",
            "diagnose LOGS/torch-shuffled.jsonl --noise-multiplier 1",
            "diagnose LOGS/torch-table.parquet",
            "diagnose LOGS/webdataset-full-buffer.jsonl",
            "diagnose LOGS/webdataset-growing-buffer.jsonl --noise-multiplier 1",
        ],
    ),
    (
        "scan",
        &[
            "scan train.py broken.py",
            "scan train.py --survey",
            "scan --list-rules",
            "scan --explain poisson-loader-unused",
        ],
    ),
    (
        "reproduce",
        &[
            "reproduce figure-5 --quick",
            "reproduce figure-8",
            "reproduce figure-3 --quick --only 1e5 --runs 2 --observations 9e4",
            "reproduce settings --quick --only 117 --observations 1000",
        ],
    ),
    (
        "refusals",
        &[
            "audit mechanism --noise-multiplier 0",
            "audit mechanism --scheme riffle",
            "audit mechanism --scheme partial-shuffle",
            "audit mechanism --resume",
            "audit mechanism --observations 7",
            "audit training --dataset missing.npz",
            "account --delta 2",
            "calibrate --target-epsilon -1",
            "estimate --scores-in missing.csv --scores-out out.csv",
            "diagnose missing.jsonl",
            "merge missing --output joined",
            "report missing.json --output page.html",
        ],
    ),
];

/// A test for each snapshot, so that they run side by side.
macro_rules! snapshots {
    ($($test:ident $name:literal)*) => {
        $(
            #[test]
            fn $test() {
                insta::assert_snapshot!($name, printed($name));
            }
        )*

        #[test]
        fn every_snapshot_has_its_test() {
            assert_eq!(COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>(), [$($name),*]);
        }
    };
}

snapshots! {
    the_default_audit_prints_what_it_printed "default"
    checks_print_what_they_printed "check"
    schemes_print_what_they_printed "audit-mechanism-schemes"
    adversaries_print_what_they_printed "audit-mechanism-adversaries"
    estimators_print_what_they_printed "audit-mechanism-estimators"
    runs_print_what_they_printed "audit-mechanism-runs"
    trainings_print_what_they_printed "audit-training"
    estimates_print_what_they_printed "estimate"
    accounts_print_what_they_printed "account"
    calibrations_print_what_they_printed "calibrate"
    diagnoses_print_what_they_printed "diagnose"
    scans_print_what_they_printed "scan"
    reproductions_print_what_they_printed "reproduce"
    refusals_print_what_they_printed "refusals"
}

/// What the commands of a snapshot print, text before JSON.
fn printed(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let logs: PathBuf = root.join("testdata/diagnose");
    let logs = logs.to_str().unwrap();
    let (_, commands) = COMMANDS.iter().find(|(known, _)| *known == name).unwrap();
    let mut printed = String::new();
    for words in *commands {
        writeln!(printed, "$ misdeal {words}").unwrap();
        for format in ["text", "json"] {
            let given = words.replace("LOGS", logs).replace("FORMAT", format);
            let run = misdeal(folder.path(), &format!("{given} --format {format}"));
            let told = |text: &str| steady(&text.replace(logs, "LOGS").replace(&format!("{format}-"), ""));
            let said = match serde_json::from_str::<Value>(&run.stdout) {
                Ok(document) if format == "json" => {
                    told(&serde_json::to_string_pretty(&short(document)).unwrap())
                }
                _ => told(&run.stdout),
            };
            let remarks = told(&run.stderr);
            let code = run.code.unwrap();
            writeln!(printed, "[{format}, exit code {code}]\n{}\n{}", said.trim_end(), remarks.trim_end())
                .unwrap();
        }
    }
    printed
}

/// The document with lists of numbers as their length and sum, numbers to nine digits, and nothing of the machine.
fn short(value: Value) -> Value {
    match value {
        Value::Array(items) if items.len() > 12 && items.iter().all(|item| flat(item).is_some()) => {
            let sum: f64 = items.iter().filter_map(flat).sum();
            json!(format!("{} entries, sum {sum:.5e}", items.len()))
        }
        Value::Array(items) => items.into_iter().map(short).collect(),
        Value::Object(fields) => {
            let replaced = |(name, value): (String, Value)| match name.as_str() {
                "seconds" | "observations_per_second" | "models_per_second" | "version"
                    if !value.is_null() =>
                {
                    (name, json!("..."))
                }
                _ => (name, short(value)),
            };
            Value::Object(fields.into_iter().map(replaced).collect())
        }
        Value::Number(number) if number.is_f64() => {
            let rounded = format!("{:.8e}", number.as_f64().unwrap());
            json!(rounded.parse::<f64>().unwrap())
        }
        other => other,
    }
}

/// The sum of what is a number, a list of numbers or an object of numbers.
fn flat(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Array(items) => items.iter().map(flat).sum(),
        Value::Object(fields) => fields.values().map(flat).sum(),
        _ => None,
    }
}

/// Text without what depends on the machine: speeds, seconds and engines, whose lengths also decide where lines are wrapped.
fn steady(text: &str) -> String {
    const CONTINUED: &str = "                               ";
    let mut steady: Vec<String> = Vec::new();
    let (mut is_cut, mut is_audit) = (false, false);
    for line in text.lines() {
        if is_cut && line.starts_with(CONTINUED) {
            continue;
        }
        is_cut = false;
        if is_audit && !line.is_empty() {
            continue;
        }
        is_audit = line.starts_with("Audit: ");
        let mut line = line.to_owned();
        for marker in ["half of them in each world; ", "models; ", "Audit: "] {
            if let Some(at) = line.find(marker) {
                line.truncate(at + marker.len());
                line.push_str("...");
                is_cut = true;
            }
        }
        for engine in ["cpu-avx512", "cpu-avx2", "cpu-portable"] {
            line = line.replace(engine, "cpu-...");
        }
        steady.push(line);
    }
    steady.join("\n")
}

fn lay_out(folder: &Path) {
    let scores = |shift: f64, count: u32| {
        let lines = (0..count).map(|i| format!("{}\n", (f64::from(i) * 0.618_034).fract() * 3.0 + shift));
        lines.collect::<String>()
    };
    let source = "import tensorflow as tf\nimport tensorflow_privacy\nd = tf.data.Dataset.range(9).batch(3).shuffle(9)\n";
    for (name, text) in [
        ("in.csv", scores(1.0, 2000)),
        ("out.csv", scores(0.0, 2000)),
        ("few.csv", scores(0.0, 1500)),
        ("train.py", source.to_owned()),
        ("broken.py", "def (:\n".to_owned()),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}
