//! The games of `testdata/engines.toml`, with a graphics processor's stream.

use misdeal_core::{BatchScheme, Setting, Stream, ThreatModel, World};
use misdeal_game::Game;
use misdeal_game::engines::Engine;
use misdeal_game::engines::reference::Reference;

#[derive(serde::Deserialize)]
pub struct Suite {
    /// Allowed difference from the reference: `absolute`, for every eight epochs, or `relative` times the score's size.
    absolute: f64,
    relative: f64,
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    scheme: String,
    buffer_size: Option<u64>,
    adversary_scheme: Option<String>,
    threat_model: ThreatModel,
    noise_multiplier: f64,
    steps_per_epoch: u64,
    epochs: u64,
    batch_size: u64,
    #[serde(default)]
    target_index: u64,
    trials: u64,
}

impl Case {
    fn setting(&self) -> Setting {
        let scheme = |name: &str| {
            let buffered = BatchScheme::has_buffer(name);
            BatchScheme::from_name(name, self.buffer_size.filter(|_| buffered)).unwrap()
        };
        Setting {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps_per_epoch,
            epochs: self.epochs,
            batch_size: self.batch_size,
            scheme: scheme(&self.scheme),
            threat_model: self.threat_model,
            target_index: self.target_index,
            adversary_scheme: self.adversary_scheme.as_deref().map(scheme),
            ..Setting::default()
        }
        .validated()
        .unwrap()
    }
}

/// A game with a graphics processor's stream.
pub fn game(setting: &Setting) -> Game {
    Game::with_stream(setting, Stream::philox(&setting.hash()))
}

/// Every game of the suite, none left out, trial by trial against the reference on the same stream. Gives the largest error
/// as a share of what is allowed.
pub fn agrees_with_the_reference(
    most_trials: u64,
    engine: impl for<'a> Fn(&'a Game) -> Box<dyn Engine + 'a>,
) -> f64 {
    let suite: Suite = toml::from_str(include_str!("../../../../testdata/engines.toml")).unwrap();
    assert!(suite.case.len() >= 50);
    let mut largest: f64 = 0.0;
    for case in &suite.case {
        let setting = case.setting();
        let game = game(&setting);
        let engine = engine(&game);
        let absolute = suite.absolute * (setting.epochs as f64 / 8.0).max(1.0);
        for world in World::BOTH {
            let trials = 5..5 + case.trials.min(most_trials);
            let mut expected = vec![0.0; (trials.end - trials.start) as usize];
            let mut scores = expected.clone();
            Reference::new(&game).score(world, trials.clone(), &mut expected);
            engine.score(world, trials.clone(), &mut scores);
            for ((trial, ours), exact) in trials.zip(scores).zip(expected) {
                let share = (ours - exact).abs() / absolute.max(suite.relative * exact.abs());
                assert!(share < 1.0, "{world:?}, trial {trial} of {setting:?}: {ours} for {exact}");
                largest = largest.max(share);
            }
        }
    }
    largest
}
