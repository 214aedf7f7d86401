//! Bounds over their whole domain, and estimators against published tools.

mod canary_auditor;
mod whole_domain;
