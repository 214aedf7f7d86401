//! `misdeal reproduce`: the paper's numbers beside ours.

use crate::program::{json, misdeal, refusal};
use misdeal_testkit::skip;
use std::collections::BTreeSet;

#[test]
fn a_figure_without_printed_numbers_has_curves_instead() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "reproduce figure-4 --quick");
    assert_eq!((report["command"].as_str(), report["quick"].as_bool()), (Some("reproduce"), Some(true)));
    let rows = report["rows"].as_array().unwrap();
    let [few, many] = ["mechanism, 1000 observations", "mechanism, 10000 observations"]
        .map(|name| rows.iter().find(|row| row["name"] == name).unwrap());
    // A quick run trains no convolutional networks.
    assert!(rows.iter().any(|row| row["ours"].is_null() && row["observations"] == 0));
    let refuted = |row: &serde_json::Value, curve: &str| {
        let promised = row["trade_off"]["promised"].as_array().unwrap();
        let found = promised.iter().find(|one| one["name"] == curve).unwrap();
        found["test"]["refuted"].as_bool().unwrap()
    };
    assert!(refuted(many, "Poisson sampling") && refuted(many, "(1.0000, 1e-5)-DP"));
    assert!(!refuted(few, "(1.0000, 1e-5)-DP"));
    let ours = many["ours"].as_f64().unwrap();
    assert!(many["valid_epsilon"].as_f64().unwrap() < ours && many["verdict"].is_null());
}

#[test]
fn printed_numbers_have_verdicts_and_missing_data_say_where_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "reproduce figure-9 --quick --seed 3");
    for row in report["rows"].as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        assert!(row["printed"].as_f64().unwrap() > 0.0 && row["tolerance"].as_f64().unwrap() > 0.0, "{name}");
        let verdict = row["verdict"].as_str().unwrap();
        if name.ends_with("mlp") {
            // No data folder is named, so that nothing is trained.
            assert!(row["ours"].is_null() && verdict == "not played", "{name}");
            assert!(row["reason"].as_str().unwrap().contains("`data`"), "{name}: {}", row["reason"]);
        } else {
            let upper = row["theory"]["poisson"]["epsilon_upper_bound"].as_f64().unwrap();
            assert!((upper / row["printed_claim"].as_f64().unwrap() - 1.0).abs() < 0.01, "{name}: {upper}");
            // Of a small number one run can tell nothing.
            let tells = row["tolerance"].as_f64() < row["printed"].as_f64();
            let expected = if tells { "reproduced" } else { "too few observations" };
            assert_eq!(verdict, expected, "{name}: {row:#}");
            if name == "buffer 100, epsilon 0.4, mechanism" {
                let known = row["reason"].as_str().unwrap();
                assert!(
                    known.contains("2.797"),
                    "what kept runs know is said of a row that does not differ: {known}"
                );
            }
            let reason = row["tolerance_reason"].as_str().unwrap();
            assert!(reason.contains("one run for the paper's 5 add"), "{name}: {reason}");
        }
    }
}

/// Everything that needs no data, in small: a row or more of each table and figure, and none that few observations make differ.
#[test]
fn all_of_the_paper_in_small() {
    let folder = tempfile::tempdir().unwrap();
    let mut played = BTreeSet::new();
    for only in ["batch-then-shuffle,", "10000", "mechanism,", "SST-2", "1.0,"] {
        let report = json(folder.path(), &format!("reproduce all --quick --observations 1000 --only {only}"));
        for row in report["rows"].as_array().unwrap() {
            let verdict = row["verdict"].as_str().unwrap_or("none");
            assert!(!["exceeded", "differs"].contains(&verdict), "{row:#}");
            if !row["ours"].is_null() {
                played.insert(row["artefact"].as_str().unwrap().to_owned());
            }
        }
    }
    let all = [
        "figure-1",
        "figure-11",
        "figure-3",
        "figure-4",
        "figure-5",
        "figure-6",
        "figure-7",
        "figure-9",
        "settings",
        "table-1",
    ];
    assert_eq!(played.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn what_cannot_be_played_is_refused_before_or_instead_of_an_empty_table() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        // Only rows that train, and no data.
        ("reproduce figure-9 --quick --only mlp", &["--data", "purchase"][..]),
        // Only rows for a device; drawings are not asked for by --only.
        ("reproduce all --only 1e12 --device cpu", &["--device cpu", "cuda for these rows"]),
        (
            "reproduce figure-9 --quick --precision tf32 --device cpu",
            &["--precision tf32", "f32 without a CUDA device"],
        ),
    ];
    for (command, words) in cases {
        let line = refusal(folder.path(), command);
        assert!(words.iter().all(|word| line.contains(word)), "{command}: {line}");
    }
}

#[test]
fn text_and_plot() {
    let folder = tempfile::tempdir().unwrap();
    let run = misdeal(folder.path(), "reproduce figure-5 --quick --plot curve.svg");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.contains("Figure 5") && run.stdout.contains("not played"), "{}", run.stdout);
    assert!(
        std::fs::read_to_string(folder.path().join("curve.svg")).unwrap().contains("false-positive rate")
    );
}

#[test]
fn finished_audits_are_not_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let command = "reproduce figure-3 --quick --only noise --runs 2 --store kept";
    let without_times = |mut report: serde_json::Value| {
        report["seconds"].take();
        for row in report["rows"].as_array_mut().unwrap() {
            row["seconds"].take();
        }
        report
    };
    let whole = without_times(json(folder.path(), command));
    let kept = || {
        let mut files: Vec<_> = std::fs::read_dir(folder.path().join("kept"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .map(|file| (file.clone(), std::fs::metadata(file).unwrap().modified().unwrap()))
            .collect();
        files.sort();
        files
    };
    let files = kept();
    // Quick rows for 1e6 and for more observations are the same audit, and share a file.
    let rows = whole["rows"].as_array().unwrap().iter().filter(|row| !row["ours"].is_null());
    let audits: BTreeSet<String> =
        rows.clone().map(|row| format!("{} {}", row["setting"], row["observations"])).collect();
    assert!(audits.len() > 5 && rows.count() > audits.len());
    assert_eq!(files.len(), 2 * audits.len(), "a file for each audit and run: {files:?}");
    // What is there is not overwritten unless it is to be continued; one audit is missing, and is played again.
    assert!(refusal(folder.path(), command).contains("resume"));
    std::fs::remove_file(&files[3].0).unwrap();
    assert_eq!(without_times(json(folder.path(), &format!("{command} --resume"))), whole);
    let again = kept();
    assert_eq!(again.len(), files.len());
    assert!(again.iter().zip(&files).enumerate().all(|(i, (new, old))| (new == old) == (i != 3)));
}

#[test]
fn every_run_s_estimate_is_kept_and_can_be_played_alone() {
    let folder = tempfile::tempdir().unwrap();
    let row = |words: &str| {
        let command = format!("reproduce figure-11 --quick --only batch-then --observations 1e5 {words}");
        json(folder.path(), &command)["rows"][0].clone()
    };
    let (three, third) = (row("--runs 3 --seed 7"), row("--runs 1 --seed 9"));
    let estimates: Vec<f64> =
        three["estimates"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect();
    assert_eq!((estimates.len(), third["ours"].as_f64()), (3, Some(estimates[2])));
    let mean = estimates.iter().sum::<f64>() / 3.0;
    assert!((three["ours"].as_f64().unwrap() - mean).abs() < 1e-12, "{three:#}");
}

/// The counts of the document are those of its rows; text and page show them.
#[test]
fn settings_above_the_claim_are_counted_by_where_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let command = "reproduce settings --quick --only 117 --observations 1000";
    let report = json(folder.path(), command);
    let rows = report["rows"].as_array().unwrap();
    let counted = |provenance: Option<&str>| {
        let of_kind = |row: &&serde_json::Value| provenance.is_none_or(|kind| row["provenance"] == kind);
        let rows: Vec<_> = rows.iter().filter(of_kind).collect();
        let above = |value: &str| {
            let is_above = |row: &&&serde_json::Value| {
                let claim = row["theory"]["poisson"]["epsilon_upper_bound"].as_f64().unwrap();
                row.pointer(value).unwrap().as_f64().unwrap() > claim
            };
            rows.iter().filter(is_above).count() as u64
        };
        let [theory, valid, ours] =
            ["/theory/shuffle/epsilon_lower_bound", "/valid_epsilon", "/ours"].map(above);
        [rows.len() as u64, theory, valid, ours]
    };
    let told = |count: &serde_json::Value| {
        ["settings", "theory", "valid", "ours"].map(|name| count[name].as_u64().unwrap())
    };
    let above = &report["artefacts"][0]["above_the_claim"];
    assert_eq!(told(above), counted(None));
    assert_eq!(above["settings"], 6);
    let kinds = above["by_provenance"].as_object().unwrap();
    assert_eq!(kinds.keys().collect::<Vec<_>>(), ["as printed", "assumed"]);
    let text = misdeal(folder.path(), command).stdout;
    std::fs::write(folder.path().join("result.json"), report.to_string()).unwrap();
    let page = misdeal(folder.path(), "report result.json").stdout;
    for (kind, count) in kinds {
        let [settings, theory, valid, ours] = told(count);
        assert_eq!([settings, theory, valid, ours], counted(Some(kind)));
        let line = format!(
            "  {kind}: theory proves more than Poisson sampling justifies in {theory} of {settings}, valid bounds show it in {valid}, the \
             paper's estimate in {ours}"
        );
        assert!(one_line(&text).contains(line.trim_start()), "{line}: {text}");
        assert!(page.contains(&format!(">{kind}<")), "{kind}");
    }
    let caption = "more than Poisson sampling justifies";
    assert!(
        one_line(&text).contains(&format!("settings played: theory proves {caption}"))
            && page.contains(caption)
    );
    // Documents of earlier versions count nothing.
    let mut earlier = report;
    earlier["artefacts"][0].as_object_mut().unwrap().remove("above_the_claim").unwrap();
    std::fs::write(folder.path().join("result.json"), earlier.to_string()).unwrap();
    let page = misdeal(folder.path(), "report result.json");
    assert!(page.code == Some(0) && !page.stdout.contains(caption));
}

#[test]
fn what_is_not_in_the_paper_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path(), "reproduce figure-2").contains("figure-3"));
    assert!(refusal(folder.path(), "reproduce figure-3 --runs 0").contains("runs"));
    assert!(refusal(folder.path(), "reproduce figure-3 --only nothing").contains("only"));
    assert!(refusal(folder.path(), "reproduce figure-3 --resume").contains("--store"));
    assert!(refusal(folder.path(), "reproduce figure-3 --plot x.txt").contains(".svg"));
}

#[test]
fn drawings_are_dealt_again() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(folder.path(), "reproduce figure-8 --seed 5");
    assert_eq!(report["rows"].as_array().unwrap().len(), 0);
    let [full, partial] = &report["deals"].as_array().unwrap()[..] else { panic!("{}", report["deals"]) };
    assert_eq!(
        (full["setting"]["scheme"].as_str(), full["artefact"].as_str()),
        (Some("shuffle"), Some("figure-8"))
    );
    assert_eq!((&partial["target_shares"][2], &partial["setting"]["buffer_size"]), (&0.0.into(), &4.into()));
    let run = misdeal(folder.path(), "reproduce figure-8 --seed 5 --plot records.svg");
    let first = |deal: &serde_json::Value| {
        let batches = deal["shown_epochs"][0].as_array().unwrap().iter();
        let name = |record: &serde_json::Value| match record.as_u64().unwrap() {
            0 => "xT".to_owned(),
            other => format!("x{other}"),
        };
        let batch = |batch: &serde_json::Value| {
            batch.as_array().unwrap().iter().map(name).collect::<Vec<_>>().join("  ")
        };
        format!("epoch 1   [ {} ]", batches.map(batch).collect::<Vec<_>>().join(" ][ "))
    };
    for line in [first(full), first(partial), "file      ( xT  x1  x2  x3 )( x4  x5  x6  x7 )".into()] {
        assert!(run.stdout.contains(&line), "{line}: {}", run.stdout);
    }
    std::fs::write(folder.path().join("result.json"), report.to_string()).unwrap();
    let page = misdeal(folder.path(), "report result.json").stdout;
    for words in ["Dealt again", "partial shuffling, K = 4", ">xT<", "share of epochs"] {
        assert!(page.contains(words), "{words}");
    }
    let plot = std::fs::read_to_string(folder.path().join("records.svg")).unwrap();
    assert!(plot.contains("partial shuffling, K = 4") && plot.contains(">xT<"));
}

/// Kept runs have summaries that say what their documents say.
#[test]
fn summaries_of_kept_runs_are_up_to_date() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../paper/summarise.py");
    let can_read = std::process::Command::new("python3").args(["-c", "import tomllib"]).output();
    if !can_read.is_ok_and(|run| run.status.success()) {
        skip("paper/summarise.py needs Python 3.11 or later as python3");
        return;
    }
    let checked = std::process::Command::new("python3").args([script, "--check"]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

/// The text without its line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
