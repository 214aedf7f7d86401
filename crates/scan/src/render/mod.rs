//! How findings are printed.

mod github;
mod json;
mod sarif;
mod text;

pub use github::github;
pub use json::{document, rules_document, survey_document};
pub use sarif::sarif;
pub use text::{explanation, rule_list, survey_text, text};
