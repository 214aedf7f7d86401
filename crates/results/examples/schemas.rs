//! Writes `docs/schema` anew: `cargo run -p misdeal-results --example schemas`.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for (name, schema) in misdeal_results::schemas() {
        fs::write(folder.join(format!("{name}.v2.json")), format!("{schema:#}\n"))?;
    }
    Ok(())
}
