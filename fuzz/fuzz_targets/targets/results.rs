//! Stored results, and the page that is made of them.

use super::check_refusal;
use misdeal_report::page;
use misdeal_results::Stored;

pub fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Stored::parse("fuzzed.json", text).and_then(|result| page(&[result])) {
        Ok(page) => assert!(page.contains("</html>")),
        Err(refusal) => check_refusal(&refusal.to_string()),
    }
}
