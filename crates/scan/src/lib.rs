//! Finds mistakes in Python programs' batch formation that cost privacy.
//!
//! ```
//! use misdeal_scan::{Settings, scan_source};
//!
//! let source = "import tensorflow as tf\ndata = tf.data.Dataset.range(1000).batch(10).shuffle(100)\n";
//! let report = scan_source("train.py", source, &Settings::default()).unwrap();
//! assert_eq!((report.findings[0].rule.as_str(), report.findings[0].line), ("batch-before-shuffle", 2));
//! ```
//!
//! The items in the order of use: [`Settings`] switch rules on. [`scan`] reads files and notebooks ([`scan_source`] reads a text).
//! `flow` derives facts from the syntax tree. [`Rule`]s check the facts. [`render`] prints the [`Finding`]s of a [`Report`].

mod calls;
pub mod edits;
mod error;
mod files;
mod flow;
mod libraries;
mod lookups;
mod module;
mod neighbours;
mod nesting;
mod notebook;
pub mod render;
mod role;
mod rules;
mod scanning;
mod settings;
mod source;
mod suppression;
mod survey;
mod weight;

pub use error::Error;
pub use rules::{RULES, Reach, Rule, by_name};
pub use scanning::{Report, scan, scan_source};
pub use settings::Settings;
