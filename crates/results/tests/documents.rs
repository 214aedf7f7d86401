//! Documents are written and read back, those of version 1 too.

use misdeal_results::{Document, LoggedScheme, Stored};
use misdeal_statistics::Guarantee;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The JSON files below a folder.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = paths.flat_map(|path| if path.is_dir() { documents(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// The document of a file, which is the same when it was written by this version and read again.
fn read(path: &Path) -> Document {
    let name = path.display().to_string();
    let stored = Stored::parse(&name, &fs::read_to_string(path).unwrap()).unwrap();
    let again = Stored::parse(&name, &stored.document.to_json()).unwrap();
    assert_eq!(stored.document, again.document, "{name}");
    stored.document
}

#[test]
fn documents_of_version_1_are_read_with_their_verdicts() {
    let paths = documents(&root().join("testdata/documents"));
    assert_eq!(paths.len(), 13);
    for path in paths {
        let document = read(&path);
        let old: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(old["schema_version"], 1);
        match (&old["verdict"], document.verdict()) {
            (Value::Object(old), Some(verdict)) => {
                let new = serde_json::to_value(&verdict).unwrap();
                // Flags have become words since.
                let sentence = old["sentence"].as_str().unwrap().replace("--estimator", "the estimator");
                assert_eq!(
                    (&old["kind"], sentence.as_str()),
                    (&new["kind"], new["sentence"].as_str().unwrap())
                );
            }
            (Value::String(old), Some(verdict)) => assert!(verdict.sentence.starts_with(old), "{verdict:?}"),
            _ => assert!(old["verdict"].is_null(), "{path:?}"),
        }
    }
}

#[test]
fn guarantees_of_version_1_are_understood() {
    let read = |name: &str| read(&root().join(format!("testdata/documents/{name}.v1.json")));
    let Document::Estimate(one) = read("estimate") else { panic!() };
    assert_eq!(one.estimate.unwrap().guarantee_kind, Guarantee::Approximate);
    let Document::Estimate(all) = read("estimate-all") else { panic!() };
    assert_eq!(all.counted().unwrap().guarantee_kind, Guarantee::AnyMechanism);
    let Document::AuditMechanism(max) = read("audit-mechanism-max") else { panic!() };
    assert_eq!((max.estimate.guarantee_kind, max.estimate.objection), (Guarantee::Nothing, None));
    let Document::AuditMechanism(search) = read("audit-mechanism") else { panic!() };
    assert!(search.estimate.objection.unwrap().ends_with("not a valid bound"));
    let Document::AuditTraining(training) = read("audit-training") else { panic!() };
    assert!(training.training.is_some_and(|training| training.recipe.canaries == 3));
    let Document::Diagnose(found) = read("diagnose") else { panic!() };
    assert!(found.diagnosis.scheme == LoggedScheme::Unknown && found.excess().is_some());
}

/// The runs that the project's own documents quote.
#[test]
fn kept_runs_are_read() {
    let runs = documents(&root().join("paper/runs"));
    let is_document = |path: &&PathBuf| fs::read_to_string(path).unwrap().contains("\"schema_version\"");
    let count = runs.iter().filter(is_document).map(|path| read(path)).count();
    assert!(count >= 20, "{count}");
}
