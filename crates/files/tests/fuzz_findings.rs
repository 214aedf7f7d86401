//! What fuzzing found stays found: every file of `testdata/fuzzing` is refused on one line. A new finding is a new file there.

use misdeal_files::{Error, batch_log, scores, stores};
use std::path::Path;

#[test]
fn findings_are_refused_on_one_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzzing");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let mut refusals: Vec<Option<Error>> = Vec::new();
        if ["parquet", "npy", "csv"].contains(&extension) {
            refusals.push(scores::read(&path).err());
        }
        if ["parquet", "npy", "jsonl"].contains(&extension) {
            refusals.push(batch_log::read(&path).err());
        }
        if extension == "store" {
            refusals.push(stores::read(&path).err());
        }
        assert!(!refusals.is_empty(), "{}: nobody here reads such files", path.display());
        for refusal in refusals {
            let refusal = refusal.unwrap_or_else(|| panic!("{} was read", path.display())).to_string();
            assert!(!refusal.contains('\n'), "{refusal}");
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
}
