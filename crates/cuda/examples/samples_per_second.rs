//! How fast the engine is, from drawing to counts in a store, as one JSON document: `samples_per_second [DRAWS]`.

use misdeal_core::{BatchScheme, Error, PHILOX_STREAM_NAME, ScoreStore, Setting, StoreKind, Stream};
use misdeal_cuda::Cuda;
use misdeal_game::{Game, Outcome, Watch, play};
use std::time::Instant;

struct Nobody;

impl Watch for Nobody {
    type Error = Error;

    fn played(&self, _: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn rest(&self, _: &ScoreStore) -> Result<(), Error> {
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let draws = std::env::args().nth(1).and_then(|text| text.parse::<f64>().ok()).unwrap_or(4e12) as u64;
    let mut rows = vec![];
    let games = [
        (BatchScheme::Shuffle, 1.0, 100, draws),
        (BatchScheme::Shuffle, 0.5, 100, draws),
        (BatchScheme::Shuffle, 1.0, 1000, draws),
        (BatchScheme::BallsInBins, 1.0, 100, draws),
        (BatchScheme::Shuffle, 1.0, 10, draws / 20),
        (BatchScheme::StreamShuffle { buffer_size: 1000 }, 1.0, 100, draws / 20),
        (BatchScheme::Poisson, 1.0, 100, draws / 40),
    ];
    for (scheme, noise_multiplier, steps_per_epoch, draws) in games {
        let setting =
            Setting { scheme, noise_multiplier, steps_per_epoch, ..Setting::default() }.validated()?;
        let game = Game::with_stream(&setting, Stream::philox(&setting.hash()));
        let start = Instant::now();
        let engine = Cuda::new(&game)?;
        let ready = start.elapsed().as_secs_f64();
        let store = ScoreStore::new(setting.clone(), "cuda", PHILOX_STREAM_NAME, StoreKind::Counts)?;
        let trials = (draws / game.draws_per_trial() / 2).max(1000);
        let mut seconds = vec![];
        for part in 0..3 {
            let mut store = store.empty_like();
            let start = Instant::now();
            let outcome = play(&game, &engine, &mut store, part * trials..(part + 1) * trials, &Nobody)?;
            assert_eq!(outcome, Outcome::Finished);
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let observations = 2.0 * trials as f64;
        rows.push(format!(
            "{{\"scheme\": \"{}\", \"noise_multiplier\": {noise_multiplier}, \"steps_per_epoch\": {steps_per_epoch}, \
             \"observations\": {observations:e}, \"seconds\": {seconds:?}, \"seconds_to_get_ready\": {ready:.3}, \
             \"observations_per_second\": {:.4e}, \"samples_per_second\": {:.4e}}}",
            scheme.name(),
            observations / seconds[1],
            observations * game.draws_per_trial() as f64 / seconds[1],
        ));
    }
    println!("[{}]", rows.join(",\n "));
    Ok(())
}
