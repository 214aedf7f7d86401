//! Whatever is wrong with the request: exit code 2, one line that says what, and nothing is written.

use crate::program::{misdeal, refusal};
use std::fs;
use std::path::Path;

/// Refused arguments of a command, and the words that the line must have.
fn check(folder: &Path, command: &str, cases: &[(&str, &[&str])]) {
    for (arguments, words) in cases {
        let arguments = format!("{command} {arguments}");
        let line = refusal(folder, &arguments);
        for word in *words {
            assert!(line.contains(word), "{arguments}: {word:?} is not in {line}");
        }
    }
}

#[test]
fn numbers_out_of_their_range() {
    let folder = tempfile::tempdir().unwrap();
    // Allowed range, bad values: the line has the flag, the value as it was read or typed, and the range.
    let flags: [(&str, &str, &[&str]); 14] = [
        ("--noise-multiplier", "0.01 to 10000", &["NaN", "0", "-1", "inf", "-inf", "1e300", "1e-300"]),
        ("--delta", "0 to below 1", &["NaN", "1", "-0.1", "inf", "-inf", "7"]),
        ("--significance", "up to 0.5", &["NaN", "0", "0.51", "1", "-0.05", "inf", "-inf", "95"]),
        ("--claimed-epsilon", "finite number from 0", &["NaN", "-1", "inf", "-inf"]),
        ("--steps-per-epoch", "whole number from 1", &["0", "1e15"]),
        ("--epochs", "whole number from 1", &["0", "1e15"]),
        ("--batch-size", "whole number from 1", &["0", "1e15"]),
        ("--observations", "even number from 8", &["0", "2", "7", "1001", "8e15"]),
        ("--target-index", "0 to 9999", &["10000", "1e15"]),
        ("--threads", "1 to 4096", &["0", "5000"]),
        ("--scheme stream-shuffle --buffer-size", "1 to 10000", &["0", "10001", "1e15"]),
        ("--scheme partial-shuffle --buffer-size", "1 to 10000", &["0", "10001"]),
        ("--adversary-scheme partial-shuffle --adversary-buffer-size", "1 to 10000", &["0", "10001"]),
        ("--shard", "I/N with I from 1 to N", &["0/3", "4/3", "1/0", "1", "a/b", "1/2/3", "1.5/2"]),
    ];
    for (flag, allowed, values) in flags {
        let name = flag.split_whitespace().last().unwrap();
        for value in values {
            let line = refusal(folder.path(), &format!("audit mechanism {flag} {value}"));
            assert!(line.contains(name) && line.contains(allowed), "{flag} {value}: {line}");
            let read = value.parse::<f64>().map_or((*value).to_owned(), |number| number.to_string());
            let is_shown = |value: &str| line.contains(&format!("{name} {value}:"));
            assert!(is_shown(&read) || is_shown(value), "{flag} {value}: {line}");
            assert!(line.len() < 300, "no hundreds of digits: {line}");
        }
    }
}

/// What is no number, or no whole one, for each flag that takes one.
#[test]
fn what_is_no_number() {
    let folder = tempfile::tempdir().unwrap();
    for flag in ["--noise-multiplier", "--delta", "--significance", "--claimed-epsilon"] {
        for value in ["seven", "1,5", "0x10", "-", "-x"] {
            let line = refusal(folder.path(), &format!("audit mechanism {flag} {value}"));
            assert!(
                line.contains(flag) && line.contains(value) && line.contains("number"),
                "{flag} {value}: {line}"
            );
        }
    }
    for flag in [
        "--steps-per-epoch",
        "--epochs",
        "--batch-size",
        "--buffer-size",
        "--target-index",
        "--adversary-buffer-size",
        "--observations",
        "--seed",
        "--threads",
    ] {
        for value in ["NaN", "-1", "inf", "-inf", "1e300", "1.5", "seven", "99999999999999999999"] {
            let line = refusal(folder.path(), &format!("audit mechanism {flag} {value}"));
            let says = [flag, value, "whole number"].iter().all(|words| line.contains(words));
            assert!(says, "{flag} {value}: {line}");
        }
    }
}

#[test]
fn names_and_combinations() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[&str]); 23] = [
        ("--scheme shufle", &["--scheme", "shufle", "shuffle-once"]),
        ("--threat-model worst", &["--threat-model", "worst", "worst-case"]),
        ("--adversary-scheme none", &["--adversary-scheme", "none", "poisson"]),
        ("--estimator best", &["--estimator", "best", "clopper-pearson"]),
        ("--estimator all", &["--estimator", "all", "clopper-pearson"]),
        ("--threshold-choice min", &["--threshold-choice", "min", "hold-out"]),
        ("--engine gpu", &["--engine", "gpu", "reference"]),
        ("--device tpu", &["--device", "tpu", "cuda"]),
        ("--scores all", &["--scores", "all", "exact"]),
        ("--format yaml", &["--format", "yaml", "json"]),
        ("--scheme stream-shuffle", &["--buffer-size", "missing", "stream-shuffle needs one"]),
        ("--scheme partial-shuffle", &["--buffer-size", "missing", "partial-shuffle needs one"]),
        ("--buffer-size 100", &["--buffer-size", "100", "shuffle has no buffer"]),
        (
            "--adversary-scheme stream-shuffle",
            &["--adversary-buffer-size missing", "stream-shuffle needs one"],
        ),
        (
            "--adversary-scheme poisson --adversary-buffer-size 9",
            &["--adversary-buffer-size 9", "poisson has no buffer"],
        ),
        ("--steps-per-epoch 1e6 --epochs 1e6", &["--epochs 1000000", "at most 2147"]),
        (
            "--steps-per-epoch 2147483648 --batch-size 1e12",
            &["--batch-size 1000000000000", "at most 4194304"],
        ),
        ("--resume", &["--resume", "--store"]),
        ("--store", &["--store", "FILE"]),
        ("--observation 100", &["--observation", "--observations"]),
        ("--seed 1 --seed 2", &["--seed", "multiple times"]),
        ("extra", &["extra"]),
        ("--observations 8 --shard 1/3 --store part", &["--shard 1/3"]),
    ];
    check(folder.path(), "audit mechanism", &cases);
    let cases: [(&str, &[&str]); 5] = [
        ("adit", &["adit", "audit"]),
        ("audit", &["audit", "mechanism"]),
        ("merge", &["STORE"]),
        ("estimate", &["--scores-in", "--scores-out"]),
        ("--noise-multiplier 2", &["--noise-multiplier"]),
    ];
    check(folder.path(), "", &cases);
}

#[test]
fn accounting() {
    let folder = tempfile::tempdir().unwrap();
    let both: [(&str, &[&str]); 14] = [
        ("--delta NaN", &["--delta NaN", "below 1"]),
        ("--delta 0", &["--delta 0", "below 1"]),
        ("--delta 1", &["--delta 1", "below 1"]),
        ("--delta -inf", &["--delta -inf", "below 1"]),
        ("--steps-per-epoch 0", &["--steps-per-epoch 0", "whole number from 1"]),
        ("--epochs 0", &["--epochs 0", "whole number from 1"]),
        ("--epochs -1", &["--epochs", "-1", "whole number"]),
        ("--batch-size 0", &["--batch-size 0", "whole number from 1"]),
        ("--steps-per-epoch 1e9 --epochs 1e9", &["--epochs 1000000000", "at most 2"]),
        ("--scheme shufle", &["--scheme", "shufle", "shuffle-once"]),
        ("--scheme stream-shuffle", &["--buffer-size missing", "stream-shuffle needs one"]),
        ("--scheme stream-shuffle --buffer-size 0", &["--buffer-size 0", "1 to 10000"]),
        ("--scheme partial-shuffle --buffer-size 10001", &["--buffer-size 10001", "1 to 10000"]),
        ("--scheme shuffle --buffer-size 9", &["--buffer-size 9", "no buffer"]),
    ];
    check(folder.path(), "account --output result", &both);
    check(folder.path(), "calibrate --target-epsilon 1 --output result", &both);
    let account: [(&str, &[&str]); 12] = [
        ("--scheme fixed-order --epsilon -1", &["--epsilon -1", "from 0"]),
        ("--scheme fixed-order --epsilon inf", &["--epsilon inf", "from 0"]),
        ("--scheme fixed-order --epsilon x", &["--epsilon", "'x'", "number"]),
        ("--noise-multiplier NaN", &["--noise-multiplier NaN", "0.01 to 10000"]),
        ("--noise-multiplier 0", &["--noise-multiplier 0", "0.01 to 10000"]),
        ("--noise-multiplier -inf", &["--noise-multiplier -inf", "0.01 to 10000"]),
        ("--sampling-probability 2 --steps 10", &["--sampling-probability 2", "to 1"]),
        ("--sampling-probability 0 --steps 10", &["--sampling-probability 0", "to 1"]),
        ("--sampling-probability NaN --steps 10", &["--sampling-probability NaN", "to 1"]),
        ("--sampling-probability 0.1 --steps 0", &["--steps 0", "whole number from 1"]),
        ("--sampling-probability 0.1", &["--steps missing", "--sampling-probability"]),
        ("--sampling-probability 0.1 --steps 9 --epochs 2", &["--sampling-probability", "--epochs"]),
    ];
    check(folder.path(), "account", &account);
    let calibrate: [(&str, &[&str]); 6] = [
        ("", &["--target-epsilon"]),
        ("--target-epsilon 0", &["--target-epsilon 0"]),
        ("--target-epsilon -1", &["--target-epsilon -1"]),
        ("--target-epsilon NaN", &["--target-epsilon NaN"]),
        ("--target-epsilon inf", &["--target-epsilon inf"]),
        ("--target-epsilon 1 --bound middle", &["--bound", "middle", "upper"]),
    ];
    check(folder.path(), "calibrate", &calibrate);
}

/// A sound store of a small run, and files that are not.
fn stores(folder: &Path) {
    let sound = "audit mechanism --steps-per-epoch 5 --observations 1000 --store sound";
    assert_eq!(misdeal(folder, sound).code, Some(0));
    let bytes = fs::read(folder.join("sound")).unwrap();
    let altered = |place: usize| {
        let mut altered = bytes.clone();
        altered[place] ^= 1;
        altered
    };
    let middle = bytes.len() / 2;
    let files: [(&str, Vec<u8>); 9] = [
        ("empty", Vec::new()),
        ("truncated", bytes[..middle].to_vec()),
        ("headless", bytes[..12].to_vec()),
        ("without-seal", bytes[..bytes.len() - 1].to_vec()),
        ("altered", altered(middle)),
        ("altered-seal", altered(bytes.len() - 1)),
        ("later-version", altered(8)),
        ("longer", [bytes.as_slice(), b"more"].concat()),
        ("foreign", b"PK\x03\x04 a picture of a cat".to_vec()),
    ];
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

const DAMAGED: [(&str, &str); 9] = [
    ("empty", "not a misdeal store"),
    ("truncated", "truncated"),
    ("headless", "truncated"),
    ("without-seal", "truncated"),
    ("altered", "altered"),
    ("altered-seal", "altered"),
    ("later-version", "version"),
    ("longer", "after its end"),
    ("foreign", "not a misdeal store"),
];

#[test]
fn damaged_stores() {
    let folder = tempfile::tempdir().unwrap();
    stores(folder.path());
    let audit = "audit mechanism --steps-per-epoch 5 --observations 2000";
    for (name, words) in DAMAGED {
        for arguments in [
            format!("{audit} --store {name} --resume"),
            format!("merge {name} --output merged"),
            format!("merge sound {name} --output merged"),
            format!("merge sound {name} --output sound"),
        ] {
            let line = refusal(folder.path(), &arguments);
            let told = line.contains(name) && line.contains(words) && line.contains("under another name");
            assert!(told, "{arguments}: {line}");
        }
        let line = refusal(folder.path(), &format!("{audit} --store {name}"));
        assert!(line.contains("--store") && line.contains("--resume"), "{name}: {line}");
    }
    let cases: [(&str, &[&str]); 9] = [
        (
            "audit mechanism --steps-per-epoch 5 --observations 2000 --store sound",
            &["--store sound", "--resume"],
        ),
        (
            "audit mechanism --steps-per-epoch 6 --store sound --resume",
            &["sound", "steps_per_epoch is 6 and 5"],
        ),
        (
            "audit mechanism --steps-per-epoch 5 --seed 1 --store sound --resume",
            &["sound", "seed is 1 and 0"],
        ),
        ("audit mechanism --steps-per-epoch 5 --scores exact --store sound --resume", &["exact and counts"]),
        (
            "audit mechanism --steps-per-epoch 5 --engine reference --store sound --resume",
            &["reference and cpu"],
        ),
        ("audit mechanism --store .", &["a folder"]),
        ("audit mechanism --store . --resume", &["a folder"]),
        ("merge sound", &["--output"]),
        ("merge sound absent --output merged", &["absent", "check the path"]),
    ];
    check(folder.path(), "", &cases);
}

/// Found before the first trial is played: nobody waits for hours to hear of a missing folder.
#[test]
fn places_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inside")).unwrap();
    // A run of this size would take days.
    let endless = "audit mechanism --observations 1e14";
    let cases: [(&str, &[&str]); 5] = [
        ("--store missing/run", &["missing/run", "folder"]),
        ("--output missing/result", &["missing/result", "folder"]),
        ("--output inside", &["inside", "folder"]),
        ("--output same --store same", &["same", "replace the store"]),
        ("--output ./same --store same", &["same", "replace the store"]),
    ];
    check(folder.path(), endless, &cases);
}

#[test]
fn bad_score_files() {
    let folder = tempfile::tempdir().unwrap();
    let npy = |descr: &str, shape: &str, data: &[u8]| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
    };
    let good: Vec<u8> = (0..8).flat_map(|i| f64::from(i).to_le_bytes()).collect();
    let not_finite: Vec<u8> =
        [1.0, f64::NAN, 2.0, f64::INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
    let files: [(&str, Vec<u8>, &str); 16] = [
        ("empty.npy", Vec::new(), "empty"),
        ("empty.csv", Vec::new(), "empty"),
        ("truncated.npy", npy("<f8", "(8,)", &good[..60]), "cut short"),
        ("headless.npy", npy("<f8", "(8,)", &good)[..20].to_vec(), "cut short"),
        ("longer.npy", npy("<f8", "(7,)", &good), "the header claims 7 elements"),
        ("huge.npy", npy("<f8", "(1000000000000000000,)", &good), "claims"),
        ("square.npy", npy("<f8", "(2, 4)", &good), "shape"),
        ("text.npy", npy("<U2", "(8,)", &good), "<U2"),
        ("foreign.npy", b"PK\x03\x04 a picture of a cat".to_vec(), "does not begin as a .npy file"),
        ("not-finite.npy", npy("<f8", "(4,)", &not_finite), "index 1"),
        ("none.npy", npy("<f8", "(0,)", &[]), "no scores"),
        ("words.csv", b"score\n1\ntwo\n".to_vec(), "line 3"),
        ("not-finite.csv", b"score\n1\n2\ninf\n".to_vec(), "index 2"),
        ("columns.csv", b"a,b\n1,2\n".to_vec(), "none is called score"),
        ("header.csv", b"score\n".to_vec(), "no scores"),
        ("scores.txt", b"1\n2\n3\n4\n".to_vec(), ".txt"),
    ];
    fs::write(folder.path().join("good.npy"), npy("<f8", "(8,)", &good)).unwrap();
    for (name, bytes, _) in &files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let estimate = |scores_in: &str, scores_out: &str| {
        refusal(
            folder.path(),
            &format!(
                "estimate --scores-in {scores_in} --scores-out {scores_out} --threshold-choice hold-out --output result"
            ),
        )
    };
    for (name, _, words) in &files {
        for line in [estimate(name, "good.npy"), estimate("good.npy", name)] {
            assert!(line.contains(name) && line.contains(words), "{name}: {line}");
        }
    }
    assert!(estimate("absent.npy", "good.npy").contains("check the path"));
    assert!(estimate(".", "good.npy").contains("the name has no extension"));
    fs::write(folder.path().join("three.csv"), "1\n2\n3\n").unwrap();
    let line = estimate("three.csv", "good.npy");
    assert!(
        line.contains("at least 2 even and 2 odd") && !line.contains("--observations-per-world"),
        "{line}"
    );

    let good = "estimate --scores-in good.npy --scores-out good.npy";
    let cases: [(&str, &[&str]); 8] = [
        ("--delta 1", &["--delta 1", "0 to below 1"]),
        ("--delta NaN", &["--delta NaN", "0 to below 1"]),
        ("--delta -inf", &["--delta -inf", "0 to below 1"]),
        ("--significance 0", &["--significance 0", "up to 0.5"]),
        ("--significance -1", &["--significance -1", "up to 0.5"]),
        ("--estimator best", &["--estimator best", "clopper-pearson"]),
        ("--threshold-choice min", &["--threshold-choice", "min", "hold-out"]),
        ("--output missing/result", &["missing/result", "folder"]),
    ];
    check(folder.path(), good, &cases);
}

/// What a command writes replaces nothing that it reads, and nothing else that it writes.
#[test]
fn files_lie_apart() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("in.csv", &"1.5\n2.5\n".repeat(20));
    write("out.csv", &"0.5\n-2.5\n".repeat(20));
    write("train.py", "import torch\n");
    write("log.jsonl", "{\"epoch\": 0, \"batch\": 0, \"indices\": [0, 1]}\n");
    let estimate = "estimate --scores-in in.csv --scores-out out.csv";
    let cases = [
        (format!("{estimate} --output in.csv"), "--output in.csv", "scores-in"),
        (format!("{estimate} --output ./out.csv"), "--output ./out.csv", "scores-out"),
        (format!("{estimate} --plot same.svg --output same.svg"), "--output same.svg", "plot"),
        ("diagnose log.jsonl --output log.jsonl".into(), "--output log.jsonl", "log"),
        ("scan train.py --output train.py".into(), "--output train.py", "source"),
        ("audit mechanism --observations 1000 --store a.svg --plot a.svg".into(), "--plot a.svg", "store"),
        ("audit mechanism --observations 1000 --store a --output a".into(), "--output a", "store"),
        ("reproduce figure-8 --plot a.svg --output a.svg".into(), "--output a.svg", "plot"),
        ("audit training --model own.toml --store own.toml".into(), "--store own.toml", "model"),
        ("audit training --dataset own.npz --output own.npz".into(), "--output own.npz", "dataset"),
    ];
    for (command, field, replaced) in cases {
        let line = refusal(folder.path(), &command);
        assert!(
            line.contains(field) && line.contains(&format!("replace the {replaced}")),
            "{command}: {line}"
        );
    }
    // The name of a model is no file.
    let named = "audit training --dataset-size 60 --batch-size 20 --observations 8 --device cpu --store mlp";
    assert_eq!(misdeal(folder.path(), named).code, Some(0));
}
