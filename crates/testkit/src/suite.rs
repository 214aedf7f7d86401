//! The games of `testdata/engines.toml`, which every engine must play as the reference does.

use misdeal_core::{BatchScheme, Setting, Stream, ThreatModel, World};
use misdeal_game::Game;
use misdeal_game::engines::Engine;
use misdeal_game::engines::reference::Reference;

/// All games, and how far engines may be from the reference.
#[derive(serde::Deserialize)]
pub struct Suite {
    /// Allowed difference, for every eight epochs where a device adds up in single precision.
    pub absolute: f64,
    /// Allowed difference as a share of the score's size, where that is more.
    pub relative: f64,
    /// The games.
    pub case: Vec<Case>,
}

/// One game.
#[derive(serde::Deserialize)]
pub struct Case {
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
    /// How many trials to compare.
    pub trials: u64,
    /// Whether the processor's engines leave this game to the reference.
    #[serde(default)]
    pub reference_only: bool,
}

impl Suite {
    /// The suite, all games of it.
    ///
    /// # Panics
    /// If games are missing.
    pub fn read() -> Self {
        let suite: Suite = crate::golden("engines.toml");
        assert!(suite.case.len() >= 50, "{} games", suite.case.len());
        suite
    }
}

impl Case {
    /// What is played.
    ///
    /// # Panics
    /// If it is no valid setting.
    pub fn setting(&self) -> Setting {
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

/// A game with the stream of CUDA devices.
pub fn philox_game(setting: &Setting) -> Game {
    Game::with_stream(setting, Stream::philox(&setting.hash()))
}

/// Compares an engine with the reference in every game, trial by trial, both on the stream of CUDA devices. Gives the
/// largest error as a share of what is allowed.
///
/// # Panics
/// If a score is further away than that.
pub fn agrees_with_the_reference(
    most_trials: u64,
    engine: impl for<'a> Fn(&'a Game) -> Box<dyn Engine + 'a>,
) -> f64 {
    let suite = Suite::read();
    let mut largest: f64 = 0.0;
    for case in &suite.case {
        let setting = case.setting();
        let game = philox_game(&setting);
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
