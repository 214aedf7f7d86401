//! Rules against pages of snippets.

mod pages;
mod robustness;
