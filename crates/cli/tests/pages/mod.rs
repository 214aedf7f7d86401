//! Pages of the guide: their blocks of code, and how shown output stands for real output.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the checkout is.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// All files below `folder` that end in `.md`, in order.
pub fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = entries
        .flat_map(|path| match path.is_dir() {
            true if path.ends_with("book") => Vec::new(),
            true => markdown(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages
}

/// A fenced block of code.
#[derive(Debug, PartialEq)]
pub struct Block {
    /// What stands behind the fence.
    pub language: String,
    /// The file that a comment before it names.
    pub file: Option<String>,
    /// The lines between the fences.
    pub lines: Vec<String>,
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    let mut file = None;
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("<!-- file: ").and_then(|rest| rest.strip_suffix(" -->")) {
            file = Some(name.to_owned());
        } else if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
            blocks.push(Block { language: language.to_owned(), file: file.take(), lines: inside });
        }
    }
    blocks
}

/// A command of a console block, with the output that is shown.
#[derive(Debug, PartialEq)]
pub struct Shown {
    pub command: String,
    pub output: Vec<String>,
}

pub fn commands(block: &Block) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push(Shown { command: command.to_owned(), output: Vec::new() }),
            (None, Some(last)) => last.output.push(line.clone()),
            (None, None) => panic!("a console block begins with a command, not with {line}"),
        }
    }
    commands
}

/// Whether `real` is what `shown` shows: `...` is anything within a line, alone in a line any number of lines.
pub fn is_shown(shown: &[&str], real: &[&str]) -> bool {
    match (shown.split_first(), real.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => (0..=real.len()).any(|skipped| is_shown(rest, &real[skipped..])),
        (Some((first, rest)), Some((line, after))) => is_line(first, line) && is_shown(rest, after),
        _ => false,
    }
}

fn is_line(shown: &str, real: &str) -> bool {
    let (shown, real) = (shown.trim_end(), real.trim_end());
    let mut parts = shown.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = real.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// The targets of links in a page, outside of code.
pub fn links(page: &str) -> Vec<String> {
    let mut is_code = false;
    let text = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        !is_code && !fence
    });
    let text: Vec<String> = text.map(|line| line.split('`').step_by(2).collect()).collect();
    let text = text.join("\n");
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}
