//! Python sources and notebooks, with every rule awake.

use super::deep::on_a_deep_stack;
use misdeal_scan::{Settings, scan_source};

fn scan(path: &'static str, bytes: &[u8]) {
    let Ok(text) = String::from_utf8(bytes.to_vec()) else { return };
    on_a_deep_stack(Box::new(move || {
        let settings = Settings { assume_private: true, ..Settings::default() };
        if let Ok(report) = scan_source(path, &text, &settings) {
            for finding in &report.findings {
                assert!(finding.line > 0 && finding.column > 0, "{finding:?}");
            }
        }
    }));
}

pub fn python(bytes: &[u8]) {
    scan("fuzzed.py", bytes);
}

pub fn notebook(bytes: &[u8]) {
    scan("fuzzed.ipynb", bytes);
}
