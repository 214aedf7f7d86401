//! The schemas in `docs/schema` are those of the documents that commands print: documents pass, have no field that is not
//! documented, and every documented field is met.
//!
//! They are made from the types of `misdeal_results`, which a test of that crate holds them against. Schemas allow more fields, because
//! readers should ignore what they do not know; this test does not.

use crate::documented::Fields;
use crate::program::{self, misdeal};
use jsonschema::Validator;
use misdeal::{
    Analysis, Claim, CoinAnalysis, CurveClaim, Independence, RunRecord, check_up, judge_coins, judge_outputs,
};
use misdeal_core::Setting;
use misdeal_results::Document;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Each kind of document, with commands that print it.
const COMMANDS: [(&str, &[&str]); 16] = [
    (
        "audit-mechanism",
        &[
            "audit mechanism --seed 3",
            "audit mechanism --observations 2e4 --trade-off",
            "audit mechanism --observations 2e4 --claimed-curve gdp=1",
            "audit mechanism --observations 2e4 --dataset-size 10050",
            "audit mechanism --observations 2e4 --scheme partial-shuffle --buffer-size 1000 --search-buffer",
            "audit mechanism --observations 2e4 --scheme stream-shuffle --buffer-size 1000 --adversary-scheme \
             partial-shuffle --scores exact --store exact.store --engine reference --steps-per-epoch 20",
            "audit mechanism --observations 1e5 --threshold-choice sequential --stop-when violated \
             --claimed-epsilon 0.1 --threat-model target-canary",
            "audit mechanism --observations 8 --estimator raw --threshold-choice max --delta 0",
            "audit mechanism --observations 2e4 --scheme without-replacement --estimator gdp",
            "audit mechanism --observations 2e4 --scheme partial-shuffle --buffer-size 1000 --search-buffer \
             --uncorrected --trade-off",
            "audit mechanism --observations 2e4 --shard 1/2 --store first.store",
            "audit mechanism --observations 2e4 --shard 2/2 --store second.store",
        ],
    ),
    (
        "audit-training",
        &[
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --target-epsilon 4 \
             --threat-model partially-informed --trade-off --claimed-curve gdp=1 --store models.store",
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --scheme partial-shuffle \
             --buffer-size 100 --search-buffer --canary null-space",
            "audit training --observations 20 --dataset-size 200 --batch-size 50 --canaries 3 --canary random --threat-model \
             partially-informed --trade-off",
            "audit training --observations 8 --dataset-size 20 --batch-size 10 --model lenet --scheme \
             stream-shuffle --buffer-size 5 --adversary-scheme shuffle",
        ],
    ),
    (
        "estimate",
        &[
            "estimate --scores-in in.csv --scores-out out.csv --claimed-curve gdp=1",
            "estimate --scores-in in.csv --scores-out out.csv",
            "estimate --scores-in in.csv --scores-out out.csv --estimator divergence --threshold-choice band",
            "estimate --scores-in in.csv --scores-out out.csv --estimator all --trade-off --claimed-epsilon 1",
            "estimate --scores-in in.csv --scores-out few.csv --claimed-epsilon 1",
            "estimate --scores-in out.csv --scores-out in.csv",
            "estimate --scores both.csv",
        ],
    ),
    (
        "account",
        &[
            "account --buffer-size 1000",
            "account --scheme poisson --epsilon 1 --trade-off --compare",
            "account --scheme without-replacement --epsilon 1 --trade-off --compare",
            "account --dataset-size 10050 --scheme poisson --claimed-epsilon 1",
            "account --sampling-probability 0.01 --steps 100 --delta 0.001",
        ],
    ),
    (
        "calibrate-all",
        &[
            "calibrate --target-epsilon 3",
            "calibrate --target-epsilon 3 --dataset-size 10050 --buffer-size 500",
        ],
    ),
    (
        "calibrate",
        &[
            "calibrate --target-epsilon 3 --scheme poisson --dataset-size 10050",
            "calibrate --target-epsilon 8 --scheme partial-shuffle --buffer-size 500 --bound lower",
        ],
    ),
    ("merge", &["merge first.store second.store --output both.store"]),
    ("deal", &["deal --dataset-size 100 --batch-size 10 --noise-multiplier 1 --output plan.jsonl"]),
    (
        "diagnose",
        &[
            "diagnose LOGS/datasets-buffer.jsonl",
            "diagnose LOGS/opacus-poisson.jsonl --noise-multiplier 1 --epochs 5",
            "diagnose LOGS/torch-ranks-not-split.jsonl",
            "diagnose LOGS/webdataset-growing-buffer.jsonl",
            "diagnose LOGS/torch-replacement.jsonl",
            "diagnose LOGS/datasets-buffer-no-set-epoch.jsonl",
            "diagnose cut.jsonl",
        ],
    ),
    (
        "scan",
        &[
            "scan train.py train.ipynb broken.py partial.ipynb",
            "scan train.py --survey",
            "scan empty.py",
            "scan --list-rules",
            "scan --explain poisson-loader-unused",
        ],
    ),
    ("devices", &["devices"]),
    (
        "check",
        &[
            "check --dataset-size 1000 --batch-size 100 --epochs 2 --noise-multiplier 2 --claimed-epsilon 1 --scheme \
             partial-shuffle --buffer-size 200 --observations 2000",
            "check --dataset-size 1050 --batch-size 100 --steps 15 --noise-multiplier 2",
        ],
    ),
    (
        "sweep",
        &[
            "sweep --dataset-size 1000 --batch-size 100 --epochs 2 --vary noise-multiplier=1,2 --vary scheme=shuffle,poisson",
        ],
    ),
    ("self-test", &["self-test --device cpu"]),
    ("report", &["report result.json --output page.html"]),
    (
        "reproduce",
        &[
            "reproduce figure-5 --quick",
            "reproduce figure-8 --precision tf32",
            "reproduce figure-3 --quick --only 1e5 --runs 2 --observations 9e4",
            "reproduce figure-10",
            "reproduce settings --quick --only 117 --observations 1000",
        ],
    ),
];

/// What no command prints here: graphics processors, and trainings of the paper on its data.
const NOT_MET_HERE: [&str; 10] = [
    // Logs of these laws are judged by the tests of `misdeal`.
    "diagnose: /$defs/SchemeParameters/properties/cycle_length",
    "diagnose: /$defs/SchemeParameters/properties/largest_batch",
    "diagnose: /$defs/SchemeParameters/properties/uses",
    "devices: /properties/devices/items/properties/memory_bytes",
    "reproduce: /properties/rows/items/properties/dataset",
    "reproduce: /properties/rows/items/properties/test_accuracy",
    "reproduce: /properties/rows/items/properties/bias",
    "reproduce: /$defs/Spread/properties/mean",
    "reproduce: /$defs/Spread/properties/standard_deviation",
    "reproduce: /$defs/Setting/properties/training",
];

/// What a definition names, and a kind of document has none of.
const NEVER_IN: [(&str, &[&str]); 8] = [
    // What an audit holds is met in its own documents.
    (
        "check",
        &[
            "/$defs/Audit",
            "/$defs/BatchScheme",
            "/$defs/BufferSearch",
            "/$defs/CurveTest",
            "/$defs/Guess",
            "/$defs/PromisedCurve",
            "/$defs/TestedCurve",
            "/$defs/Setting/",
            "/$defs/TradeOff",
            "/CardSetting/properties/sampling_probability",
        ],
    ),
    ("sweep", &["/$defs/"]),
    ("audit-training", &["/properties/unused_records"]),
    ("audit-mechanism", &["/$defs/Setting/properties/training"]),
    (
        "merge",
        &[
            "/$defs/Setting/properties/training",
            "/$defs/BatchScheme/properties/scheme",
            "/buffer_size",
            "/adversary_scheme",
        ],
    ),
    ("reproduce", &["/$defs/BatchScheme/properties", "/adversary_scheme", "/not_tested"]),
    ("estimate", &["/not_tested", "/objection"]),
    (
        "outputs",
        &[
            "/$defs/Setting/properties/training",
            "/$defs/BatchScheme/properties/scheme",
            "/$defs/EpsilonEstimate/properties/objection",
            "/buffer_size",
            "/adversary_scheme",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn schemas() -> BTreeMap<String, Value> {
    let entries = fs::read_dir(root().join("docs/schema")).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().strip_suffix(".v2.json").unwrap().to_owned();
        (name, serde_json::from_slice(&fs::read(path).unwrap()).unwrap())
    };
    entries.map(read).collect()
}

/// The validator, and the fields met so far.
struct Held<'a> {
    kind: &'a str,
    validator: Validator,
    fields: Fields<'a>,
}

impl<'a> Held<'a> {
    fn against(kind: &'a str, schema: &'a Value) -> Self {
        let options = jsonschema::options().should_validate_formats(true);
        Held { kind, validator: options.build(schema).unwrap(), fields: Fields::of(schema) }
    }

    fn holds(&mut self, document: &Value, words: &str) {
        let errors: Vec<String> =
            self.validator.iter_errors(document).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{words}\n{}", errors.join("\n"));
        let undocumented = self.fields.note(document);
        assert!(undocumented.is_empty(), "{words}: docs/schema/{}.v2.json lacks {undocumented:?}", self.kind);
    }

    fn saw_everything(&self) {
        let never = NEVER_IN.iter().filter(|(kind, _)| *kind == self.kind).flat_map(|(_, fields)| *fields);
        let never: Vec<_> = never.collect();
        let mut unseen = self.fields.unseen();
        unseen.retain(|field| !NOT_MET_HERE.contains(&format!("{}: {field}", self.kind).as_str()));
        unseen.retain(|field| !never.iter().any(|ending| field.contains(*ending)));
        assert!(unseen.is_empty(), "no command printed, of docs/schema/{}.v2.json: {unseen:#?}", self.kind);
    }
}

fn lay_out(folder: &Path) {
    let scores = |shift: f64, count: u32| {
        let lines = (0..count).map(|i| format!("{}\n", (f64::from(i) * 0.618_034).fract() * 3.0 + shift));
        lines.collect::<String>()
    };
    let both: Vec<String> = (0..2000).map(|i| format!("{},{i}\n", u8::from(i >= 1000))).collect();
    let both = both.concat();
    let both = format!("member,score\n{both}");
    let source = "import tensorflow as tf\nimport tensorflow_privacy\nd = tf.data.Dataset.range(9).batch(3).shuffle(9)\n";
    let lines: Vec<String> = source.lines().map(|line| format!("{line}\n")).collect();
    let notebook =
        serde_json::json!({"cells": [{"cell_type": "code", "source": lines}], "metadata": {}, "nbformat": 4});
    let partial = serde_json::json!({"cells": [{"cell_type": "code", "source": lines}, {"cell_type": "code", "source": ["def (:"]}],
        "metadata": {}, "nbformat": 4});
    for (name, text) in [
        ("cut.jsonl", "{\"epoch\": 0, \"batch\": [0, 1]}\n{\"epoch\": 0, \"bat".to_owned()),
        ("partial.ipynb", partial.to_string()),
        ("in.csv", scores(1.0, 2000)),
        ("out.csv", scores(0.0, 2000)),
        ("both.csv", both),
        ("few.csv", scores(0.0, 1500)),
        ("train.py", source.to_owned()),
        ("train.ipynb", serde_json::to_string_pretty(&notebook).unwrap()),
        ("broken.py", "def (:\n".to_owned()),
        ("empty.py", String::new()),
        (
            "result.json",
            misdeal(folder, "calibrate --target-epsilon 3 --scheme poisson --format json").stdout,
        ),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn documents_are_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path());
    let logs = root().join("testdata/diagnose");
    let schemas = schemas();
    for (kind, commands) in COMMANDS {
        let mut held = Held::against(kind, &schemas[kind]);
        for words in commands {
            let words = words.replace("LOGS", logs.to_str().unwrap());
            let run = misdeal(folder.path(), &format!("{words} --format json"));
            assert!(matches!(run.code, Some(0 | 1)), "{words}: {}", run.stderr);
            held.holds(&serde_json::from_str(&run.stdout).unwrap(), &words);
        }
        held.saw_everything();
    }
}

#[test]
fn judged_outputs_are_as_documented() {
    let schemas = schemas();
    let mut held = Held::against("outputs", &schemas["outputs"]);
    let setting = Setting { steps_per_epoch: 4, batch_size: 2, ..Setting::default() };
    let outputs = |shift: f64| (0..80).map(|i| f64::from(i * 7 % 31) / 10.0 + shift).collect::<Vec<f64>>();
    for claim in [None, Some(1.0)] {
        let report =
            judge_outputs(&setting, &outputs(0.5), &outputs(0.0), &Analysis::default(), claim).unwrap();
        let document = Document::from(report).to_json();
        held.holds(&serde_json::from_str(&document).unwrap(), "judge_outputs");
    }
    let coins: Vec<bool> = (0..64).map(|canary| canary % 3 == 0).collect();
    let outputs: Vec<f64> = coins.iter().map(|&is_in| if is_in { 9.0 } else { -5.0 }).collect();
    let poisson = Some(CurveClaim::Named("poisson".into()));
    for (independence, claimed_curve) in [(None, None), (Some(Independence::Follow), poisson)] {
        let claimed_epsilon = claimed_curve.is_none().then_some(0.5);
        let analysis =
            CoinAnalysis { claimed_epsilon, claimed_curve, independence, ..CoinAnalysis::default() };
        let one_step = Setting { steps_per_epoch: 1, ..Setting::default() };
        let report = judge_coins(&one_step, &outputs, &coins, 64, &analysis).unwrap();
        let document = Document::from(report).to_json();
        held.holds(&serde_json::from_str(&document).unwrap(), "judge_coins");
    }
    held.saw_everything();
}

#[test]
fn check_ups_are_as_documented() {
    let schemas = schemas();
    let mut held = Held::against("check-up", &schemas["check-up"]);
    let run = RunRecord { noise_multipliers: vec![1.0; 4], batch_sizes: vec![8; 4], ..RunRecord::default() };
    let outputs = [0.3, -1.1, 0.8, 0.2].to_vec();
    for outputs in [outputs, vec![0.0; 4]] {
        let run = RunRecord {
            canaries: 1,
            outputs,
            planted: vec![0.0; 4],
            placed: vec![false; 4],
            coins: vec![true],
            ..run.clone()
        };
        let document = Document::from(check_up(&[run], &Claim::default(), &[]).unwrap()).to_json();
        held.holds(&serde_json::from_str(&document).unwrap(), "check_up");
    }
    held.saw_everything();
}

#[test]
fn every_kind_is_held_and_definitions_of_one_name_are_one() {
    let schemas = schemas();
    let mut kinds: Vec<&str> =
        COMMANDS.iter().map(|(kind, _)| *kind).chain(["outputs", "check-up"]).collect();
    kinds.sort_unstable();
    assert_eq!(schemas.keys().collect::<Vec<_>>(), kinds);
    let mut definitions: BTreeMap<&String, (&str, &Value)> = BTreeMap::new();
    for (kind, schema) in &schemas {
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{kind}");
        assert_eq!(schema["$id"], format!("urn:misdeal:schema:2:{kind}"));
        assert_eq!(schema["properties"]["schema_version"]["const"], 2, "{kind}");
        assert!(jsonschema::meta::is_valid(schema), "{kind}");
        for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
            let (first, same) = definitions.entry(name).or_insert((kind, definition));
            assert_eq!(*same, definition, "{name} in {first} and in {kind}");
        }
    }
}

#[test]
fn wrong_documents_are_found() {
    let schemas = schemas();
    let folder = tempfile::tempdir().unwrap();
    let right = program::json(folder.path(), "calibrate --target-epsilon 3 --scheme poisson");
    let schema = &schemas["calibrate"];
    let validator = jsonschema::validator_for(schema).unwrap();
    assert!(validator.is_valid(&right));
    let changed = |name: &str, value: Value| {
        let mut document = right.clone();
        document[name] = value;
        document
    };
    for wrong in [
        changed("scheme", "riffle".into()),
        changed("schema_version", 3.into()),
        changed("epsilon", "3".into()),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
    // A field of a later version does not trouble a reader, and is found here.
    let later = changed("later", 1.into());
    assert!(validator.is_valid(&later));
    assert_eq!(Fields::of(schema).note(&later), ["/later"]);
}
