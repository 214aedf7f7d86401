//! Every dependency has its reason in CONTRIBUTING.md, and every duplicate its own in deny.toml.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn table(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn is_ours(name: &str) -> bool {
    name == "misdeal" || name.starts_with("misdeal-")
}

/// The names of what a package asks for directly, whatever for.
fn direct(manifest: &Table) -> BTreeSet<String> {
    let mut tables: Vec<&Table> = vec![manifest];
    tables.extend(
        manifest
            .get("target")
            .and_then(Value::as_table)
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table),
    );
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let listed =
        tables.iter().flat_map(|table| sections.map(|section| table.get(section).and_then(Value::as_table)));
    listed.flatten().flat_map(Table::keys).filter(|name| !is_ours(name)).cloned().collect()
}

#[test]
fn each_has_its_reason() {
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, reasons) = contributing.split_once("## Dependencies").expect("there is a list");
    let mut manifests: Vec<_> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("Cargo.toml"))
        .collect();
    manifests.push(root().join("fuzz/Cargo.toml"));
    let all: BTreeSet<_> = manifests.iter().flat_map(|manifest| direct(&table(manifest))).collect();
    assert!(all.len() > 30, "{all:?}");
    let missing: Vec<_> = all.iter().filter(|name| !reasons.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "without a reason in CONTRIBUTING.md: {missing:?}");
}

/// What a crate asks for, it uses.
#[test]
fn each_is_used_where_it_is_listed() {
    let mut unused = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let sources: String = ["src", "tests", "benches", "examples"]
            .iter()
            .flat_map(|part| sources(&folder.join(part)))
            .chain(fs::read_to_string(folder.join("build.rs")))
            .collect();
        let manifest = table(&folder.join("Cargo.toml"));
        let by_macro = |name: &str| {
            ["schemars", "serde", "strum"].contains(&name) && sources.contains("misdeal_core::closed_set!")
        };
        let is_used = |name: &String| sources.contains(&name.replace('-', "_")) || by_macro(name);
        unused.extend(
            direct(&manifest).into_iter().filter(|name| !is_used(name)).map(|name| (folder.clone(), name)),
        );
    }
    assert!(unused.is_empty(), "{unused:?}");
}

fn sources(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let files = entries.map(|entry| entry.unwrap().path());
    files
        .flat_map(|path| match path.extension() {
            _ if path.is_dir() => sources(&path),
            Some(extension) if extension == "rs" => vec![fs::read_to_string(&path).unwrap()],
            _ => Vec::new(),
        })
        .collect()
}

/// Files that the documents at the root name are there.
#[test]
fn documents_name_files_that_exist() {
    let mut missing = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "SECURITY.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let named = text.split('`').skip(1).step_by(2).filter(|word| {
            let is_path =
                word.starts_with("crates/") || word.starts_with("testdata/") || word.starts_with("bench/");
            is_path && !word.contains(|c: char| c.is_whitespace() || "*<{".contains(c))
        });
        missing
            .extend(named.filter(|path| !root().join(path).exists()).map(|path| (document, path.to_owned())));
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn duplicates_are_known() {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in table(&root().join("Cargo.lock"))["package"].as_array().unwrap() {
        let text = |key: &str| package[key].as_str().unwrap().to_owned();
        versions.entry(text("name")).or_default().push(text("version"));
    }
    let deny = table(&root().join("deny.toml"));
    let skipped: Vec<_> =
        deny["bans"]["skip"].as_array().unwrap().iter().map(|skip| skip["crate"].as_str().unwrap()).collect();
    let is_skipped = |name: &str, version: &str| {
        skipped.iter().any(|skip| {
            skip.split_once(':').is_some_and(|(of, prefix)| {
                of == name && (version.starts_with(&format!("{prefix}.")) || version == prefix)
            })
        })
    };
    for (name, found) in versions.iter().filter(|(_, found)| found.len() > 1) {
        let left = found.iter().filter(|version| !is_skipped(name, version)).count();
        assert_eq!(left, 1, "{name} is there in the versions {}: say why in deny.toml", found.join(", "));
    }
    for skip in &skipped {
        let name = skip.split(':').next().unwrap();
        assert!(versions.get(name).is_some_and(|found| found.len() > 1), "{skip} is no duplicate any more");
    }
}

/// The packages of the workspace, as `cargo metadata` has them.
fn packages() -> Vec<serde_json::Value> {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

/// The name of a package without what all names begin with.
fn room(package: &serde_json::Value) -> String {
    let name = package["name"].as_str().unwrap();
    name.strip_prefix("misdeal-").unwrap_or(name).to_owned()
}

/// The table of rooms in ARCHITECTURE.md is what `cargo metadata` says.
#[test]
fn rooms_use_what_the_table_says() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rooms) = architecture.split_once("| room | holds | uses of ours |").expect("there is a table");
    let names =
        |cell: &str| -> BTreeSet<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut told = BTreeMap::new();
    for line in rooms.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let room = names(cells[0]).into_iter().next().expect("a room has a name");
        told.insert(room, names(cells.last().expect("a row has cells")));
    }
    let mut found = BTreeMap::new();
    for package in packages() {
        let uses = package["dependencies"].as_array().unwrap().iter();
        let uses = uses.filter(|one| one["kind"].is_null() && is_ours(one["name"].as_str().unwrap()));
        found.insert(room(&package), uses.map(room).collect());
    }
    assert_eq!(told, found);
}

/// A file of tests that no program names would never run.
#[test]
fn every_file_of_tests_is_in_a_program() {
    let mut forgotten = Vec::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(files) = fs::read_dir(folder.join("tests")) else { continue };
        let files = files.map(|file| file.unwrap().path());
        let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "rs")).collect();
        let manifest = table(&folder.join("Cargo.toml"));
        let listed = manifest.get("test").and_then(Value::as_array).into_iter().flatten();
        let programs: Vec<_> = listed.map(|test| folder.join(test["path"].as_str().unwrap())).collect();
        let named: String = programs.iter().map(|program| fs::read_to_string(program).unwrap()).collect();
        let is_named = |file: &Path| {
            let module = format!("mod {};\n", file.file_stem().unwrap().to_str().unwrap());
            programs.iter().any(|program| program == file) || named.contains(&module)
        };
        forgotten.extend(files.into_iter().filter(|file| !is_named(file)));
    }
    assert!(forgotten.is_empty(), "name them in their crate's tests/main.rs: {forgotten:?}");
}
