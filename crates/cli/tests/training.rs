//! Audits of training, end to end on data made on the spot.

use crate::program::{json, misdeal, refusal};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A small audit, with `arguments` in the place of its own where they say the same flag.
fn audit(arguments: &str) -> String {
    let own = ["--dataset-size 300", "--batch-size 30", "--observations 60"];
    let kept = own.into_iter().filter(|pair| !arguments.contains(pair.split(' ').next().unwrap_or(pair)));
    format!("audit training {} {arguments}", kept.collect::<Vec<_>>().join(" "))
}

fn run(folder: &Path, arguments: &str) -> Value {
    json(folder, &audit(arguments))
}

#[test]
fn the_report_has_all_that_was_promised() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(folder.path(), "--epochs 2 --threshold-choice hold-out");
    assert_eq!(report["setting"]["threat_model"], "partially-informed");
    assert_eq!(report["command"], "audit training");
    assert_eq!(report["setting"]["steps_per_epoch"], 10);
    assert_eq!(report["observations"], 60);
    assert_eq!(report["observations_per_world"], 15);
    assert_eq!(report["valid"], true);
    for field in ["train_accuracy", "test_accuracy", "bias"] {
        for figure in ["mean", "standard_deviation"] {
            assert!(report[field][figure].is_f64(), "{field} {figure}: {report}");
        }
    }
    assert!(report["models_per_second"].as_f64().unwrap() > 0.0);
    assert!(report["bias"]["standard_deviation"].as_f64().unwrap() > 1e-3, "random canaries have a bias");
    let text = misdeal(folder.path(), &audit("")).stdout;
    for words in
        ["Audit of DP-SGD", "synthetic, 300 records", "mlp, 22,532 parameters", "60 models", "Verdict"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn accuracies_at_chance_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let told = |threat_model: &str| {
        let line = audit(&format!("--observations 20 --threat-model {threat_model}"));
        fs::write(folder.path().join("result.json"), json(folder.path(), &line).to_string()).unwrap();
        let page = misdeal(folder.path(), "report result.json").stdout;
        [misdeal(folder.path(), &line).stdout, page].map(|shown| shown.contains("every gradient is planted"))
    };
    assert_eq!([told("worst-case"), told("partially-informed")], [[true; 2], [false; 2]]);
    let help = misdeal(folder.path(), "audit training --help").stdout;
    assert!(
        help.split_whitespace().collect::<Vec<_>>().join(" ").contains("trained models learn nothing"),
        "{help}"
    );
}

#[test]
fn threads_shards_and_resumes_leave_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let store = |name: &str| fs::read(folder.path().join(name)).unwrap();
    for (name, canaries) in [("one", ""), ("three", " --canary null-space --canaries 3")] {
        let whole = run(folder.path(), &format!("--threads 1 --store {name}{canaries}"));
        run(folder.path(), &format!("--threads 2 --store {name}-2{canaries}"));
        assert!(store(name) == store(&format!("{name}-2")), "threads");
        run(folder.path(), &format!("--observations 24 --store {name}-3{canaries}"));
        run(folder.path(), &format!("--store {name}-3 --resume{canaries}"));
        // The header remembers that the first 24 models were judged.
        let scores = |bytes: Vec<u8>| {
            let header = u64::from_le_bytes(std::array::from_fn(|i| bytes[12 + i])) as usize;
            bytes[20 + header..bytes.len() - 32].to_vec()
        };
        assert!(scores(store(name)) == scores(store(&format!("{name}-3"))), "resume");
        for shard in ["1/2", "2/2"] {
            let file = format!("{name}-{}", shard.replace('/', "of"));
            run(folder.path(), &format!("--shard {shard} --store {file}{canaries}"));
        }
        json(folder.path(), &format!("merge {name}-1of2 {name}-2of2 --output {name}-merged"));
        assert!(store(name) == store(&format!("{name}-merged")), "shards");
        let read = run(folder.path(), &format!("--store {name}-merged --resume{canaries}"));
        for field in ["empirical_epsilon", "observations", "train_accuracy", "test_accuracy", "bias"] {
            assert!(whole[field] == read[field] && !read[field].is_null(), "{field}: {read}");
        }
    }
}

#[test]
fn another_training_is_another_store() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), "--store run");
    for other in ["--learning-rate 0.2", "--clip-norm 2", "--canary dirac", "--dataset-size 330", "--seed 1"]
    {
        let line = refusal(folder.path(), &audit(&format!("--store run --resume {other}")));
        assert!(line.contains("run"), "{other}: {line}");
    }
}

#[test]
fn a_model_of_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let layers = "{ kind = \"convolution\", filters = 2, size = 5 }, { kind = \"relu\" }, { kind = \"max-pooling\", size = 4 }, { kind = \"linear\" }";
    fs::write(folder.path().join("own.toml"), format!("name = \"own\"\nlayers = [{layers}]\n")).unwrap();
    let report = run(folder.path(), "--model own.toml --canary null-space --threat-model partially-informed");
    assert_eq!((&report["model"], &report["parameters"]), (&"own".into(), &(52 + 2 * 73).into()));
    assert!(report["bias"]["standard_deviation"].as_f64().unwrap() < 1e-5, "no bias in the null space");
}

/// Counting scores that may depend on each other bounds nothing, so that neither epsilon nor a test is called valid.
#[test]
fn scores_of_random_canaries_in_one_training_are_not_tested() {
    let folder = tempfile::tempdir().unwrap();
    let audit = "audit training --observations 20 --dataset-size 200 --batch-size 50 --threat-model partially-informed --trade-off \
                 --claimed-epsilon 0.01 --canaries";
    let report = json(folder.path(), &format!("{audit} 3 --canary random"));
    let tests = |report: &Value| -> Vec<bool> {
        let promised = report["trade_off"]["promised"].as_array().unwrap();
        promised.iter().map(|promise| !promise["test"].is_null()).collect()
    };
    assert_eq!(report["valid"], false);
    assert!(report["trade_off"]["not_tested"].as_str().unwrap().contains("several canaries"));
    assert!(tests(&report).iter().all(|tested| !tested));
    let one = json(folder.path(), &format!("{audit} 1 --canary random"));
    assert!(one["trade_off"]["not_tested"].is_null() && tests(&one).contains(&true));
}

#[test]
fn refusals_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.toml"), "name = \"bad\"\nlayers = [{ kind = \"dropout\" }]\n").unwrap();
    fs::write(folder.path().join("bad.npz"), "no archive").unwrap();
    let cases: [(&str, &[&str]); 15] = [
        ("--dataset mnist", &["--dataset", "mnist", "fashion-mnist"]),
        ("--dataset cifar-10 --data .", &["cifar-10-binary.tar.gz"]),
        ("--dataset purchase-100", &["--data", "MISDEAL_DATA"]),
        ("--dataset bad.npz", &["bad.npz"]),
        ("--dataset none.npz", &["none.npz"]),
        ("--model resnet", &["--model resnet", "mlp, lenet, cnn"]),
        ("--model bad.toml", &["--model", "line 2"]),
        ("--model none.toml", &["none.toml", "check the path"]),
        ("--canaries 0", &["--canaries 0", "from 1"]),
        ("--learning-rate NaN", &["--learning-rate NaN"]),
        ("--clip-norm 0", &["--clip-norm 0"]),
        ("--batch-size 301", &["--batch-size 301", "1 to 300"]),
        ("--noise-multiplier 1 --target-epsilon 1", &["--noise-multiplier", "--target-epsilon"]),
        ("--target-epsilon 0", &["--target-epsilon 0"]),
        (
            "--canaries 2 --threshold-choice sequential --canary null-space",
            &["--threshold-choice sequential", "band"],
        ),
    ];
    for (arguments, words) in cases {
        let line = refusal(folder.path(), &audit(arguments));
        for word in words {
            assert!(line.contains(word), "{arguments}: {word} is not in {line}");
        }
    }
}

/// Eight canaries whose scores are independent give eight scores a model.
#[test]
fn what_cannot_be_refuted_is_told_by_the_number_of_scores() {
    let folder = tempfile::tempdir().unwrap();
    let told = |canaries: u64| {
        let line = audit(&format!(
            "--observations 200 --noise-multiplier 0.3 --claimed-epsilon 2.6 --threshold-choice hold-out --canary null-space \
             --canaries {canaries}"
        ));
        misdeal(folder.path(), &line).stderr
    };
    assert!(told(1).starts_with("Remark: 200 observations can show epsilon 2.57 at most"), "{}", told(1));
    assert_eq!(told(8), "");
}
