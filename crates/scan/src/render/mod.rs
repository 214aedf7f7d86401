//! How findings are printed.

mod github;
mod json;
mod sarif;
mod text;

pub use github::github;
pub use json::{json, rules_json, survey_json};
pub use sarif::sarif;
pub use text::{explanation, rule_list, survey_text, text};
