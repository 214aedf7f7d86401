//! Compares every engine with the reference, trial by trial, on the games of the engine suite.

use super::Found;
use misdeal_core::{BatchScheme, ClosedSet, EngineName, Error, Setting, Stream, ThreatModel, World};
use misdeal_cuda::Cuda;
use misdeal_game::Game;
use misdeal_game::engines::{self, Engine};
use rayon::prelude::*;
use serde::Deserialize;
use std::ops::Range;

/// The engine suite: its games, and the allowed difference of a score from the reference.
#[derive(Deserialize)]
struct Suite {
    absolute: f64,
    relative: f64,
    case: Vec<Case>,
}

#[derive(Deserialize)]
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
    #[serde(default)]
    reference_only: bool,
}

/// Gaussian draws of the reference in each game, which take some hundredths of a second.
const DRAWS_PER_GAME: u64 = 100_000;

/// A check fails if a difference exceeds the suite's tolerance by this factor.
///
/// One trial in millions exceeds the tolerance by a little; a fault exceeds it by orders of magnitude.
const TOLERANCES: f64 = 3.0;

/// A graphics processor plays only every second game, because each game takes time to prepare.
const CUDA_STEP: usize = 2;

/// Compares every instruction set of this processor with the reference.
pub(super) fn check(seed: u64) -> Found {
    let suite = Suite::read()?;
    let names: Vec<_> = engines::cpu::available_names().collect();
    let play = |(setting, trials, reference_only): (Setting, u64, bool)| -> Result<(f64, u64), String> {
        let game = Game::new(&setting);
        let expected = Expected::by_reference(&game, trials)?;
        let (mut largest, mut scores) = (0.0_f64, 0);
        for &name in names.iter().filter(|_| !reference_only) {
            let engine = engines::choose(&game, name).map_err(super::message)?;
            largest = largest.max(suite.compare(engine.as_ref(), &expected, &setting)?);
            scores += 2 * trials;
        }
        Ok((largest, scores))
    };
    let (largest, scores) = suite
        .games(seed)?
        .into_par_iter()
        .map(play)
        .try_reduce(|| (0.0, 0), |one, other| Ok((one.0.max(other.0), one.1 + other.1)))?;
    let names: Vec<_> = names.into_iter().map(ClosedSet::name).collect();
    let names = names.join(", ");
    Ok(format!("{names} agree with the reference in {scores} scores, to {largest:.2} of the tolerance"))
}

/// Compares the engine of graphics processors with the reference on the same stream.
pub(super) fn check_cuda(seed: u64) -> Found {
    let suite = Suite::read()?;
    let (mut largest, mut games) = (0.0_f64, 0);
    for (setting, trials, _) in suite.games(seed)?.into_iter().step_by(CUDA_STEP) {
        let game = Game::with_stream(&setting, Stream::philox(&setting.hash()));
        let engine = match Cuda::new(&game) {
            Ok(engine) => engine,
            // An audit refuses this game on a device too.
            Err(Error::BadValue { .. }) => continue,
            Err(error) => return Err(error.to_string()),
        };
        largest = largest.max(suite.compare(&engine, &Expected::by_reference(&game, trials)?, &setting)?);
        games += 1;
    }
    if games == 0 {
        return Err("the device plays none of the suite's games".into());
    }
    Ok(format!("{games} games agree with the reference, to {largest:.2} of the tolerance"))
}

/// The reference's scores of a game in both worlds.
struct Expected {
    trials: Range<u64>,
    scores: [Vec<f64>; 2],
}

impl Expected {
    fn by_reference(game: &Game, trials: u64) -> Result<Self, String> {
        let reference = engines::choose(game, EngineName::Reference).map_err(super::message)?;
        // Not a multiple of sixteen at either end.
        let trials = 5..5 + trials;
        let scores = World::BOTH.map(|world| {
            let mut scores = vec![0.0; (trials.end - trials.start) as usize];
            reference.score(world, trials.clone(), &mut scores);
            scores
        });
        Ok(Expected { trials, scores })
    }
}

impl Suite {
    fn read() -> Result<Self, String> {
        toml::from_str(include_str!("../../data/engines.toml")).map_err(super::message)
    }

    /// Returns the settings, the number of trials to compare, and whether only the reference supports a setting.
    fn games(&self, seed: u64) -> Result<Vec<(Setting, u64, bool)>, String> {
        self.case.iter().map(|case| case.game(seed)).collect()
    }

    /// Returns the largest difference in both worlds, as a share of the tolerance.
    fn compare(&self, engine: &dyn Engine, expected: &Expected, setting: &Setting) -> Result<f64, String> {
        let mut largest: f64 = 0.0;
        for (world, exact) in World::BOTH.into_iter().zip(&expected.scores) {
            let mut ours = vec![0.0; exact.len()];
            engine.score(world, expected.trials.clone(), &mut ours);
            for ((trial, ours), exact) in expected.trials.clone().zip(ours).zip(exact) {
                let share = (ours - exact).abs() / (self.relative * exact.abs()).max(self.absolute);
                if share.is_nan() || share >= TOLERANCES {
                    let name = engine.name();
                    return Err(format!(
                        "{name}: trial {trial} {world:?} scores {ours}, not {exact}: {setting:?}"
                    ));
                }
                largest = largest.max(share);
            }
        }
        Ok(largest)
    }
}

impl Case {
    fn game(&self, seed: u64) -> Result<(Setting, u64, bool), String> {
        let scheme = |name: &str| {
            BatchScheme::from_name(name, self.buffer_size.filter(|_| BatchScheme::has_buffer(name)))
        };
        let setting = Setting {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps_per_epoch,
            epochs: self.epochs,
            batch_size: self.batch_size,
            scheme: scheme(&self.scheme).map_err(super::message)?,
            threat_model: self.threat_model,
            target_index: self.target_index,
            adversary_scheme: self
                .adversary_scheme
                .as_deref()
                .map(scheme)
                .transpose()
                .map_err(super::message)?,
            seed,
            ..Setting::default()
        };
        let setting = setting.validated().map_err(super::message)?;
        let fitting = DRAWS_PER_GAME / Game::new(&setting).draws_per_trial();
        Ok((setting, self.trials.min(fitting).max(1), self.reference_only))
    }
}
