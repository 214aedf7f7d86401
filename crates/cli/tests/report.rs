//! `misdeal report`: stored results on one self-contained page.

use crate::program::{json, misdeal, process, refusal};
use serde_json::{Value, json as document};
use std::fs;
use std::path::Path;

/// Stores the result of a command.
pub fn stored(folder: &Path, name: &str, arguments: &str) -> Value {
    let found = json(folder, arguments);
    fs::write(folder.join(name), found.to_string()).unwrap();
    found
}

/// The page of some results.
pub fn page(folder: &Path, results: &str) -> String {
    let run = misdeal(folder, &format!("report {results} -o page.html"));
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{results}");
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
    for needed in ["<!DOCTYPE html>", "Content-Security-Policy", "default-src 'none'", "</html>"] {
        assert!(page.contains(needed), "{needed}");
    }
    // The name space of SVG is a name, and the one address that the page's own parts have.
    let foreign = page.replace("http://www.w3.org/2000/svg", "");
    for fetched in ["src=", "@import", "url(http", "href=\"http", "fetch(", "<link", "<img", "<iframe"] {
        assert!(!foreign.contains(fetched), "{fetched}");
    }
    page
}

/// The command that the page gives to run a result again.
pub fn rerun(page: &str) -> String {
    let at = page.find("<h3>Run it again</h3>").unwrap();
    let code = page[at..].split("<code>misdeal ").nth(1).unwrap().split("</code>").next().unwrap();
    code.replace("<span class=\"flag\">", "").replace("</span>", "").replace("&#39;", "'")
}

/// Two files of 2,000 scores, and the log of a loader that does not shuffle.
fn write_scores_and_log(folder: &Path) {
    let write = |name: &str, shift: i32| {
        let scores: Vec<String> =
            (0..2000).map(|i| f64::from((i * 618) % 2000 + shift).to_string()).collect();
        fs::write(folder.join(name), scores.join("\n")).unwrap();
    };
    write("in.csv", 900);
    write("out.csv", 0);
    let batches = (0..3).flat_map(|epoch| (0..20).map(move |batch| (epoch, batch)));
    let log = batches.map(|(epoch, batch): (u64, u64)| {
        document!({"epoch": epoch, "batch": (0..10).map(|i| 10 * batch + i).collect::<Vec<_>>()}).to_string()
    });
    fs::write(folder.join("log.jsonl"), log.collect::<Vec<_>>().join("\n")).unwrap();
}

/// Commands, the fields that come out again, and words on their pages.
const CASES: [(&str, &[&str], &[&str]); 12] = [
    (
        "audit mechanism --scheme fixed-order --noise-multiplier 0.7 --observations 20000 --trade-off --seed 3 --significance 0.01",
        &["empirical_epsilon", "threshold", "false_positives", "claimed_epsilon", "theory", "trade_off"],
        &[
            "Claim refuted",
            "Scores in both worlds",
            "Small false-positive rates",
            "calibrate <span class=\"flag\">--target-epsilon",
            "Do not publish epsilon",
        ],
    ),
    (
        "audit mechanism --scheme stream-shuffle --buffer-size 500 --search-buffer --observations 20000 --claimed-epsilon 4.35",
        &["empirical_epsilon", "buffer_search", "claimed_epsilon"],
        &["Guesses of the buffer", "Undecided", "<b>About this audit.</b>", "observations 200000"],
    ),
    (
        "audit mechanism --observations 20000 --claimed-epsilon 5",
        &["empirical_epsilon", "claimed_epsilon"],
        &["Proven by theory", "The claim of epsilon 5 holds: theory proves at most 4.378 for this scheme."],
    ),
    (
        "audit training --dataset-size 200 --batch-size 20 --observations 20 --target-epsilon 8 --canary dirac --seed 1 --threat-model worst-case --threshold-choice hold-out",
        &["empirical_epsilon", "threshold", "setting", "train_accuracy"],
        &["Audit of training", "What the models are worth", "synthetic"],
    ),
    (
        "estimate --scores-in in.csv --scores-out out.csv --estimator all --claimed-epsilon 0.5",
        &["estimates", "score_histogram", "claimed_epsilon"],
        &["Estimators side by side", "clopper-pearson"],
    ),
    (
        "estimate --scores-in in.csv --scores-out out.csv --threshold-choice band --claimed-epsilon 0.5 --trade-off",
        &["empirical_epsilon", "violated", "trade_off"],
        &["Claim refuted", "in.csv beside out.csv", "Whole curves, tested", "<td>2,000</td>", "\"score\""],
    ),
    (
        "estimate --scores-in in.csv --scores-out out.csv --claimed-epsilon 0.5 --threshold-choice hold-out",
        &["empirical_epsilon", "false_positives", "false_negatives"],
        &[
            "What was counted",
            "<th scope=\"row\">false negatives</th><td>",
            "<td>1,000</td>",
            "only the other half is counted.",
            "<th scope=\"row\">scores with the record</th><td>2,000</td>",
        ],
    ),
    (
        "account --scheme shuffle --noise-multiplier 2 --steps-per-epoch 50 --epsilon 0.5",
        &["schemes", "deltas", "claimed_epsilon", "steps"],
        &["Bounds on delta at epsilon 0.5", "REFUTED"],
    ),
    (
        "account --sampling-probability 0.02 --steps 500",
        &["schemes", "steps", "sampling_probability"],
        &["What theory says", "poisson"],
    ),
    (
        "calibrate --target-epsilon 2 --epochs 3 --scheme fixed-order --bound lower",
        &["noise_multiplier", "epsilon"],
        &["Calibrated noise", "A lower limit"],
    ),
    (
        "diagnose log.jsonl --noise-multiplier 1.5 --epochs 7",
        &["scheme", "candidates", "leakage", "positions"],
        &[
            "Fixed-order",
            "calibrate <span class=\"flag\">--target-epsilon",
            "Where records were dealt, epoch 0",
            "All schemes held against the log",
        ],
    ),
    (
        "reproduce figure-5 --quick --only 1000 --runs 2 --observations 600 --seed 4",
        &["artefacts", "only", "observations"],
        &["The paper, played again", "--only 1000</span>", "--runs 2</span>", "--observations 600</span>"],
    ),
];

#[test]
fn every_kind_of_result_has_a_page_and_its_command_gives_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_scores_and_log(folder);
    for (command, fields, words) in CASES {
        let found = stored(folder, "result.json", command);
        let page = page(folder, "result.json");
        for word in words {
            assert!(page.contains(word), "{command}: {word}");
        }
        let again = json(folder, &rerun(&page));
        for field in fields {
            assert!(!found[field].is_null(), "{command}: no {field}");
            assert_eq!(found[field], again[field], "{command}: {field}");
        }
    }
}

#[test]
fn a_stored_result_is_drawn_as_its_command_draws_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_scores_and_log(folder);
    for command in [
        "audit mechanism --observations 20000 --epochs 2",
        "audit training --dataset-size 100 --batch-size 20 --observations 40 --noise-multiplier 1",
        "estimate --scores-in in.csv --scores-out out.csv --claimed-epsilon 0.5",
        "diagnose log.jsonl",
        "reproduce figure-1 --quick --observations 600 --only MNIST",
        "reproduce figure-3 --quick --observations 2000 --only noise",
        "reproduce figure-5 --quick --only 1000 --observations 600",
        "reproduce figure-8",
    ] {
        // In processes of their own: the library that draws numbers its areas through all figures of a process.
        let run = process(folder, &format!("{command} --plot drawn.svg --format json --output result.json"));
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{command}");
        let run = process(folder, "report result.json -o again.svg");
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""), "{command}");
        let [drawn, again] =
            ["drawn.svg", "again.svg"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
        assert!(drawn.contains("<svg") && drawn == again, "{command}");
    }
}

#[test]
fn results_without_curves_are_drawn_too_and_what_cannot_be_drawn_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stored(folder, "audit.json", "audit mechanism --observations 20000 --scheme fixed-order");
    stored(folder, "account.json", "account --scheme all --batch-size 10 --buffer-size 100");
    stored(folder, "curves.json", "account --scheme shuffle --trade-off");
    stored(folder, "noise.json", "calibrate --target-epsilon 3");
    for (result, words) in [
        ("audit.json", ["fixed-order", "this audit", "claimed", "found here"]),
        ("account.json", ["poisson", "shuffle", "claimed", "theory"]),
        ("curves.json", ["shuffle", "false-positive rate", "true-positive rate", "noise multiplier 1"]),
    ] {
        assert_eq!(misdeal(folder, &format!("report {result} -o figure.svg")).code, Some(0), "{result}");
        let svg = fs::read_to_string(folder.join("figure.svg")).unwrap();
        for word in words {
            assert!(svg.starts_with("<svg") && svg.contains(word), "{result}: {word}");
        }
    }
    // Whatever numbers a document holds, drawing ends.
    let mut extreme: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("audit.json")).unwrap()).unwrap();
    for (found, claimed) in [(1.7e308, 1e-320), (1e300, 3.0), (-1.0, 0.0), (1e-310, 1e-310)] {
        (extreme["empirical_epsilon"], extreme["claimed_epsilon"]) = (found.into(), claimed.into());
        extreme["theory"] = document!({});
        fs::write(folder.join("extreme.json"), extreme.to_string()).unwrap();
        assert_eq!(misdeal(folder, "report extreme.json -o extreme.svg").code, Some(0), "{found} {claimed}");
    }
    stored(folder, "sweep.json", "reproduce figure-3 --quick --observations 1000 --only 1e9");
    let mut sweep: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("sweep.json")).unwrap()).unwrap();
    for observations in [0, 1, u64::MAX] {
        for row in sweep["rows"].as_array_mut().unwrap() {
            (row["observations"], row["printed_observations"]) = (observations.into(), observations.into());
        }
        fs::write(folder.join("extreme.json"), sweep.to_string()).unwrap();
        assert_eq!(misdeal(folder, "report extreme.json -o extreme.svg").code, Some(0), "{observations}");
    }
    let mut curves: Value =
        serde_json::from_str(&fs::read_to_string(folder.join("curves.json")).unwrap()).unwrap();
    for rate in [1e6, 1e300, -1e300] {
        for bounds in curves["trade_offs"].as_object_mut().unwrap().values_mut() {
            bounds["false_positive_rates"][1] = rate.into();
        }
        fs::write(folder.join("extreme.json"), curves.to_string()).unwrap();
        assert_eq!(misdeal(folder, "report extreme.json -o extreme.png").code, Some(0), "{rate}");
    }
    let told = json(folder, "report audit.json --output figure.PNG");
    let png = fs::read(folder.join("figure.PNG")).unwrap();
    assert!(png.starts_with(b"\x89PNG") && told["bytes"] == png.len());
    for name in ["figure.pdf", "figure", "figure.htm", "figure.jpg"] {
        let line = refusal(folder, &format!("report audit.json -o {name}"));
        assert!(line.contains(name) && line.contains("ends in .html, .svg or .png"), "{line}");
        assert!(!folder.join(name).exists());
    }
    let several = refusal(folder, "report audit.json account.json -o both.svg");
    assert!(several.contains("2 are given") && several.contains(".html"), "{several}");
    let number = refusal(folder, "report noise.json -o noise.png");
    assert!(number.contains("noise.json") && number.contains("has no figure"), "{number}");
    assert!(!folder.join("both.svg").exists() && !folder.join("noise.png").exists());
    let mut log = document!({"schema_version": 1, "command": "diagnose", "log": "a/log.jsonl", "dataset_size": 1, "epochs": 1,
        "steps_per_epoch": 1, "batch_size": 1, "ranks": 1, "scheme": "unknown", "parameters": {}, "certain": false, "verdict": "",
        "candidates": [], "defects": [], "seconds": 0.0});
    fs::write(folder.join("log.json"), log.to_string()).unwrap();
    assert!(refusal(folder, "report log.json -o log.svg").contains("does not say where records were dealt"));
    log["positions"] =
        document!({"dataset_size": 1, "epoch_length": 1, "epochs": [{"epoch": 0, "points": [[0, 0]]}]});
    fs::write(folder.join("log.json"), log.to_string()).unwrap();
    assert_eq!(misdeal(folder, "report log.json -o log.svg").code, Some(0));
    let help = misdeal(folder, "report --help").stdout;
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains("(.svg or .png)"), "{help}");
}

#[test]
fn figures_say_how_sure_a_number_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_scores_and_log(folder);
    for (flags, words) in [
        ("", "found here, valid at 95 %"),
        ("--significance 0.01", "found here, valid at 99 %"),
        ("--significance 1e-9", "found here, valid at 99.99 %"),
        ("--threshold-choice max", "found here, maximum over thresholds (no guarantee)"),
        ("--estimator jeffreys", "found here, jeffreys (only under an assumption)"),
        ("--estimator jeffreys --threshold-choice max", "found here, maximum over thresholds (no guarantee)"),
    ] {
        let estimate =
            format!("estimate --scores-in in.csv --scores-out out.csv --claimed-epsilon 0.5 {flags}");
        stored(folder, "result.json", &estimate);
        assert_eq!(misdeal(folder, "report result.json -o figure.svg").code, Some(0), "{flags}");
        let svg = fs::read_to_string(folder.join("figure.svg")).unwrap();
        assert!(svg.contains(&format!(">{words}<")) && svg.matches("found here").count() == 1, "{flags}");
    }
}

#[test]
fn several_results_are_compared_on_top() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stored(folder, "shuffle.json", "audit mechanism --observations 20000");
    stored(folder, "poisson.json", "audit mechanism --observations 20000 --scheme poisson");
    stored(folder, "paper.json", "reproduce figure-5 --quick");
    let page = page(folder, "shuffle.json poisson.json paper.json");
    for words in [
        "3 results compared",
        "Epsilons beside claims",
        "href=\"#result-2\"",
        "id=\"result-3\"",
        "2. poisson.json",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let printed = misdeal(folder, "report shuffle.json");
    assert!(printed.stdout.starts_with("<!DOCTYPE html>") && printed.code == Some(0));
    let told = json(folder, "report shuffle.json --output again.html");
    assert_eq!((told["results"].as_u64(), told["command"].as_str()), (Some(1), Some("report")));
    assert_eq!(fs::read_to_string(folder.join("again.html")).unwrap(), printed.stdout);
}

#[test]
fn whatever_a_document_says_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let evil = "</script><script>alert(1)</script><img/onerror=alert(3)>'\"&amp;--><!--";
    let name = "<script>alert(2)<|script>.json";
    let mut found = json(folder, "audit mechanism --scheme fixed-order --observations 20000 --trade-off");
    found["guarantee"] = evil.into();
    found["store"] = evil.into();
    found["trade_off"]["promised"][0]["name"] = evil.into();
    found["theory"]["poisson"]["method"] = evil.into();
    fs::write(folder.join(name), found.to_string()).unwrap();
    let page = page(folder, name);
    assert_eq!(page.matches("<script>").count(), 1, "only the page's own");
    assert_eq!(
        page.matches("</script>").count(),
        1 + page.matches("<script type=\"application/json\">").count()
    );
    assert!(!page.contains("<img") && !page.contains("<!--"));
    assert!(page.contains("&#60;script&#62;alert(1)") && page.contains("\\u003cscript\\u003ealert(1)"));
}

#[test]
fn what_is_no_result_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let whole = json(folder, "audit mechanism --observations 20000");
    let changed = |change: fn(&mut Value)| {
        let mut document = whole.clone();
        change(&mut document);
        document.to_string()
    };
    let remove = |field: &'static str| {
        let mut document = whole.clone();
        document.as_object_mut().unwrap().remove(field);
        document.to_string()
    };
    let cases: [(String, &str); 13] = [
        (String::new(), "not a result in JSON"),
        ("no\njson\n".into(), "not a result in JSON"),
        (whole.to_string()[..200].into(), "not a result in JSON"),
        ("[1, 2]".into(), "not a result in JSON"),
        ("[".repeat(100_000), "not a result in JSON"),
        ("{}".into(), "no schema_version"),
        (changed(|document| document["schema_version"] = 7.into()), "schema_version is 7"),
        (changed(|document| document["command"] = "audit training".into()), "it lacks what was trained"),
        (changed(|document| document["setting"]["scheme"] = "tarot".into()), "tarot"),
        (changed(|document| document["empirical_epsilon"] = "3".into()), "not whole"),
        (
            changed(|document| document["score_histogram"]["edges"] = document!([0.5])),
            "score_histogram: 1 edges",
        ),
        (remove("theory"), "missing field `theory`"),
        (remove("estimator"), "missing field `estimator`"),
    ];
    for (text, words) in cases {
        fs::write(folder.join("bad.json"), &text).unwrap();
        let line = refusal(folder, "report bad.json -o page.html");
        assert_eq!(line, refusal(folder, "report bad.json -o figure.svg"), "{words}");
        assert!(
            line.contains("bad.json") && line.contains(words) && line.contains("--format json"),
            "{words}: {line}"
        );
        assert!(line.len() < 500, "{line}");
    }
    fs::write(folder.join("bad.json"), json(folder, "devices").to_string()).unwrap();
    assert!(refusal(folder, "report bad.json -o page.html").contains("\"devices\", which has no page"));
    assert!(refusal(folder, "report bad.json -o figure.svg").contains("devices has no figure"));
    fs::write(folder.join("good.json"), whole.to_string()).unwrap();
    assert!(refusal(folder, "report good.json none.json -o page.html").contains("check the path"));
    assert!(refusal(folder, "report good.json -o good.json").contains("would replace the result"));
    assert!(refusal(folder, "report good.json -o nowhere/page.html").contains("nowhere"));
    assert!(refusal(folder, "report good.json --format json").contains("--format json"));
    assert!(refusal(folder, &format!("report {}", "good.json ".repeat(65))).contains("65 results"));
    assert!(refusal(folder, "report").contains("RESULT"));
    fs::write(folder.join("bytes.json"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(refusal(folder, "report bytes.json").contains("UTF-8"));
}

/// The page left out which schemes a diagnosis's bounds hold for; only the JSON had them.
#[test]
fn a_diagnosis_names_the_schemes_that_its_bounds_hold_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut log = document!({"schema_version": 1, "command": "diagnose", "log": "log.jsonl", "dataset_size": 8, "epochs": 1,
        "steps_per_epoch": 2, "batch_size": 4, "ranks": 1, "scheme": "shuffle", "parameters": {}, "certain": false, "verdict": "",
        "candidates": [], "defects": [], "seconds": 0.0, "leakage": {"epsilon_lower_bound": 1.0, "epsilon_upper_bound": 2.0,
        "is_estimate": false, "confidence": null, "method": "theory", "noise_multiplier": 1.0, "delta": 1e-5, "epochs": 1}});
    for (schemes, words) in [
        (
            document!(["shuffle", "poisson", "balls-in-bins"]),
            "for all 3 schemes that the log does not rule out: shuffle, poisson and balls-in-bins.",
        ),
        (document!(["shuffle"]), "hold for shuffle, the only scheme that the log does not rule out."),
        (document!([]), "was found by: theory."),
    ] {
        log["leakage"]["schemes"] = schemes;
        fs::write(folder.join("log.json"), log.to_string()).unwrap();
        assert_eq!(misdeal(folder, "report log.json -o page.html").code, Some(0));
        let page = fs::read_to_string(folder.join("page.html")).unwrap();
        assert!(page.contains(words), "{words}");
    }
}
