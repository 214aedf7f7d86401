//! Plays audits without the theory that a report puts beside them, which would take most of the time here.

use misdeal_core::{Error, STREAM_NAME, ScoreStore, Setting, StoreKind};
use misdeal_game::{Game, Outcome, Watch, engines, play};

struct Nobody;

impl Watch for Nobody {
    type Error = Error;

    fn played(&self, _trials: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn rest(&self, _store: &ScoreStore) -> Result<(), Error> {
        Ok(())
    }
}

/// The store of an audit.
pub fn played(setting: Setting, kind: StoreKind, observations: u64) -> ScoreStore {
    let setting = setting.validated().unwrap();
    let game = Game::new(&setting);
    let engine = engines::choose(&game, "auto").unwrap();
    let mut store = ScoreStore::new(setting.clone(), engine.lineage(), STREAM_NAME, kind).unwrap();
    let outcome = play(&game, engine.as_ref(), &mut store, 0..observations / 2, &Nobody).unwrap();
    assert_eq!(outcome, Outcome::Finished);
    store
}
