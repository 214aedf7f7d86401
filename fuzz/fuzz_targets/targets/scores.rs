//! Files of scores.

use super::check_refusal;
use bytes::Bytes;
use misdeal_files::{Result, scores::fuzzing};
use std::path::Path;

fn judge(read: Result<Vec<f64>>) {
    match read {
        Ok(scores) => assert!(scores.iter().all(|score| score.is_finite())),
        Err(refusal) => check_refusal(&refusal.to_string()),
    }
}

pub fn npy(bytes: &[u8]) {
    judge(fuzzing::npy(Path::new("fuzzed.npy"), bytes, bytes.len() as u64));
}

pub fn csv(bytes: &[u8]) {
    judge(fuzzing::csv(Path::new("fuzzed.csv"), bytes, bytes.len() as u64));
}

pub fn parquet(bytes: &[u8]) {
    judge(fuzzing::parquet(Path::new("fuzzed.parquet"), Bytes::copy_from_slice(bytes)));
}
