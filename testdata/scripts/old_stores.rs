//! Writes `testdata/stores`: stores of format version 1, which does not say how scores were judged.
//!
//! Needs the last commit whose program wrote that version: the one before "Require stated coins, remember judgements, test only claimed curves". There, make
//! this file the `main.rs` of a package with the dependencies `misdeal-core` and `misdeal-game`, and run it in this repository's root.

use misdeal_core::{STREAM_NAME, ScoreStore, Setting, StoreKind};
use misdeal_game::{Game, Watch, engines, play};

struct Nobody;

impl Watch for Nobody {
    type Error = misdeal_core::Error;

    fn played(&self, _: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn rest(&self, _: &ScoreStore) -> Result<(), Self::Error> {
        Ok(())
    }
}

fn main() {
    let setting = Setting { steps_per_epoch: 5, seed: 3, ..Setting::default() };
    let game = Game::new(&setting);
    let engine = engines::choose(&game, "auto").unwrap();
    for (kind, name) in [(StoreKind::Counts, "counts"), (StoreKind::Exact, "exact")] {
        let mut store = ScoreStore::new(setting.clone(), engine.lineage(), STREAM_NAME, kind).unwrap();
        play(&game, engine.as_ref(), &mut store, 0..100, &Nobody).unwrap();
        std::fs::write(format!("testdata/stores/{name}.v1"), store.to_bytes()).unwrap();
    }
}
