//! Score stores.

use super::check_refusal;
use misdeal_core::ScoreStore;

/// Bytes as they are: most have a seal that does not fit.
pub fn store(bytes: &[u8]) {
    match ScoreStore::from_bytes(bytes) {
        Ok(store) => {
            // What was accepted can be written, and reads as the same.
            assert!(ScoreStore::from_bytes(&store.to_bytes()).is_ok_and(|again| again == store));
            let mut merged = store.empty_like();
            assert!(merged.merge(store).is_ok());
        }
        Err(refusal) => check_refusal(&refusal.to_string()),
    }
}

/// Bytes with their own seal behind them, so that what is before the seal is looked at.
pub fn sealed(bytes: &[u8]) {
    let seal = blake3::hash(bytes);
    store(&[bytes, seal.as_bytes()].concat());
}
