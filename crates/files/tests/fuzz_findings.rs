//! What fuzzing found stays found: every file of `testdata/fuzzing` is refused on one line. A new finding is a new file there.

use misdeal_files::{Error, batch_log, scores, stores};
use std::path::Path;

/// Words of what is said of every Parquet file: one that another check comes to refuse first no longer tests its own, and should be told here.
/// The same claims in files without another fault are in `parquet_claims.rs`.
const REFUSED_FOR: [(&str, &str); 12] = [
    ("many-booleans", "more than there can be"),
    ("booleans-in-page-header", "more than there can be"),
    ("endless-list", "more than there can be"),
    ("field-of-another-kind", "another kind"),
    ("statistics-of-another-kind", "another kind"),
    ("large-dictionary", "another kind"),
    ("large-page", "another kind"),
    ("long-size-of-page", "another kind"),
    ("no-dictionary", "another kind"),
    ("number-beyond-all-fields", "no kind that there is"),
    ("size-of-page-elsewhere", "a page claims"),
    ("offset-below-0", "it is damaged"),
];

#[test]
fn findings_are_refused_on_one_line() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzzing");
    let (mut seen, mut of_parquet) = (0, 0);
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
        let refusals: Vec<String> = refusals
            .into_iter()
            .map(|refusal| refusal.unwrap_or_else(|| panic!("{} was read", path.display())).to_string())
            .collect();
        assert!(refusals.iter().all(|refusal| !refusal.contains('\n')), "{refusals:?}");
        if extension == "parquet" {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let (_, words) = REFUSED_FOR.iter().find(|(told, _)| *told == name).expect(&name);
            assert!(refusals.iter().any(|refusal| refusal.contains(words)), "{name}: {refusals:?}");
            of_parquet += 1;
        }
        seen += refusals.len();
    }
    assert_eq!(of_parquet, REFUSED_FOR.len());
    assert!(seen >= 20, "{seen}");
}
