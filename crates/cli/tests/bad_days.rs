//! Killed processes, full disks, folders that take nothing, impatient users: no observation is lost, and nothing is silent.
#![cfg(unix)]

use crate::program::{self, files, json};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const MODEL: &str =
    "name = 'small'\nlayers = [{ kind = 'linear', outputs = 8 }, { kind = 'relu' }, { kind = 'linear' }]\n";

/// A run of each kind, with many savings.
const RUNS: [&str; 3] = [
    "audit mechanism --engine cpu --steps-per-epoch 50 --observations 4e6 --save-every 0.02",
    "audit mechanism --engine cpu --steps-per-epoch 200 --observations 6e5 --scores exact --save-every 0.02",
    "audit training --device cpu --dataset-size 200 --batch-size 20 --model small.toml --observations 400 --save-every 0.02",
];

/// A report without its file and times.
fn result(mut report: Value) -> Value {
    for of_the_process in ["store", "seconds", "observations_per_second", "models_per_second"] {
        report.as_object_mut().unwrap().remove(of_the_process);
    }
    report
}

/// Waits until a process has saved its store once more, or has ended: every saving replaces the file.
fn wait_for_saving(store: &Path, child: &mut Child) {
    use std::os::unix::fs::MetadataExt;
    let saved = || fs::metadata(store).ok().map(|metadata| (metadata.ino(), metadata.mtime_nsec()));
    let before = saved();
    while saved() == before && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
}

/// Four kills of each kind, each after one more saving than the last; `bench/kills.py` kills at random moments.
#[test]
fn killed_runs_end_in_the_same_bytes() {
    for (kind, audit) in RUNS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("small.toml"), MODEL).unwrap();
        let whole = json(folder.path(), &format!("{audit} --store whole"));
        let store = folder.path().join("killed");
        let mut held = 0;
        for savings in 1..=4 {
            let mut child = Command::new(env!("CARGO_BIN_EXE_misdeal"))
                .current_dir(folder.path())
                .args(audit.split_whitespace())
                .args(["--store", "killed", "--resume", "--quiet"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            for _ in 0..savings {
                wait_for_saving(&store, &mut child);
            }
            child.kill().unwrap();
            child.wait().unwrap();
            let now = json(folder.path(), "merge killed --output copy")["observations"].as_u64().unwrap();
            assert!(now > 0 && now >= held, "{audit}: {held} observations before, {now} after");
            held = now;
        }
        let resumed = json(folder.path(), &format!("{audit} --store killed --resume"));
        assert_eq!(result(resumed), result(whole), "kind {kind}");
        let [resumed, whole] = ["killed", "whole"].map(|name| fs::read(folder.path().join(name)).unwrap());
        assert!(resumed == whole, "kind {kind}");
    }
}

/// Runs `misdeal` in a shell, after what the shell is told first.
fn in_shell(folder: &Path, first: &str, arguments: &str) -> program::Run {
    let output = Command::new("bash")
        .current_dir(folder)
        .args(["-c", &format!("{first}; exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_misdeal")])
        .output()
        .unwrap();
    program::Run {
        written: String::new(),
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A file that may not grow stands for a disk that is full: exit code 3, one line, and the last store is still there.
#[test]
fn a_full_disk_keeps_the_last_store() {
    let folder = tempfile::tempdir().unwrap();
    let audit = "audit mechanism --steps-per-epoch 5 --scores exact --store run --resume";
    json(folder.path(), &format!("{audit} --observations 1000"));
    let before = files(folder.path());
    let run = in_shell(folder.path(), "ulimit -f 64", &format!("{audit} --observations 1e6"));
    assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    assert!(run.stderr.contains("cannot write run"), "{run:?}");
    assert!(files(folder.path()) == before, "the store changed, or something was left");
    let resumed = json(folder.path(), &format!("{audit} --observations 20000"));
    assert_eq!(resumed["observations"], 20_000);
    // The result itself, where nothing can be printed.
    if Path::new("/dev/full").exists() {
        let run = in_shell(folder.path(), "exec >/dev/full", "audit mechanism --observations 1000");
        assert_eq!(run.code, Some(3), "{run:?}");
        assert!(run.stderr.contains("cannot print the result"), "{run:?}");
    }
}

/// Found before the first of many trials is played.
#[test]
fn a_folder_that_takes_nothing_is_found_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may do everything may write there too; nobody may in /proc.
    let is_closed = fs::write(closed.join("probe"), "").is_err();
    let places = [is_closed.then_some("closed/run"), Path::new("/proc/self").exists().then_some("/proc/run")];
    let long = "x".repeat(300);
    for place in places.into_iter().flatten().chain([long.as_str()]) {
        for flag in ["--store", "--output"] {
            let run = in_shell(
                folder.path(),
                "true",
                &format!("audit mechanism --observations 1e14 {flag} {place}"),
            );
            assert_eq!((run.code, run.stdout.as_str()), (Some(3), ""), "{run:?}");
            assert!(run.stderr.contains("cannot write") && run.stderr.lines().count() == 1, "{run:?}");
        }
    }
}

/// The second Ctrl-C does not wait for anything.
#[test]
fn two_signals_end_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_misdeal"))
        .current_dir(folder.path())
        .args("audit mechanism --observations 1e14 --store run".split_whitespace())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(500));
    for _ in 0..2 {
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    }
    let status = program::wait(&mut child, "after two signals");
    assert_eq!(status.code(), Some(130));
}

/// Counts take the same memory for any number of observations; exact scores that cannot fit are refused with the numbers.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_counts() {
    let folder = tempfile::tempdir().unwrap();
    let peak = |observations: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_misdeal"))
            .current_dir(folder.path())
            .args(format!("audit mechanism --engine cpu --steps-per-epoch 2 --threads 2 --observations {observations}").split_whitespace())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let status = format!("/proc/{}/status", child.id());
        let mut largest = 0;
        while child.try_wait().unwrap().is_none() {
            let text = fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
            largest = largest.max(kilobytes.unwrap_or(0));
            sleep(Duration::from_millis(2));
        }
        largest
    };
    let [few, many] = ["2e7", "2e8"].map(peak);
    assert!(few > 0 && many < few + 30_000, "{few} kB for 2e7 observations, {many} kB for 2e8");
    let line = program::refusal(folder.path(), "audit mechanism --scores exact --observations 1e14");
    assert!(
        line.contains("--scores exact") && line.contains("GiB") && line.contains("--scores counts"),
        "{line}"
    );
}

/// The exit code is that of the refusal, even where nobody can be told the reason.
#[test]
fn a_refusal_that_cannot_be_printed_is_still_one() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_misdeal"))
        .args(["account", "--scheme", "nope"])
        .stdout(Stdio::null())
        .stderr(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
