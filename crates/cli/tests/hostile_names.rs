//! Names that are no text, that hide text or that never end: every command answers, in one piece.
#![cfg(unix)]

use crate::program;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};

const AUDIT: &str = "audit mechanism --steps-per-epoch 5 --observations 2000";
const ESTIMATE: &str = "estimate --scores-in in.csv --scores-out out.csv";

fn command(folder: &Path, words: &[&OsStr]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_misdeal"));
    command.current_dir(folder).env_remove("MISDEAL_DATA").args(words).stdin(Stdio::null());
    command
}

/// `arguments`, in which NAME stands for what begins like `name`.
fn words(arguments: &str, name: &[u8]) -> Vec<OsString> {
    let word = |word: &str| match word.strip_prefix("NAME") {
        Some(ending) => OsString::from_vec([name, ending.as_bytes()].concat()),
        None => word.into(),
    };
    arguments.split_whitespace().map(word).collect()
}

fn run(folder: &Path, arguments: &str, name: &[u8]) -> Output {
    let words = words(arguments, name);
    command(folder, &words.iter().map(OsString::as_os_str).collect::<Vec<_>>()).output().unwrap()
}

fn with_scores() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let scores = (0..200).map(|i| i.to_string() + "\n").collect::<String>();
    for name in ["in.csv", "out.csv"] {
        fs::write(folder.path().join(name), &scores).unwrap();
    }
    folder
}

#[test]
fn names_are_never_printed_raw() {
    let names: [&[u8]; 5] = [
        b"a\xff\xfe",
        b"a\n::error title=x::y",
        b"a\x1b[31m\x1b]0;t\x07",
        "a\u{202e}gpj\u{feff}".as_bytes(),
        &[b'x'; 300],
    ];
    let commands = [
        format!("{AUDIT} --store NAME.store"),
        "merge NAME.store --output NAME.merged".into(),
        "estimate --scores-in NAME.csv --scores-out out.csv".into(),
        format!("{ESTIMATE} --plot NAME.svg"),
        "diagnose NAME.jsonl".into(),
        "scan NAME.py".into(),
        "audit training --dataset synthetic --model NAME.toml".into(),
        "report NAME.json --output NAME.html".into(),
    ];
    for name in names {
        let folder = with_scores();
        let too_long = name.len() > 255;
        let path = |ending: &str| folder.path().join(OsStr::from_bytes(&[name, ending.as_bytes()].concat()));
        if !too_long {
            fs::copy(folder.path().join("in.csv"), path(".csv")).unwrap();
            fs::write(
                path(".jsonl"),
                "{\"epoch\": 0, \"batch\": [0, 1]}\n{\"epoch\": 0, \"batch\": [2, 3]}\n",
            )
            .unwrap();
            fs::write(path(".py"), "print(1)\n").unwrap();
            fs::write(path(".json"), run(folder.path(), &format!("{ESTIMATE} --format json"), name).stdout)
                .unwrap();
        }
        for format in ["text", "json"] {
            for arguments in &commands {
                for made in [".store", ".merged"] {
                    // The second round makes them again.
                    if format == "json"
                        && arguments.contains(&format!("NAME{made}"))
                        && arguments.ends_with(made)
                    {
                        let _ = fs::remove_file(path(made));
                    }
                }
                let done = run(folder.path(), &format!("{arguments} --format {format} --quiet"), name);
                let place = format!("{arguments} --format {format}, {:?}", OsStr::from_bytes(name));
                let stderr = String::from_utf8(done.stderr).expect(&place);
                let stdout = String::from_utf8(done.stdout).expect(&place);
                let code = done.status.code().unwrap_or_else(|| panic!("{place} was killed"));
                let fails = too_long || arguments.contains("--model");
                assert!(if fails { code == 2 || code == 3 } else { code == 0 }, "{place}: {code}: {stderr}");
                assert!(
                    !fails || stderr.lines().count() == 1 && stderr.starts_with("misdeal: "),
                    "{place}: {stderr}"
                );
                let printed = stdout.clone() + &stderr;
                assert!(
                    !printed.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{feff}']),
                    "{place}: {printed:?}"
                );
                assert!(!printed.lines().any(|line| line.starts_with("::")), "{place}: {printed}");
                if format == "json" && !stdout.is_empty() {
                    serde_json::from_str::<Value>(&stdout).expect(&place);
                }
            }
        }
    }
}

#[test]
fn pipes_are_refused_at_once() {
    let folder = with_scores();
    for ending in ["csv", "npy", "parquet", "jsonl", "toml", "npz", "json", "store", "svg", "html", "py"] {
        let made = Command::new("mkfifo").arg(folder.path().join(format!("pipe.{ending}"))).status().unwrap();
        assert!(made.success());
    }
    run(folder.path(), &format!("{AUDIT} --store whole"), b"");
    run(folder.path(), &format!("{ESTIMATE} --format json --output result.json"), b"");
    for arguments in [
        "estimate --scores-in pipe.npy --scores-out out.csv",
        "estimate --scores-in in.csv --scores-out pipe.csv",
        "estimate --scores-in pipe.parquet --scores-out out.csv",
        "diagnose pipe.jsonl",
        "diagnose pipe.npy",
        "diagnose pipe.parquet",
        "audit training --dataset synthetic --model pipe.toml",
        "audit training --dataset pipe.npz",
        "report pipe.json --output page.html",
        "report result.json --output pipe.html",
        "merge pipe.store --output merged",
        "merge whole --output pipe.store",
        &format!("{AUDIT} --store pipe.store"),
        &format!("{AUDIT} --store pipe.store --resume"),
        &format!("{ESTIMATE} --plot pipe.svg"),
        // Found before the first of many trials is played.
        "audit mechanism --observations 1e14 --plot pipe.svg",
        "reproduce table-1 --plot pipe.svg",
        &format!("{ESTIMATE} --output pipe.json"),
        "scan pipe.py",
    ] {
        let words = words(arguments, b"");
        let mut child = command(folder.path(), &words.iter().map(OsString::as_os_str).collect::<Vec<_>>())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let status = program::wait(&mut child, arguments);
        assert_eq!(status.code(), Some(2), "{arguments}");
    }
}

#[test]
fn standard_output_named_as_a_file_is_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let log = folder.path().join("log");
        fs::write(&log, "kept\n").unwrap();
        let to = OpenOptions::new().append(true).open(&log).unwrap();
        let words =
            ["account", "--scheme", "fixed-order", "--format", "json", "--output", name].map(OsStr::new);
        assert!(command(folder.path(), &words).stdout(to).status().unwrap().success(), "{name}");
        let text = fs::read_to_string(&log).unwrap();
        serde_json::from_str::<Value>(text.strip_prefix("kept\n").expect(name)).expect(name);
    }
}
