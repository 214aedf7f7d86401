//! Nothing that lies on a disk makes the scanner fail.

use misdeal_scan::{Report, Settings, scan, scan_source};
use misdeal_testkit::skip;
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
        None => skip("there is no python3 to ask for its library"),
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
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    assert_eq!(report.partly_read.len(), 1, "{:?}", report.partly_read);
    let reason = &report.partly_read[0].reason;
    assert!(reason.starts_with("cell 3, line 1"), "{reason}");
    assert_eq!(report.findings.len(), 1, "{:?}", report.findings);
    let finding = &report.findings[0];
    assert_eq!((finding.cell, finding.cell_line, finding.line, finding.column), (Some(5), Some(3), 15, 13));
    assert_eq!(finding.excerpt, "data = data.shuffle(10)");
}

/// Notebooks remove indentation, and scripts that were notebooks keep their commands.
#[test]
fn what_notebooks_accept_is_read() {
    let cell = r#"{"cells": [{"cell_type": "code", "source": ["    import tensorflow as tf\n", "    data = tf.data.Dataset.range(9).batch(3).shuffle(2)\n"]}]}"#;
    let script = "!pip install tensorflow\nimport tensorflow as tf\ndata = tf.data.Dataset.range(9).batch(3).shuffle(2)\n";
    for (path, text) in [("a.ipynb", cell), ("a.py", script)] {
        let report = scan_source(path, text, &Settings::default()).unwrap();
        assert!(report.skipped.is_empty() && report.partly_read.is_empty(), "{path}: {report:?}");
        assert_eq!(report.findings.len(), 1, "{path}");
    }
}

/// Found by fuzzing: the parser panics on magic within brackets. Such a cell is named, nothing is printed, and the others are read.
#[test]
fn a_cell_on_which_the_parser_fails_does_not_hide_the_others() {
    let notebook = r#"{"cells": [
  {"cell_type": "code", "source": ["x = (\n", "    tf.data) *! size]]\n", "    ;;;;;;; update(h)4n"]},
  {"cell_type": "code", "source": ["import tensorflow as tf\n", "data = tf.data.Dataset.range(9).batch(3).shuffle(3)"]}
], "nbformat": 4}"#;
    let report = scan_source("train.ipynb", notebook, &Settings::default()).unwrap();
    let reasons: Vec<_> = report.partly_read.iter().map(|skipped| skipped.reason.as_str()).collect();
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

/// Sources whose lines, calls, classes, cells or findings cost the square of their number, or gigabytes, before: each took minutes or more memory than a
/// machine has.
#[test]
fn what_repeats_costs_its_length() {
    let head = "import tensorflow as tf\nimport opacus\n";
    let numbered = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let engine = "e = opacus.PrivacyEngine()\n";
    let private = "m, o, l = e.make_private(module=m, optimizer=o, data_loader=d)\n";
    let sources = [
        // A line of a megabyte: each finding kept all of it.
        format!("{head}{}\n", "d=ds.batch(8).shuffle(1);".repeat(40_000)),
        // Each finding was compared with all others, and each shuffle with all pipelines.
        format!("{head}{}", "d = ds.shuffle(9).batch(8).shuffle(1)\n".repeat(60_000)),
        numbered(150_000, &|i| format!("def f{i}(): return 1\nclass C{i}: pass\n")),
        format!("x = '{}' #{}\n", "a".repeat(2_000_000), " misdeal: ignore#".repeat(200_000)),
        format!(
            "{head}{}{}",
            numbered(60_000, &|i| format!("p{i} = np.random.permutation(9)\n")),
            numbered(60_000, &|i| format!("for epoch in range({i}):\n  x[p{i}]\n"))
        ),
        format!(
            "{head}{engine}{}",
            numbered(20_000, &|i| format!(
                "m{i}, o{i}, l{i} = e.make_private(module=m, optimizer=o, data_loader=d{i})\nfor b in d{i}:\n  o{i}.step()\n"
            ))
        ),
        format!(
            "{head}{engine}{private}def t(l, o):\n{}{}",
            "  for b in l:\n    o.step()\n".repeat(3_000),
            "t(d, o)\n".repeat(30_000)
        ),
        format!("{head}for epoch in x:\n{}", "  torch.manual_seed(seed)\n".repeat(200_000)),
        format!("{head}{} = {}\n", "a, ".repeat(150_000) + "a", "f().b(), ".repeat(100_000)),
        format!(
            "{}{}",
            "f()".to_owned() + &".a".repeat(4_500) + "\n",
            ("f()".to_owned() + &".a".repeat(4_500) + "\n").repeat(800)
        ),
        format!(
            "{}if a:\n y = 1\n{}",
            numbered(60_000, &|i| format!("y{i} = 1\n")),
            numbered(60_000, &|i| format!("elif a:\n y{i} = 2\n"))
        ),
    ];
    for source in sources {
        let report = scan_text(&source);
        let failed = report.skipped.iter().find(|skipped| !skipped.reason.contains("findings, of which"));
        assert!(failed.is_none(), "{}: {failed:?}", &source[..60]);
    }
}

/// Every cell searched the text of all cells, and every finding all cells.
#[test]
fn notebooks_of_many_cells_cost_their_length() {
    let cell =
        r#"{"cell_type": "code", "source": "import opacus\nimport torch\nd = ds.batch(8).shuffle(1)"}"#;
    let cells = vec![cell; 100_000].join(",");
    let report = scan_source("a.ipynb", &format!("{{\"cells\": [{cells}]}}"), &Settings::default()).unwrap();
    assert_eq!(report.findings.len(), 2_000);
    assert_eq!(report.findings[1_999].cell, Some(2_000));
    assert!(
        report.skipped[0].reason.contains("findings, of which the first 2000 are told"),
        "{:?}",
        report.skipped
    );
}

/// Ten kilobytes of functions that call one another took gigabytes: a history for each way and each call.
#[test]
fn values_are_followed_within_limits() {
    let ways = [0, 1, 2, 3].map(|i| format!("  if a:\n    x = x.b{i}()\n")).concat();
    let function = format!("def f(x):\n{ways}{}  return x\n", "  x = x.c()\n".repeat(200));
    let report = scan_text(&format!("import torch\nx.shuffle(1)\n{function}{}", "y = f(x)\n".repeat(20_000)));
    assert!(
        report.skipped[0].reason.contains("following its values takes more than"),
        "{:?}",
        report.skipped
    );
    let few = scan_text(&format!("import torch\nx.shuffle(1)\n{function}{}", "y = f(x)\n".repeat(5)));
    assert!(few.skipped.is_empty(), "{:?}", few.skipped);
}

/// Two million brackets in a format string took 3.8 GB, a table in one could take as much, and a hundred thousand strings within one another 11 s.
#[test]
fn format_strings_are_weighed_as_code() {
    let (open, close) = ("(".repeat(2_000_000), ")".repeat(2_000_000));
    for text in [
        format!("x=f\"{{{open}1{close}}}\"\n"),
        format!("x=f\"\"\"{{{}1}}\"\"\"\n", "-".repeat(8_000_000)),
        format!("x=f\"{{\"a\" {open}1{close}}}\"\n"),
        format!("x=f\"{}\n", "{f'".repeat(100_000)),
    ] {
        let report = scan_text(&text);
        assert!(!report.skipped.is_empty(), "{}", &text[..12]);
    }
    for text in [
        format!("x=f\"{{({})}}\"\n", "1,".repeat(7_000_000)),
        format!("x=f\"\"\"{{\"\"\"a\"\"\",({})}}\"\"\"\n", "a,".repeat(7_000_000)),
    ] {
        let report = scan_text(&text);
        assert!(report.skipped[0].reason.contains("MB of memory, more than"), "{:?}", report.skipped);
    }
    let report = scan_text(&"x = f'{a} and {b:>10} (of {c!r})'  # Text's \"own\" way (\n".repeat(1_000));
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
}

/// 16 MB of names and line ends took 2.2 GB; a table of numbers that large is read.
#[test]
fn a_source_is_weighed_before_it_is_parsed() {
    let report = scan_text(&"a\n".repeat(8_000_000));
    assert!(report.skipped[0].reason.contains("MB of memory, more than"), "{:?}", report.skipped);
    let table = scan_text(&format!("x = [{}]\n", "-1.5, ".repeat(2_700_000)));
    assert!(table.skipped.is_empty(), "{:?}", table.skipped);
}
