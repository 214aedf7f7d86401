//! Nothing that lies on a disk makes the scanner fail.

use misdeal_scan::{Report, Settings, scan, scan_source};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder_of_python(expression: &str) -> Option<PathBuf> {
    let output = Command::new("python3").args(["-c", &format!("print({expression})")]).output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    path.is_dir().then_some(path)
}

fn assert_sound(folder: &Path) {
    let report =
        scan(&[folder.to_owned()], &Settings { assume_private: true, ..Settings::default() }).unwrap();
    let failed = report.skipped.iter().find(|skipped| skipped.reason.contains("failed"));
    assert!(failed.is_none(), "{failed:?}");
    for finding in &report.findings {
        assert!(finding.line > 0 && finding.column > 0 && !finding.message.is_empty(), "{finding:?}");
    }
}

/// The standard library and all that is installed beside it, where there is a Python; with every rule awake.
#[test]
fn installed_packages_are_read() {
    match folder_of_python("__import__('os').path.dirname(__import__('os').__file__)") {
        Some(folder) => assert_sound(&folder),
        None => eprintln!("skipped: there is no python3 to ask for its library"),
    }
}

fn scan_text(text: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.py"), text).unwrap();
    // Of several files, so that the scanner's own threads are used.
    fs::write(folder.path().join("b.py"), "x = 1\n").unwrap();
    scan(&[folder.path().to_owned()], &Settings::default()).unwrap()
}

/// Depth is refused before it can overflow a stack, and what is just below the limit is read.
#[test]
fn towers_do_not_overflow_the_stack() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("f(", ")"), ("-", ""), ("not ", ""), ("lambda: ", ""), ("{1: ", "}")]
    {
        for depth in [150, 2_500, 100_000] {
            let text = format!("x = {}1{}\n", open.repeat(depth), close.repeat(depth));
            let report = scan_text(&text);
            let refused: Vec<_> = report.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
            assert_eq!(refused.is_empty(), depth < 100_000, "{open} {depth}: {refused:?}");
        }
    }
    for (text, is_read) in [
        (format!("x = a{}\n", ".b().c".repeat(1_500)), true),
        (format!("x = 1{}\n", " + 1".repeat(3_000)), true),
        (format!("x = 1{}\n", " +\\\n 1".repeat(1_000_000)), false),
        (format!("x = a{}\n", ".b".repeat(1_000_000)), false),
        ("x = x.map(f)\n".repeat(100_000), true),
        (
            (0..90).map(|level| " ".repeat(level) + "if x:\n").collect::<String>()
                + &" ".repeat(90)
                + "y = 1\n",
            true,
        ),
    ] {
        let report = scan_text(&text);
        assert_eq!(report.skipped.is_empty(), is_read, "{}: {:?}", &text[..12], report.skipped);
    }
}

#[test]
fn what_is_not_python_is_noted_and_not_fatal() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("old.py", b"print 'hello'\n");
    write("binary.py", &[0, 255, 1, 254, 10, 0]);
    write("latin.py", b"# coding: latin-1\nname = '\xe9'\n");
    write("empty.py", b"");
    write("broken.ipynb", b"{\"cells\": 3}");
    write("notes.txt", b"not scanned at all ((");
    write("huge.py", &vec![b'#'; (16 << 20) + 1]);
    write("fine.py", b"import tensorflow as tf\r\ndata = tf.data.Dataset.range(9).batch(3).shuffle(3)\r\n");
    let report = scan(&[folder.path().to_owned()], &Settings::default()).unwrap();
    assert_eq!(report.files, 7);
    let mut skipped: Vec<_> =
        report.skipped.iter().map(|skipped| skipped.path.rsplit('/').next().unwrap().to_owned()).collect();
    skipped.dedup();
    assert_eq!(skipped, ["binary.py", "broken.ipynb", "huge.py", "old.py"]);
    assert_eq!(report.findings.len(), 1);
    assert_eq!((report.findings[0].line, report.findings[0].column), (2, 42));
}

/// Notebooks: magics are tolerated, a bad cell does not hide the others, and variables live on in later cells.
#[test]
fn notebooks_are_read_cell_by_cell() {
    let notebook = r##"{
 "cells": [
  {"cell_type": "markdown", "metadata": {}, "source": ["# Training"]},
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": [
    "%matplotlib inline\n",
    "!pip install tensorflow\n",
    "import tensorflow as tf\n",
    "data = tf.data.Dataset.range(100).batch(10)"
  ]},
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["this is no python\n"]},
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["%%bash\n", "ls | wc -l\n"]},
  {"cell_type": "code", "metadata": {}, "outputs": [], "source": [
    "%%time\n",
    "files = !ls\n",
    "data = data.shuffle(10)\n"
  ]}
 ],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5
}"##;
    let report = scan_source("train.ipynb", notebook, &Settings::default()).unwrap();
    assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
    assert!(report.skipped[0].reason.starts_with("cell 3, line 1"), "{}", report.skipped[0].reason);
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((finding.cell, finding.cell_line, finding.line, finding.column), (Some(5), Some(3), 15, 13));
    assert_eq!(finding.excerpt, "data = data.shuffle(10)");
}

/// Found by fuzzing: the parser panics on magic within brackets. Such a cell is named, nothing is printed, and the others are read.
#[test]
fn a_cell_on_which_the_parser_fails_does_not_hide_the_others() {
    let notebook = r##"{"cells": [
  {"cell_type": "code", "source": ["x = (\n", "    tf.data) *! size]]\n", "    ;;;;;;; update(h)4n"]},
  {"cell_type": "code", "source": ["import tensorflow as tf\n", "data = tf.data.Dataset.range(9).batch(3).shuffle(3)"]}
], "nbformat": 4}"##;
    let report = scan_source("train.ipynb", notebook, &Settings::default()).unwrap();
    let reasons: Vec<_> = report.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
    assert_eq!((reasons.len(), report.findings.len()), (1, 1), "{reasons:?}");
    assert!(reasons[0].starts_with("cell 1"), "{reasons:?}");
}

/// Sources cut off anywhere, and bytes changed anywhere, are noted at worst.
#[test]
fn damaged_sources_do_not_fail() {
    let source = include_str!("../../../testdata/scan/batch-before-shuffle.md");
    for end in (0..source.len()).filter(|end| source.is_char_boundary(*end)).step_by(37) {
        scan_source("a.py", &source[..end], &Settings::default()).unwrap();
        scan_source("a.py", &source[end..], &Settings::default()).unwrap();
        let damaged = source.replacen(source[end..].chars().next().unwrap_or(' '), "(\"\"\"", end % 7 + 1);
        scan_source("a.py", &damaged, &Settings::default()).unwrap();
    }
}
