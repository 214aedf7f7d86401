//! Runs the program and looks at what it left.

use assert_cmd::Command;
use misdeal_cli::Environment;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a run of the program ended with.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The line of standard error that says what was written; it is not in `stderr`.
    pub written: String,
}

/// How long a run may take before it counts as hanging.
const LIMIT: Duration = Duration::from_mins(5);

/// Held by the run whose folder the process is in.
static FOLDER: Mutex<()> = Mutex::new(());

/// Runs the command line in this process, in `folder`, with the words of `arguments`, without a terminal and signals.
pub fn misdeal(folder: &Path, arguments: &str) -> Run {
    run(folder, arguments.split_whitespace())
}

/// As [`misdeal`], where words may have spaces in them.
pub fn run<'a>(folder: &Path, words: impl IntoIterator<Item = &'a str>) -> Run {
    let words: Vec<&str> = words.into_iter().collect();
    // What finds data sets must not find those of the machine.
    if std::env::var_os("MISDEAL_DATA").is_some()
        && matches!(words[..], ["reproduce", ..] | ["audit", "training", ..])
    {
        return started(folder, &words);
    }
    let words: Vec<&str> = ["misdeal"].into_iter().chain(words).collect();
    let _only_one = FOLDER.lock().unwrap_or_else(PoisonError::into_inner);
    let environment = Environment::captured();
    std::env::set_current_dir(folder).unwrap();
    let hangs = hangs(words.join(" "));
    let code = misdeal_cli::run(words, &environment);
    drop(hangs);
    std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
    let printed = environment.printed();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    ended(Some(i32::from(code)), text(printed.stdout), &text(printed.stderr))
}

/// What a run ended with, the line that says what was written apart.
fn ended(code: Option<i32>, stdout: String, stderr: &str) -> Run {
    let is_of_writing = |line: &&str| line.starts_with("Wrote ");
    let (written, others): (Vec<&str>, Vec<&str>) = stderr.split_inclusive('\n').partition(is_of_writing);
    Run { code, stdout, stderr: others.concat(), written: written.concat() }
}

/// Ends all tests after a generous while, unless what it gives is dropped before.
fn hangs(what: String) -> Sender<()> {
    let (is_over, ends) = mpsc::channel();
    std::thread::spawn(move || {
        if ends.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            let shown: String = what.chars().take(200).collect();
            let _ = writeln!(std::io::stderr(), "hangs: {shown}");
            std::process::abort();
        }
    });
    is_over
}

/// Runs the program, in a process of its own, in `folder`, with the words of `arguments`, and no data folder but what they name.
pub fn process(folder: &Path, arguments: &str) -> Run {
    started(folder, &arguments.split_whitespace().collect::<Vec<_>>())
}

fn started(folder: &Path, words: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_misdeal"))
        .current_dir(folder)
        .env_remove("MISDEAL_DATA")
        .args(words)
        .timeout(LIMIT)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    ended(output.status.code(), String::from_utf8(output.stdout).unwrap(), &stderr)
}

/// Waits for the end of a process; one that goes on for minutes hangs, and is killed.
pub fn wait(child: &mut Child, what: &str) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("hangs: {what}");
        }
        sleep(Duration::from_millis(5));
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
