//! The files in `docs/schema` are those that the types give.

use std::fs;
use std::path::Path;

#[test]
fn schemas_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let schemas = misdeal_results::schemas();
    for (name, schema) in &schemas {
        let kept = fs::read_to_string(folder.join(format!("{name}.v2.json"))).unwrap_or_default();
        let stale = "is stale: cargo run -p misdeal-results --example schemas";
        assert!(kept == format!("{schema:#}\n"), "docs/schema/{name}.v2.json {stale}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), schemas.len(), "a file of no document");
}
