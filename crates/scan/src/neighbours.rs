//! Definitions in other files of a repository: functions that a private module imports.
//!
//! A file is followed only from a module that names a library for differential privacy, and only one import deep. Findings are
//! always in the module itself.

use crate::flow::Function;
use crate::module::{Module, Syntax};
use crate::role::words;
use crate::rules::{Given, Poisson, Trainings, accounts_for_poisson};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Largest number of files that are followed, and of their bytes together.
const MOST_FILES: usize = 16;
const MOST_BYTES: u64 = 400_000;
/// The mark of a module whose names are all imported.
const STAR: &str = " *";
/// Largest number of folders above a file that are searched.
const MOST_FOLDERS: usize = 5;
/// Limit of effort for one file.
const MOST_EFFORT: usize = 200_000;
/// Words in names of functions that account for privacy.
const ACCOUNTING: [&str; 10] =
    ["account", "accountant", "budget", "eps", "epsilon", "mu", "noise", "privacy", "rdp", "sigma"];
/// Words of modules that are worth following.
const PRIVATE: [&str; 12] = [
    "PrivacyEngine",
    "accountant",
    "autodp",
    "compute_rdp",
    "dp_accounting",
    "fastDP",
    "jax_privacy",
    "noise_multiplier",
    "opacus",
    "prv_accountant",
    "rdp",
    "tensorflow_privacy",
];

/// A file that a module imports, under the name of the import.
#[derive(Debug)]
pub struct Neighbour {
    /// The name of the module in the import, with leading dots.
    name: String,
    /// The text.
    pub source: Source,
}

/// What a module imports from its neighbours, by full name.
#[derive(Debug, Default)]
pub struct Neighbours<'a> {
    /// Results of functions.
    pub functions: HashMap<String, Rc<Function<'a>>>,
    /// Parameters of functions that train.
    pub trains: HashMap<String, Vec<Given<'a>>>,
    /// Functions that sample by Poisson.
    pub poisson: HashSet<String>,
    /// Functions that account for Poisson sampling.
    pub accounts: HashSet<String>,
}

/// Finds the files that a private module imports.
pub fn find(path: &Path, text: &str) -> Vec<Neighbour> {
    let mut found: Vec<Neighbour> = Vec::new();
    if !PRIVATE.iter().any(|word| text.contains(word)) {
        return found;
    }
    let folders = folders(path);
    let mut left = MOST_BYTES;
    for name in imported(text) {
        if found.len() >= MOST_FILES {
            break;
        }
        if found.iter().any(|known| known.name == name) {
            continue;
        }
        let module = name.strip_suffix(STAR).unwrap_or(&name);
        let Some(source) = candidates(&folders, module).find_map(|file| read(&file, path, &mut left)) else {
            continue;
        };
        found.push(Neighbour { name, source });
    }
    found
}

/// The folder of a file, and those above it up to the root of its repository.
fn folders(path: &Path) -> Vec<PathBuf> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let above: Vec<&Path> = path.ancestors().skip(1).take(MOST_FOLDERS).collect();
    let root = above.iter().position(|folder| folder.join(".git").exists());
    // Without a repository, only the file's own folder and the one above are searched.
    let count = root.map_or(2, |root| root + 1);
    above.into_iter().take(count).map(Path::to_owned).collect()
}

/// The names of the modules in import statements, judged by lines.
fn imported(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("from ") {
            let Some((module, items)) = rest.split_once(" import ") else { continue };
            let module = module.trim();
            if items.trim_start().starts_with('*') {
                names.push(format!("{module}{STAR}"));
            }
            names.push(module.to_owned());
            let items =
                items.trim_start_matches('(').split(',').filter_map(|item| item.split_whitespace().next());
            let dot = if module.ends_with('.') { "" } else { "." };
            names.extend(items.map(|item| format!("{module}{dot}{item}")));
        } else if let Some(rest) = line.strip_prefix("import ") {
            names
                .extend(rest.split(',').filter_map(|item| item.split_whitespace().next()).map(str::to_owned));
        }
    }
    names
        .retain(|name| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '.'));
    names.truncate(200);
    names
}

/// The files that may be a module, the nearest first.
fn candidates(folders: &[PathBuf], name: &str) -> impl Iterator<Item = PathBuf> {
    let dots = name.len() - name.trim_start_matches('.').len();
    let path = name.trim_start_matches('.').replace('.', "/");
    let searched: Vec<PathBuf> = match dots {
        0 => folders.to_vec(),
        _ => folders.get(dots - 1).into_iter().cloned().collect(),
    };
    let is_empty = path.is_empty();
    let files = searched.into_iter().flat_map(move |folder| {
        let at = folder.join(&path);
        [at.with_extension("py"), at.join("__init__.py")]
    });
    files.filter(move |_| !is_empty)
}

/// Reads a file that is small enough, and is not the module itself.
fn read(file: &Path, own: &Path, left: &mut u64) -> Option<Source> {
    if !file.is_file() || std::path::absolute(own).ok().as_deref() == Some(file) {
        return None;
    }
    let (reader, size) = misdeal_files::input::open(file).ok()?;
    if size > *left {
        return None;
    }
    *left -= size;
    let mut bytes = Vec::new();
    reader.take(size).read_to_end(&mut bytes).ok()?;
    Source::of_bytes(file, &bytes).ok()
}

impl<'a> Neighbours<'a> {
    /// Reads the functions of neighbouring files.
    pub fn of(files: &'a [(Neighbour, Syntax)]) -> Self {
        let mut all = Neighbours::default();
        for (file, syntax) in files {
            let (module, functions) = syntax.read_functions(&file.source, MOST_EFFORT);
            if module.facts.too_deep || module.facts.too_many_ways {
                continue;
            }
            all.add(&file.name, &module, functions);
        }
        all
    }

    fn add(&mut self, name: &str, module: &Module<'a>, functions: HashMap<String, Rc<Function<'a>>>) {
        // `from utils import *` gives functions under their own names.
        let full = |function: &str| match name.strip_suffix(STAR) {
            Some(_) => function.to_owned(),
            None => format!("{name}.{function}"),
        };
        self.functions.extend(functions.into_iter().map(|(function, result)| (full(&function), result)));
        let trained = Trainings::of(module).parameters(module);
        self.trains.extend(trained.into_iter().map(|(function, given)| (full(function), given)));
        let poisson = Poisson::of(module);
        for function in &module.facts.functions {
            let own = function.name.as_str();
            if poisson.samples_in(own) {
                self.poisson.insert(full(own));
            }
        }
        for call in module.facts.calls.iter().filter(|call| accounts_for_poisson(module, call)) {
            let graph = module.graph();
            let callers = graph.callers(&call.place);
            let speaks = |name: &&str| words(name).iter().any(|word| ACCOUNTING.contains(&word.as_str()));
            self.accounts.extend(callers.into_iter().filter(speaks).map(full));
        }
    }
}
