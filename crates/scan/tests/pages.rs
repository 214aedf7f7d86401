//! The pages of `testdata/scan`: in every snippet, exactly the marked lines are found.

use misdeal_scan::{RULES, Settings, scan_source};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/scan")
}

/// The Python snippets of a page, each with the line of the page on which it begins.
fn snippets(page: &str) -> Vec<(usize, String)> {
    let mut snippets = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line) {
            (None, "```python") => open = Some((index + 2, String::new())),
            (Some(_), "```") => snippets.extend(open.take()),
            (Some((_, text)), line) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a snippet does not end");
    snippets
}

/// The marks `# found: RULE, RULE` of a snippet, as lines of the page.
fn marks(start: usize, snippet: &str) -> BTreeSet<(usize, String)> {
    let marked = snippet
        .lines()
        .enumerate()
        .filter_map(|(index, line)| Some((index, line.split_once("# found: ")?.1)));
    marked
        .flat_map(|(index, rules)| rules.split(", ").map(move |rule| (start + index, rule.to_owned())))
        .collect()
}

#[test]
fn every_snippet_gives_what_is_marked() {
    let mut wrong = Vec::new();
    for rule in RULES {
        let name = rule.name;
        let page = fs::read_to_string(pages().join(format!("{name}.md")))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let snippets = snippets(&page);
        let mut is_found = [false; 2];
        for (start, snippet) in snippets {
            let expected = marks(start, &snippet);
            let report = scan_source("snippet.py", &snippet, &Settings::default()).unwrap();
            assert!(report.skipped.is_empty(), "{name}.md, line {start}: {:?}", report.skipped);
            let found: BTreeSet<_> = report
                .findings
                .iter()
                .map(|finding| (start + finding.line - 1, finding.rule.clone()))
                .collect();
            if found != expected {
                wrong.push(format!(
                    "{name}.md, the snippet at line {start}: found {found:?}, expected {expected:?}"
                ));
            }
            is_found[usize::from(expected.iter().any(|(_, rule)| rule == name))] = true;
        }
        assert_eq!(
            is_found, [true; 2],
            "{name}.md needs snippets that are found and snippets that are innocent"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_has_its_rule() {
    for entry in fs::read_dir(pages()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(misdeal_scan::by_name(name).is_some(), "{} is of no rule", path.display());
    }
}

/// Names sort, texts are single sentences without a full stop, and every rule's file has an example.
#[test]
fn rules_are_presented_alike() {
    let names: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    for rule in RULES {
        for text in [rule.finds, rule.why, rule.fix] {
            assert!(
                !text.is_empty() && !text.ends_with('.') && !text.contains(". "),
                "{}: {text}",
                rule.name
            );
        }
        let file = format!("{}/src/rules/{}.rs", env!("CARGO_MANIFEST_DIR"), rule.name.replace('-', "_"));
        let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        let headings: Vec<_> = source.lines().filter_map(|line| line.strip_prefix("//! # ")).collect();
        assert_eq!(headings, ["Example"], "{file}");
    }
}

/// The page of a rule in the guide: what it says, and the snippets that test it.
fn page_of_guide(rule: &misdeal_scan::Rule) -> String {
    let tested = fs::read_to_string(pages().join(format!("{}.md", rule.name))).unwrap();
    let snippets = tested.split_once("\n\n").unwrap().1.replace("```python", "```py");
    let [name, finds, why, fix] = [rule.name, rule.finds, rule.why, rule.fix];
    let (level, reach) = (rule.level.name(), rule.reach.name());
    format!(
        "# {name}\n\nLevel: {level}. Reach: {reach}.\n\n- **It finds** {finds}.\n- **It matters**: {why}.\n- **Fix**: {fix}.\n\n\
         A comment `# misdeal: ignore[{name}]` silences it on a line. The snippets below are its tests: `# found:` marks each finding.\n\n{snippets}"
    )
}

/// Each rule has a page in the guide, which SARIF links to. `MISDEAL_RENEW=1` writes them.
#[test]
fn the_guide_has_a_page_for_each_rule() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/rules");
    for rule in &RULES {
        let (path, page) = (folder.join(format!("{}.md", rule.name)), page_of_guide(rule));
        if std::env::var_os("MISDEAL_RENEW").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &page).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, page, "{}: renew it with MISDEAL_RENEW=1", path.display());
        assert!(rule.page().ends_with(&format!("/rules/{}.html", rule.name)));
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), RULES.len());
}
