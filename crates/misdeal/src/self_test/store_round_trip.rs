//! Stores survive the disk bit by bit, and damaged ones are refused.

use super::Found;
use crate::{EngineChoice, MechanismRequest, RunRequest, Unwatched, play_part};
use misdeal_core::ClosedSet;
use misdeal_core::{ScoreStore, Setting, StoreKind};
use misdeal_files::stores;

pub(super) fn check(seed: u64) -> Found {
    let folder = tempfile::tempdir().map_err(super::told)?;
    let path = folder.path().join("self-test.store");
    let mut bytes_compared = 0;
    for kind in [StoreKind::Counts, StoreKind::Exact] {
        let run = RunRequest { scores: kind, ..RunRequest::new(4_000) };
        let setting = Setting { seed, ..Setting::default() };
        let request = MechanismRequest { setting, engine: EngineChoice::named("cpu"), run };
        let store = play_part(&request, 3..1_001, &Unwatched).map_err(super::told)?;
        stores::write(&path, &store).map_err(super::told)?;
        let back = stores::read(&path).map_err(super::told)?;
        let bytes = store.to_bytes();
        if back != store || back.to_bytes() != bytes {
            return Err(format!("a store of {} came back changed", kind.name()));
        }
        let step = bytes.len() / 64 + 1;
        for place in (0..bytes.len()).step_by(step) {
            let mut altered = bytes.clone();
            altered[place] ^= 1 << (place % 8);
            if ScoreStore::from_bytes(&altered).is_ok() {
                return Err(format!("a store of {} was read although byte {place} is altered", kind.name()));
            }
        }
        bytes_compared += bytes.len();
    }
    Ok(format!("{bytes_compared} bytes came back as they were; altered ones were refused"))
}
