//! The secret that decides all batches.

use std::fmt;

/// 256 secret bits. They are never printed, not even by `Debug`.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed of 32 bytes, which must be random and secret.
    pub fn new(secret: [u8; 32]) -> Self {
        Seed(secret)
    }

    /// The seed of a number. It voids privacy against whoever knows the number or guesses it.
    pub fn from_number(number: u64) -> Self {
        Seed(blake3::derive_key("misdeal deal 2026 seed from a number", &number.to_le_bytes()))
    }

    /// A key for one use of the seed. Keys of different words are independent.
    pub(super) fn key(&self, words: &str) -> [u8; 32] {
        let mut material = blake3::Hasher::new_derive_key("misdeal deal 2026 key of a plan");
        material.update(&self.0).update(words.as_bytes());
        *material.finalize().as_bytes()
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(secret)")
    }
}
