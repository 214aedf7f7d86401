//! `misdeal completions` and `misdeal man`: made from the same definition as the help.

use crate::program::{files, misdeal, refusal};
use misdeal_testkit::skip;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

#[test]
fn every_shell_has_a_script_that_knows_commands_flags_and_values() {
    let folder = tempfile::tempdir().unwrap();
    for shell in SHELLS {
        let run = misdeal(folder.path(), &format!("completions {shell}"));
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{shell}");
        for word in ["calibrate", "noise-multiplier", "threshold-choice", "completions", "reproduce"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
        // The scripts of the others do not list values.
        if ["bash", "zsh"].contains(&shell) {
            assert!(
                run.stdout.contains("batch-then-shuffle")
                    && run.stdout.contains("figure-10")
                    && run.stdout.contains("log-katz")
                    && run.stdout.contains("cpu-avx2"),
                "{shell}"
            );
        }
        misdeal(folder.path(), &format!("completions {shell} --output script"));
        assert_eq!(files(folder.path())["script"], run.stdout.as_bytes(), "{shell}");
    }
}

#[test]
fn bash_completes() {
    let folder = tempfile::tempdir().unwrap();
    misdeal(folder.path(), "completions bash --output script");
    let script = "source ./script; COMP_WORDS=(misdeal account --sch); COMP_CWORD=2; _misdeal misdeal --sch account; echo ${COMPREPLY[*]}";
    let Ok(bash) =
        std::process::Command::new("bash").args(["-c", script]).current_dir(folder.path()).output()
    else {
        skip("there is no bash");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&bash.stdout).trim(), "--scheme");
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let program = misdeal(folder.path(), "man");
    assert_eq!((program.code, program.stderr.as_str()), (Some(0), ""));
    let run = misdeal(folder.path(), "man --output man1");
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
    assert!(run.written.starts_with("Wrote man1 ("), "{}", run.written);
    let pages = files(&folder.path().join("man1"));
    assert_eq!(pages["misdeal.1"], program.stdout.as_bytes());
    let help = misdeal(folder.path(), "--help").stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut names: Vec<String> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !["", "help"].contains(name))
        .map(|name| format!("misdeal-{name}.1"))
        .collect();
    assert!(names.len() > 10, "{names:?}");
    names.extend(["misdeal.1", "misdeal-audit-mechanism.1", "misdeal-audit-training.1"].map(String::from));
    for name in &names {
        let page = String::from_utf8(pages[name].clone()).unwrap();
        for part in
            [".TH misdeal", ".SH NAME", ".SH SYNOPSIS", ".SH \"COMMON OPTIONS\"", ".SH \"EXIT STATUS\""]
        {
            assert!(page.contains(part), "{name}: {part}: {page}");
        }
    }
    assert_eq!(pages.len(), names.len(), "{:?}", pages.keys());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refusal(folder.path(), "completions tcsh").contains("bash"));
    assert!(refusal(folder.path(), "completions bash --format json").contains("--format json"));
    assert!(refusal(folder.path(), "man --format json").contains("--format json"));
    assert!(refusal(folder.path(), "completions bash --output nowhere/script").contains("folder"));
    std::fs::write(folder.path().join("file"), "").unwrap();
    for place in ["file", "nowhere/man1"] {
        assert!(refusal(folder.path(), &format!("man --output {place}")).contains("--output"), "{place}");
    }
}
