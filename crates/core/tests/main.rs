//! The vocabulary, tested from outside.

mod canary_auditor;
