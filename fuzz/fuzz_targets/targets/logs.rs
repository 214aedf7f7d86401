//! Logs of batches.

use super::check_refusal;
use bytes::Bytes;
use misdeal_files::Result;
use misdeal_files::batch_log::{BatchLog, fuzzing};
use std::path::Path;

fn judge(read: Result<BatchLog>) {
    match read {
        Ok(log) => assert_eq!(log.iter().map(|(_, records)| records.len()).sum::<usize>(), log.entries()),
        Err(refusal) => check_refusal(&refusal.to_string()),
    }
}

pub fn json_lines(bytes: &[u8]) {
    judge(fuzzing::json_lines(Path::new("fuzzed.jsonl"), bytes, bytes.len() as u64));
}

pub fn npy(bytes: &[u8]) {
    judge(fuzzing::npy(Path::new("fuzzed.npy"), bytes, bytes.len() as u64));
}

pub fn parquet(bytes: &[u8]) {
    judge(fuzzing::parquet(Path::new("fuzzed.parquet"), Bytes::copy_from_slice(bytes)));
}
