//! Files from others: read whole or refused.

mod fuzz_findings;
mod parquet_claims;
mod parquet_types;
