//! The games of `testdata/engines.toml`, on which every engine must agree with the reference.

use misdeal_core::{BatchScheme, Setting, Stream, ThreatModel, World};
use misdeal_game::Game;
use misdeal_game::engines::Engine;
use misdeal_game::engines::reference::Reference;

/// All games, and the allowed differences from the reference.
#[derive(serde::Deserialize)]
pub struct Suite {
    /// Allowed absolute difference; for devices that add in single precision, for every eight epochs.
    pub absolute: f64,
    /// Allowed relative difference; it applies if it is larger.
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
    /// Number of trials to compare.
    pub trials: u64,
    /// Whether the CPU engines leave this game to the reference.
    #[serde(default)]
    pub reference_only: bool,
}

impl Suite {
    /// Reads the whole suite.
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
    /// The setting of this game.
    ///
    /// # Panics
    /// If the setting is not valid.
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

/// A game with the random stream of CUDA devices.
pub fn philox_game(setting: &Setting) -> Game {
    Game::with_stream(setting, Stream::philox(&setting.hash()))
}

/// Compares an engine with the reference in every game, trial by trial.
///
/// Both use the random stream of CUDA devices. Returns the largest error, as a share of the allowed error.
///
/// # Panics
/// If an error exceeds the allowed one.
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
