//! Documents and their schemas.

mod documents;
mod schemas;
