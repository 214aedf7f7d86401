//! Refuses runs that would not fit into memory.

use crate::Result;
use misdeal_core::{Error, StoreKind};
use std::fs;
use std::path::Path;

/// Bytes per observation of a run with exact scores: eight for the score, and some for merging stores.
///
/// The measured value is 8.5, with all threshold choices, saved and resumed.
const BYTES_PER_EXACT_SCORE: u64 = 10;

/// Bytes that a run takes besides its scores.
const BESIDE: u64 = 64 << 20;

/// Refuses a run whose scores do not fit into free memory. Without this check, the system would end the run.
///
/// Counts take the same memory for any number of observations. If the system does not report its free memory, nothing is refused.
///
/// # Errors
/// The run does not fit. The message says how much is needed, how much there is, and what to do.
pub(crate) fn check(kind: StoreKind, observations: u64) -> Result<()> {
    match available() {
        Some(available) if kind == StoreKind::Exact => check_exact(observations, available),
        _ => Ok(()),
    }
}

fn check_exact(observations: u64, available: u64) -> Result<()> {
    let needed = observations.saturating_mul(BYTES_PER_EXACT_SCORE).saturating_add(BESIDE);
    if needed <= available {
        return Ok(());
    }
    let most = available.saturating_sub(BESIDE) / BYTES_PER_EXACT_SCORE / 2 * 2;
    let allowed = format!("counts, or at most {most} observations here");
    let hint = format!(
        "all scores of {observations} observations take {} and {} are free; `scores` counts takes a few megabytes for any number, and `shard` \
         splits a run",
        in_words(needed),
        in_words(available)
    );
    Err(Error::bad_value("scores", "exact", allowed, hint).into())
}

fn in_words(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Returns the bytes that this process can take without pushing others out of memory.
///
/// The answer depends on what the system calls available, and on what the process's control group may still take.
fn available() -> Option<u64> {
    let of_system = fs::read_to_string("/proc/meminfo").ok().as_deref().and_then(available_in);
    let number = |path: &Path| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = Path::new("/sys/fs/cgroup");
    let of_group = number(&group.join("memory.max"))
        .map(|most| most.saturating_sub(number(&group.join("memory.current")).unwrap_or(0)));
    match (of_system, of_group) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Reads the line `MemAvailable:   1234 kB` and returns bytes.
fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_the_numbers() {
        let gib = 1 << 30;
        assert!(check_exact(1_000_000, gib).is_ok());
        assert!(check_exact(60_000_000, gib).is_ok());
        let message = check_exact(1_000_000_000, gib).unwrap_err().to_string();
        for words in ["scores", "exact", "9.4 GiB", "1.0 GiB", "at most 100663296", "`scores` counts"] {
            assert!(message.contains(words), "{words}: {message}");
        }
        assert!(check_exact(u64::MAX, 0).is_err());
        assert!(check(StoreKind::Counts, u64::MAX).is_ok());
    }

    #[test]
    fn reads_what_linux_says() {
        let text = "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   2000 kB\n";
        assert_eq!(available_in(text), Some(2_048_000));
        for text in ["", "MemAvailable:", "MemAvailable: x kB", "MemAvailable: 99999999999999999999 kB"] {
            assert_eq!(available_in(text), None, "{text}");
        }
    }
}
