//! Runs the program and looks at what it left.
#![allow(dead_code, reason = "each test file uses its part")]

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What a run of the program ended with.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `misdeal` in `folder` with the words of `arguments`, and no data folder but what they name; a run that takes minutes is a
/// failure.
pub fn misdeal(folder: &Path, arguments: &str) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_misdeal"))
        .current_dir(folder)
        .env_remove("MISDEAL_DATA")
        .args(arguments.split_whitespace())
        .timeout(Duration::from_mins(5))
        .output()
        .unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs what must succeed and gives the one JSON document that it printed.
pub fn json(folder: &Path, arguments: &str) -> Value {
    let run = misdeal(folder, &format!("{arguments} --format json"));
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{arguments}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{arguments}: {error}: {}", run.stdout))
}

/// Runs what must be refused: exit code 2, one line on standard error, nothing else anywhere. Gives the line.
pub fn refusal(folder: &Path, arguments: &str) -> String {
    let before = files(folder);
    let run = misdeal(folder, arguments);
    assert_eq!(run.code, Some(2), "{arguments}: {run:?}");
    assert_eq!(run.stdout, "", "{arguments}");
    assert!(run.stderr.ends_with('\n') && run.stderr.lines().count() == 1, "{arguments}: {}", run.stderr);
    assert!(run.stderr.starts_with("misdeal: "), "{arguments}: {}", run.stderr);
    assert!(before == files(folder), "{arguments} wrote something");
    run.stderr
}

/// The names and contents of all files of a folder.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}
