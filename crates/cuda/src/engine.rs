//! The engine `cuda`.

use crate::device::Device;
use crate::libraries;
use crate::plan::Plan;
use cudarc::driver::CudaContext;
use misdeal_core::{Error, PHILOX_STREAM_NAME, Result, ScoreStore, StoreKind, World};
use misdeal_game::Game;
use misdeal_game::engines::{Engine, Portions};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Draws in one launch of the fast kernel: some twenty milliseconds of an H200.
const FAST_DRAWS_PER_LAUNCH: u64 = 1 << 34;
/// Draws in one launch of the general kernel.
const GENERAL_DRAWS_PER_LAUNCH: u64 = 1 << 31;
/// Launches before counts are brought back.
const LAUNCHES_PER_CHUNK: u64 = 6;
/// Threads in a grid at most.
const MOST_TRIALS_PER_LAUNCH: u64 = 1 << 38;

/// Plays on all graphics processors of this machine.
///
/// # Formal guarantees
/// - Scores agree with those of the reference engine on the same stream to 1e-5 relative or 1e-6 absolute; beyond eight epochs, whose parts
///   are summed, to 1e-6 for every eight. Scores of so many epochs are larger, and a store's cells much wider.
/// - A score is the same on every device of one architecture, alone or in company, and however trials are split. Devices of
///   different architectures may differ in the last bits, within that tolerance.
#[derive(Debug)]
pub struct Cuda<'a> {
    game: &'a Game,
    draws_per_launch: u64,
    devices: Vec<Device>,
    next: AtomicUsize,
}

impl<'a> Cuda<'a> {
    /// The engine for a game with a graphics processor's stream.
    ///
    /// # Errors
    /// [`Error::Device`] says what is missing or failed; [`Error::BadValue`] why this game cannot be played.
    pub fn new(game: &'a Game) -> Result<Self> {
        let plan = Plan::new(game)
            .map_err(|reason| Error::bad_value("device", "cuda", "cpu for this game", reason))?;
        libraries::open().map_err(Error::Device)?;
        let count =
            CudaContext::device_count().map_err(|error| Error::Device(format!("no CUDA device: {error}")))?;
        if count < 1 {
            return Err(Error::Device("no CUDA device: the driver sees none; use the device cpu".into()));
        }
        let draws_per_launch = match plan {
            Plan::Equal { .. } => FAST_DRAWS_PER_LAUNCH,
            Plan::General { .. } => GENERAL_DRAWS_PER_LAUNCH,
        };
        let trials = (draws_per_launch / game.draws_per_trial()).clamp(1, MOST_TRIALS_PER_LAUNCH);
        let devices = (0..count as usize).map(|ordinal| Device::new(ordinal, &plan, trials));
        let devices = devices.collect::<std::result::Result<_, _>>().map_err(Error::Device)?;
        Ok(Cuda { game, draws_per_launch, devices, next: AtomicUsize::new(0) })
    }

    /// The devices take turns; which one plays a trial leaves no trace.
    fn device(&self) -> &Device {
        &self.devices[self.next.fetch_add(1, Ordering::Relaxed) % self.devices.len()]
    }
}

impl Engine for Cuda<'_> {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn lineage(&self) -> &'static str {
        debug_assert_eq!(self.game.stream.name(), PHILOX_STREAM_NAME);
        "cuda"
    }

    /// # Panics
    /// If the device fails; a run calls [`insert`](Engine::insert), which tells.
    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
        self.device().score(world, trials, scores).expect("the device plays");
    }

    fn insert(&self, trials: Range<u64>, store: &mut ScoreStore) -> Result<()> {
        let device = self.device();
        if store.kind() == StoreKind::Exact {
            let mut both = World::BOTH.map(|_| vec![0.0; (trials.end - trials.start) as usize]);
            for (world, scores) in World::BOTH.into_iter().zip(&mut both) {
                device.score(world, trials.clone(), scores).map_err(Error::Device)?;
            }
            return store.insert(trials, &both[0], &both[1]);
        }
        let [counts_in, counts_out] = World::BOTH.map(|world| device.count(world, trials.clone()));
        store.insert_counts(trials, [counts_in.map_err(Error::Device)?, counts_out.map_err(Error::Device)?])
    }

    fn portions(&self) -> Portions {
        let draws_per_chunk = LAUNCHES_PER_CHUNK * self.draws_per_launch;
        Portions {
            draws_per_chunk,
            most_trials_per_chunk: 1 << 40,
            draws_per_stretch: 64 * draws_per_chunk,
            // One that plays and one that sorts counts for each device.
            most_threads: 2 * self.devices.len(),
        }
    }
}
