//! Every request is read from what is written of it.

use super::*;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The request that a command line asks for.
fn parsed<R: Request>(line: &str) -> R {
    let words = line.strip_prefix("misdeal ").unwrap().strip_prefix(R::COMMAND).unwrap();
    let command = R::augment_args(Command::new("misdeal").no_binary_name(true));
    R::from_arg_matches(&command.try_get_matches_from(words.split_whitespace()).unwrap()).unwrap()
}

/// The request of a line, which is written as the same line and the same document again.
fn check<R: Request + DeserializeOwned + PartialEq + Debug>(line: &str) -> R {
    let request: R = parsed(line);
    assert_eq!(request.command_line(), line);
    let document = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<R>(&document).unwrap(), request);
    let unknown = serde_json::from_str::<R>(r#"{"nobody": 1}"#).unwrap_err().to_string();
    assert!(unknown.contains("nobody"), "{unknown}");
    request
}

#[test]
fn requests_repeat_themselves() {
    check::<AuditMechanismRequest>("misdeal audit mechanism");
    let all = "misdeal audit mechanism --noise-multiplier 0.5 --steps-per-epoch 10 --buffer-size 1000 \
               --scheme stream-shuffle --search-buffer --threat-model target-canary --observations 1000 --delta 1e-6 \
               --threshold-choice hold-out --device cpu --claimed-epsilon 2.5 --shard 1/2 --trade-off --engine reference";
    check::<AuditMechanismRequest>(all);
    check::<AuditTrainingRequest>("misdeal audit training");
    let all = "misdeal audit training --dataset purchase-100 --data sets --dataset-size 500 --model lenet --learning-rate 0.5 \
               --target-epsilon 3.0 --epochs 2 --scheme poisson --threat-model worst-case --canary dirac --canaries 4 \
               --debias --last-batch keep --precision tf32 --observations 100 --estimator raw --stop-when violated";
    check::<AuditTrainingRequest>(all);
    check::<EstimateRequest>(
        "misdeal estimate --scores-in in.npy --scores-out out.csv --fair-coins --estimator gdp",
    );
    check::<AccountRequest>("misdeal account --buffer-size 10 --delta 1e-7 --epsilon 2.0 --compare");
    check::<AccountRequest>("misdeal account --steps 100 --sampling-probability 0.1");
    check::<AccountRequest>(
        "misdeal account --epochs 15 --batch-size 512 --dataset-size 60000 --claimed-epsilon 2.1",
    );
    check::<CalibrateRequest>(
        "misdeal calibrate --target-epsilon 3.0 --epochs 10 --scheme shuffle --bound lower",
    );
    check::<DiagnoseRequest>("misdeal diagnose log.jsonl --noise-multiplier 0.8 --epochs 10");
    check::<ReproduceRequest>(
        "misdeal reproduce figure-3 --quick --only poisson --device cpu --precision tf32 --data sets",
    );
    check::<ScanRequest>(
        "misdeal scan src tests --survey --select one,two --assume-private --config misdeal.toml",
    );
    check::<SelfTestRequest>("misdeal self-test --device cuda");
    let stores = vec!["1".into(), "2".into()];
    let request = MergeRequest { stores, output: Some("all of it".into()) };
    assert_eq!(request.command_line(), "misdeal merge 1 2 --output 'all of it'");
    let request = AuditMechanismRequest { seed: 7, ..AuditMechanismRequest::default() };
    assert_eq!(request.command_line(), "misdeal audit mechanism --seed 7");
}

#[test]
fn words_reach_the_command_as_they_are() {
    assert_eq!(quoted("it's a <log>; rm -rf $HOME.jsonl"), r"'it'\''s a <log>; rm -rf $HOME.jsonl'");
    assert_eq!(quoted("runs/1.jsonl"), "runs/1.jsonl");
}
