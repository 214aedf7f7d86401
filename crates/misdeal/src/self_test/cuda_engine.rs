//! The engine of graphics processors against the reference on the same stream, trial by trial, on the games of the suite.

use super::Found;
use super::engines::{Expected, Suite};
use misdeal_core::Stream;
use misdeal_cuda::Cuda;
use misdeal_game::Game;

/// The games that are played: every so many of the suite, since a device is made ready for each.
const EVERY: usize = 2;

pub(super) fn check(seed: u64) -> Found {
    let suite = Suite::read()?;
    let mut largest: f64 = 0.0;
    let mut games = 0;
    for (setting, trials, _) in suite.games(seed)?.into_iter().step_by(EVERY) {
        let game = Game::with_stream(&setting, Stream::philox(&setting.hash()));
        // A game that the device refuses is refused in an audit too.
        let engine = match Cuda::new(&game) {
            Ok(engine) => engine,
            Err(misdeal_core::Error::BadValue { .. }) => continue,
            Err(error) => return Err(error.to_string()),
        };
        let expected = Expected::by_reference(&game, trials)?;
        largest = largest.max(suite.compare(&engine, &expected, &setting)?);
        games += 1;
    }
    if games == 0 {
        return Err("the device plays none of the suite's games".into());
    }
    Ok(format!("{games} games agree with the reference, to {largest:.2} of the tolerance"))
}
