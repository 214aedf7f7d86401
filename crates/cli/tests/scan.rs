//! `misdeal scan` from outside: findings, formats, settings, exit codes.

use crate::program::{misdeal, refusal};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const BAD: &str = "import tensorflow as tf\ndata = tf.data.Dataset.range(100).batch(10).shuffle(10)\n";
const GOOD: &str = "import tensorflow as tf\ndata = tf.data.Dataset.range(100).shuffle(100).batch(10)\n";
const UNSHUFFLED: &str =
    "from torch.utils.data import DataLoader\ntrain_loader = DataLoader(data, batch_size=8)\n";

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The document of a scan that must end with a code and say nothing on standard error.
fn document(folder: &Path, arguments: &str, code: i32) -> Value {
    let run = misdeal(folder, arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(code), ""), "{arguments}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}: {}", run.stdout))
}

#[test]
fn findings_have_every_field_and_exit_with_1() {
    let folder = folder(&[("src/bad.py", BAD), ("src/good.py", GOOD), ("notes.txt", BAD)]);
    let report = document(folder.path(), "scan src --format json", 1);
    assert_eq!(
        (&report["schema_version"], &report["command"], &report["files"]),
        (&2.into(), &"scan".into(), &2.into())
    );
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["bytes"], BAD.len() + GOOD.len());
    assert_eq!(report["skipped"].as_array().unwrap().len(), 0);
    let findings = report["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    let finding = &findings[0];
    assert_eq!(finding["path"], "src/bad.py");
    assert_eq!((&finding["line"], &finding["column"]), (&2.into(), &45.into()));
    assert_eq!((&finding["rule"], &finding["level"]), (&"batch-before-shuffle".into(), &"error".into()));
    for field in ["message", "fix", "excerpt"] {
        assert!(finding[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    let clean = document(folder.path(), "scan src/good.py --format json", 0);
    assert_eq!(clean["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn text_shows_the_line_and_the_fix() {
    let folder = folder(&[("bad.py", BAD), ("good.py", GOOD)]);
    let run = misdeal(folder.path(), "scan .");
    assert_eq!((run.code, run.stderr.as_str()), (Some(1), ""));
    for words in [
        "bad.py:2:45: error batch-before-shuffle",
        "2 | data = tf.data",
        "^",
        "fix: ",
        "1 finding in 1 of 2 files",
    ] {
        assert!(run.stdout.contains(words), "{words} is missing: {}", run.stdout);
    }
    let run = misdeal(folder.path(), "scan good.py --output result");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(
        fs::read_to_string(folder.path().join("result")).unwrap(),
        "No sampling mistakes found in 1 file\n"
    );
}

/// What SARIF 2.1.0 requires of a log, and what services need to show a result.
#[test]
fn sarif_has_the_shape_of_2_1_0() {
    let folder = folder(&[("a b.py", BAD), ("old.py", "print 'x'\n")]);
    let log = document(folder.path(), "scan . --format sarif --quiet", 1);
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "misdeal");
    let rules = driver["rules"].as_array().unwrap();
    for rule in rules {
        assert!(
            rule["id"].is_string()
                && rule["shortDescription"]["text"].is_string()
                && rule["help"]["text"].is_string()
        );
        assert!(
            ["error", "warning", "note"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
        );
    }
    let [result] = &run["results"].as_array().unwrap()[..] else { panic!("one result: {run}") };
    let index = result["ruleIndex"].as_u64().unwrap() as usize;
    assert_eq!(rules[index]["id"], result["ruleId"]);
    assert_eq!(result["level"], "error");
    assert!(result["message"]["text"].is_string());
    let location = &result["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b.py");
    assert_eq!(
        (&location["region"]["startLine"], &location["region"]["startColumn"]),
        (&2.into(), &45.into())
    );
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], true);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

#[test]
fn github_gets_one_command_a_finding() {
    let folder = folder(&[("a,b.py", BAD), ("good.py", GOOD)]);
    let run = misdeal(folder.path(), "scan . --format github");
    assert_eq!((run.code, run.stderr.as_str(), run.stdout.lines().count()), (Some(1), "", 1));
    assert!(
        run.stdout.starts_with("::error file=a%2Cb.py,line=2,col=45,title=misdeal%3A batch-before-shuffle::"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("%0AFix: "));
    assert_eq!(misdeal(folder.path(), "scan good.py --format github").stdout, "");
}

#[test]
fn surveys_count_and_exit_with_0() {
    let folder = folder(&[("bad.py", BAD), ("good.py", GOOD), ("better.py", GOOD)]);
    let report = document(folder.path(), "scan . --survey --format json", 0);
    assert_eq!(report["files"], 3);
    assert_eq!(report["survey"]["shuffle_then_batch"]["files"], 2);
    assert_eq!(report["survey"]["batch_then_shuffle"]["pipelines"], 1);
    let run = misdeal(folder.path(), "scan . --survey");
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("33.3 % of the files"), "{}", run.stdout);
    refusal(folder.path(), "scan . --survey --format sarif");
}

#[test]
fn what_does_not_parse_is_a_note() {
    let folder = folder(&[("old.py", "print 'x'\n"), ("good.py", GOOD)]);
    let run = misdeal(folder.path(), "scan .");
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stderr.lines().count(), 1);
    assert!(run.stderr.starts_with("misdeal: note: old.py: not scanned: line 1: "), "{}", run.stderr);
    assert_eq!(run.stdout, "No sampling mistakes found in 1 file; 1 file or cell not scanned\n");
    let report = document(folder.path(), "scan . --format json --quiet", 0);
    assert_eq!(report["skipped"][0]["path"], "old.py");
}

/// Where nothing that was named could be scanned, no code may be taken for good news.
#[test]
fn files_that_cannot_be_scanned_are_refused() {
    let folder =
        folder(&[("old.py", "print 'x'\n"), ("only/old.py", "print 'x'\n"), ("none/notes.txt", BAD)]);
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("in.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'}\n\x00\x01");
    write("x.py", &[0, 255, 1, 254, 10, 0]);
    write("x.ipynb", b"{\"cells\": 3}");
    write("cell.ipynb", br#"{"cells": [{"cell_type": "code", "source": ["print 'x'"]}], "nbformat": 4}"#);
    for name in ["in.npy", "x.py", "x.ipynb", "cell.ipynb", "old.py", "only"] {
        for words in ["", " --format json", " --survey"] {
            let line = refusal(folder.path(), &format!("scan {name}{words}"));
            assert!(line.contains(name) && line.contains("not scanned: "), "{line}");
            assert!(line.contains("give Python files, notebooks or folders"), "{line}");
        }
    }
    let line = refusal(folder.path(), "scan x.py in.npy");
    assert!(line.starts_with("misdeal: in.npy: ") && line.contains("2 in all"), "{line}");
    // Nothing to scan is no mistake of the caller: a hook may leave nothing.
    let run = misdeal(folder.path(), "scan none");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.starts_with("0 files scanned: "), "{}", run.stdout);
    assert_eq!(document(folder.path(), "scan none --format json", 0)["files"], 0);
}

/// What is said about a buffer can be run as it stands, with the sizes that were read.
#[test]
fn commands_in_fixes_run() {
    const STREAMS: &str = "import opacus
import tensorflow as tf
import tensorflow_privacy
import webdataset as wds
from datasets import load_dataset
a = load_dataset('c4', split='train', streaming=True).shuffle(seed=1, buffer_size=5_000)
b = load_dataset('c4', split='train', streaming=True).shuffle(42)
c = wds.WebDataset(urls).shuffle(1000).decode()
d = tf.data.Dataset.range(60000).shuffle(30000).batch(256)
e = tf.data.Dataset.range(60000).shuffle(2000)
";
    let folder = folder(&[("train.py", STREAMS)]);
    let report = document(folder.path(), "scan train.py --format json", 1);
    let findings = report["findings"].as_array().unwrap();
    let sizes = [
        "--buffer-size 5000",
        "--buffer-size 1000",
        "--buffer-size 1000",
        "--buffer-size 30000 --steps-per-epoch 235 --batch-size 256",
        "--buffer-size 2000",
    ];
    assert_eq!(findings.len(), sizes.len(), "{findings:?}");
    for (finding, sizes) in findings.iter().zip(sizes) {
        let fix = finding["fix"].as_str().unwrap();
        let command = format!("account --scheme stream-shuffle {sizes}");
        let said = fix.split_once("misdeal ").unwrap().1;
        assert!(
            said == format!("{command})") || said == format!("{command} says what a buffer costs"),
            "{fix}"
        );
        let run = misdeal(folder.path(), &command);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn settings_are_found_and_obeyed() {
    let folder = folder(&[
        (
            "project/misdeal.toml",
            "[scan]\nignore = [\"batch-before-shuffle\"]\nassume-private = true\nexclude = [\"old\"]\n",
        ),
        ("project/src/bad.py", BAD),
        ("project/src/train.py", UNSHUFFLED),
        ("project/old/train.py", UNSHUFFLED),
        (
            "other/pyproject.toml",
            "[project]\nname = \"x\"\n[tool.misdeal.scan]\nselect = [\"buffer-of-one\"]\n",
        ),
        ("other/bad.py", BAD),
        ("plain/bad.py", BAD),
        ("plain/train.py", UNSHUFFLED),
        ("none.toml", ""),
        ("hidden/.gitignore", "bad.py\n"),
        ("hidden/bad.py", BAD),
    ]);
    for (arguments, found) in [
        ("scan project", vec!["project/src/train.py training-not-shuffled"]),
        ("scan other", vec![]),
        ("scan plain", vec!["plain/bad.py batch-before-shuffle"]),
        (
            "scan plain --assume-private",
            vec!["plain/bad.py batch-before-shuffle", "plain/train.py training-not-shuffled"],
        ),
        ("scan plain --ignore batch-before-shuffle", vec![]),
        ("scan plain --exclude **/bad.py", vec![]),
        (
            "scan . --select batch-before-shuffle --exclude other,plain/bad.py --config none.toml",
            vec!["project/src/bad.py batch-before-shuffle"],
        ),
        ("scan plain --config project/misdeal.toml", vec!["plain/train.py training-not-shuffled"]),
        ("scan other --select batch-before-shuffle", vec!["other/bad.py batch-before-shuffle"]),
        ("scan hidden", vec![]),
        ("scan hidden/bad.py", vec!["hidden/bad.py batch-before-shuffle"]),
    ] {
        let report =
            document(folder.path(), &format!("{arguments} --format json"), i32::from(!found.is_empty()));
        let findings = report["findings"].as_array().unwrap().iter();
        let findings: Vec<_> = findings
            .map(|finding| {
                format!("{} {}", finding["path"].as_str().unwrap(), finding["rule"].as_str().unwrap())
            })
            .collect();
        assert_eq!(findings, found, "{arguments}");
    }
}

#[test]
fn bad_requests_are_refused() {
    let folder = folder(&[
        ("a.py", GOOD),
        ("misspelt.toml", "[scan]\nselct = []\n"),
        ("unknown.toml", "[scan]\nselect = [\"no-such-rule\"]\n"),
    ]);
    for (arguments, words) in [
        ("scan", "PATH"),
        ("scan nowhere.py", "nowhere.py: no such file or folder"),
        ("scan a.py --select no-such-rule", "there is no rule \"no-such-rule\""),
        ("scan a.py --exclude a[", "exclude"),
        ("scan a.py --config nowhere.toml", "nowhere.toml"),
        ("scan a.py --config misspelt.toml", "selct"),
        ("scan a.py --config unknown.toml", "no-such-rule"),
        ("scan --explain no-such-rule", "no-such-rule"),
        ("scan a.py --format yaml", "yaml"),
        ("audit mechanism --format sarif", "text or json"),
    ] {
        let line = refusal(folder.path(), arguments);
        assert!(line.contains(words), "{arguments}: {line}");
    }
}

#[test]
fn rules_are_listed_and_explained() {
    let folder = folder(&[]);
    let run = misdeal(folder.path(), "scan --list-rules");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert!(run.stdout.lines().count() >= 15);
    for line in run.stdout.lines() {
        let name = line.split_whitespace().next().unwrap();
        let explained = misdeal(folder.path(), &format!("scan --explain {name}"));
        assert_eq!((explained.code, explained.stderr.as_str()), (Some(0), ""));
        assert!(
            explained.stdout.starts_with(name) && explained.stdout.contains("fix"),
            "{}",
            explained.stdout
        );
    }
}

#[test]
fn rules_are_listed_as_json() {
    let folder = folder(&[]);
    let list = document(folder.path(), "scan --list-rules --format json", 0);
    assert_eq!((&list["schema_version"], &list["command"]), (&2.into(), &"scan".into()));
    let rules = list["rules"].as_array().unwrap();
    let names: Vec<_> = rules.iter().map(|rule| rule["name"].as_str().unwrap()).collect();
    let text = misdeal(folder.path(), "scan --list-rules").stdout;
    let listed: Vec<_> = text.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert_eq!(names, listed);
    for rule in rules {
        let name = rule["name"].as_str().unwrap();
        let explained = document(folder.path(), &format!("scan --explain {name} --format json"), 0);
        assert_eq!(explained["rules"], serde_json::json!([rule]));
    }
    for format in ["sarif", "github"] {
        refusal(folder.path(), &format!("scan --list-rules --format {format}"));
        refusal(folder.path(), &format!("scan --explain shuffled-once --format {format}"));
    }
}

#[test]
fn threads_do_not_change_the_answer() {
    let files: Vec<(String, &str)> =
        (0..40).map(|index| (format!("{index}.py"), [BAD, GOOD, UNSHUFFLED][index % 3])).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let folder = folder(&files);
    let [one, many] =
        ["1", "7"].map(|threads| misdeal(folder.path(), &format!("scan . --threads {threads}")));
    assert_eq!((one.code, one.stdout), (many.code, many.stdout));
}

/// What is certain is fixed, what is not is silenced by comments, and both are shown before.
#[test]
fn files_are_fixed_and_silenced() {
    let off = "from opacus import PrivacyEngine\nparts = engine.make_private(module=m, optimizer=o, data_loader=l, poisson_sampling=False)\n";
    let folder = folder(&[("off.py", off), ("bad.py", BAD)]);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let shown = misdeal(folder.path(), "scan . --diff");
    assert_eq!(shown.code, Some(1));
    assert!(shown.stdout.contains(
        "+parts = engine.make_private(module=m, optimizer=o, data_loader=l, poisson_sampling=True)"
    ));
    assert_eq!(read("off.py"), off);
    let fixed = misdeal(folder.path(), "scan . --fix");
    assert_eq!(fixed.code, Some(1), "the other finding stays");
    assert!(fixed.stderr.contains("misdeal: changed 1 file"), "{}", fixed.stderr);
    assert!(read("off.py").contains("poisson_sampling=True") && read("bad.py") == BAD);
    let silenced = misdeal(folder.path(), "scan . --add-ignores");
    assert_eq!(silenced.code, Some(0), "{}", silenced.stdout);
    assert!(read("bad.py").ends_with("  # misdeal: ignore[batch-before-shuffle]\n"), "{}", read("bad.py"));
    refusal(folder.path(), "scan . --fix --add-ignores");
}

/// A survey says where the pipelines are, and which lines of SARIF's rules have a page.
#[test]
fn surveys_have_locations_and_rules_have_pages() {
    let folder = folder(&[("bad.py", BAD), ("good.py", GOOD)]);
    let survey = document(folder.path(), "scan . --survey --format json", 0);
    let locations = &survey["survey"]["locations"];
    assert_eq!(locations[0], serde_json::json!({"path": "bad.py", "line": 2, "order": "batch-then-shuffle"}));
    assert_eq!(locations[1]["order"], "shuffle-then-batch");
    let sarif: Value = serde_json::from_str(&misdeal(folder.path(), "scan . --format sarif").stdout).unwrap();
    for rule in sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap() {
        let (id, page) = (rule["id"].as_str().unwrap(), rule["helpUri"].as_str().unwrap());
        assert!(page.starts_with("https://") && page.ends_with(&format!("/{id}.html")), "{page}");
    }
}
