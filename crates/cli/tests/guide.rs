//! The guide in `docs/` says what happens: its commands are run, their output is compared, its links are followed.
#![cfg(unix)]

use crate::pages::{blocks, commands, is_shown, links, markdown, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs the commands of a page, in a folder with the checkout's examples beside it. Gives how each failed, nothing where it did
/// not.
fn run_page(page: &Path) -> Vec<Option<String>> {
    let folder = tempfile::tempdir().unwrap();
    for beside in ["testdata", "examples"] {
        std::os::unix::fs::symlink(root().join(beside), folder.path().join(beside)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_misdeal")).parent().unwrap().to_owned();
    let search = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(program).chain(std::env::split_paths(&search))).unwrap();
    let mut outcomes = Vec::new();
    for block in blocks(&fs::read_to_string(page).unwrap()) {
        if let Some(name) = &block.file {
            fs::write(folder.path().join(name), block.lines.join("\n") + "\n").unwrap();
        }
        if block.language != "console" {
            continue;
        }
        for shown in commands(&block) {
            let done = Command::new("sh")
                .args(["-c", &format!("exec 2>&1\n{}", shown.command)])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env_remove("MISDEAL_DATA")
                .env_remove("COLUMNS")
                .output()
                .unwrap();
            let printed = String::from_utf8(done.stdout).unwrap();
            let place = format!("{}: $ {}", page.display(), shown.command);
            let expected: Vec<&str> = shown.output.iter().map(String::as_str).collect();
            let real: Vec<&str> = printed.lines().collect();
            let fits = done.status.success() && (expected.is_empty() || is_shown(&expected, &real));
            let failure =
                || format!("{place}\n{}; shown:\n{}\nprinted:\n{printed}", done.status, expected.join("\n"));
            outcomes.push((!fits).then(failure));
        }
    }
    outcomes
}

#[test]
fn commands_print_what_is_shown() {
    let pages = markdown(&root().join("docs/src"));
    // Pages wait for nothing but the cores: two at a time.
    let (first, second) = pages.split_at(pages.len() / 2);
    let run = |pages: &[PathBuf]| pages.iter().flat_map(|page| run_page(page)).collect::<Vec<_>>();
    let outcomes = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(second));
        [run(first), other.join().unwrap()].concat()
    });
    assert!(outcomes.len() > 30, "{} commands", outcomes.len());
    let failures: Vec<String> = outcomes.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_and_there() {
    let folder = root().join("docs/src");
    let summary = links(&fs::read_to_string(folder.join("SUMMARY.md")).unwrap());
    let mut listed: Vec<PathBuf> = summary.iter().map(|name| folder.join(name)).collect();
    listed.push(folder.join("SUMMARY.md"));
    listed.sort();
    assert_eq!(listed, markdown(&folder));
}

#[test]
fn relative_links_point_at_files() {
    let mut documents = markdown(&root().join("docs"));
    documents.extend(
        fs::read_dir(root())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "md")),
    );
    documents.extend(["paper/README.md", "bench/README.md"].map(|name| root().join(name)));
    let mut count = 0;
    for document in documents {
        for link in links(&fs::read_to_string(&document).unwrap()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let file = link.split('#').next().unwrap_or_default();
            assert!(document.parent().unwrap().join(file).exists(), "{}: {link}", document.display());
            // mdBook takes every page for one of its own, and links to what it would have made of it.
            let is_page = Path::new(file).extension().is_some_and(|ending| ending == "md");
            let leaves = document.starts_with(root().join("docs/src")) && file.contains("../");
            assert!(!(leaves && is_page), "{}: {link} is no page of the guide", document.display());
            count += 1;
        }
    }
    assert!(count > 40, "{count} links");
}

#[test]
fn the_version_to_cite_is_this_one() {
    let citation = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    assert!(citation.contains(concat!("\nversion: ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn dots_stand_for_anything_and_nothing_else_does() {
    let shown = ["a ... c", "...", "end"];
    assert!(is_shown(&shown, &["a b c", "1", "2", "end"]) && is_shown(&shown, &["a  c", "end  "]));
    assert!(!is_shown(&shown, &["a b d", "end"]) && !is_shown(&shown, &["a b c", "end", "more"]));
    assert!(!is_shown(&["x"], &[]) && !is_shown(&[], &["x"]) && is_shown(&["..."], &[]));
    assert!(is_shown(&["1 ... 2 ... 3"], &["1 2 2 x 3"]) && !is_shown(&["1 ... 2 ... 3"], &["1 3"]));
}

#[test]
fn blocks_links_and_commands_are_found() {
    let page = "See [one](a.md#part), `[no](b.md)`.\n<!-- file: x.py -->\n```python\n[no](c.md)\n```\n```console\n$ a\n1\n$ b\n```\n";
    assert_eq!(links(page), ["a.md#part"]);
    let found = blocks(page);
    assert_eq!((found[0].file.as_deref(), found[1].file.as_deref()), (Some("x.py"), None));
    let run = commands(&found[1]);
    assert_eq!((run[0].command.as_str(), run[0].output.len(), run[1].output.len()), ("a", 1, 0));
}
