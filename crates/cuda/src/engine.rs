//! The engine `cuda`, which simulates the mechanism on GPUs.

use crate::gpus::gpu_count;
use crate::kernel_plan::KernelPlan;
use crate::mechanism_device::MechanismDevice;
use misdeal_core::{Error, PHILOX_STREAM_NAME, Result, ScoreStore, StoreKind, World};
use misdeal_game::Game;
use misdeal_game::engines::{Engine, Portions};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of draws in one launch of the fast kernel: about twenty milliseconds on an H200.
const FAST_DRAWS_PER_LAUNCH: u64 = 1 << 34;
/// Number of draws in one launch of the general kernel.
const GENERAL_DRAWS_PER_LAUNCH: u64 = 1 << 31;
/// Number of launches between two copies of the counts.
const LAUNCHES_PER_CHUNK: u64 = 6;
/// Limit for the trials, and so the threads, of one launch.
const MOST_TRIALS_PER_LAUNCH: u64 = 1 << 38;

/// Simulates the mechanism on all GPUs of this machine.
///
/// # Formal guarantees
/// - On the same stream, scores agree with the reference engine's to 1e-5 relative or 1e-6 absolute. Beyond eight epochs, the
///   absolute tolerance is 1e-6 for every eight epochs, because the epochs' parts are summed. Scores of so many epochs are larger,
///   and a store's cells are much wider.
/// - A score is the same on every device of one architecture, whether one or several devices run, and however trials are split.
///   Devices of different architectures may differ in the last bits, within that tolerance.
#[derive(Debug)]
pub struct Cuda<'a> {
    game: &'a Game,
    draws_per_launch: u64,
    devices: Vec<MechanismDevice>,
    next: AtomicUsize,
}

impl<'a> Cuda<'a> {
    /// Creates the engine for a game whose stream is [`Stream::philox`](misdeal_core::Stream::philox).
    ///
    /// # Errors
    /// [`Error::Device`] if a device is missing or fails; [`Error::BadValue`] if no kernel can simulate this game.
    pub fn new(game: &'a Game) -> Result<Self> {
        let plan = KernelPlan::new(game)
            .map_err(|reason| Error::bad_value("device", "cuda", "cpu for this game", reason.to_string()))?;
        let count = gpu_count()?;
        let draws_per_launch = match plan {
            KernelPlan::Equal { .. } => FAST_DRAWS_PER_LAUNCH,
            KernelPlan::General { .. } => GENERAL_DRAWS_PER_LAUNCH,
        };
        let trials = (draws_per_launch / game.draws_per_trial()).clamp(1, MOST_TRIALS_PER_LAUNCH);
        let devices = (0..count).map(|ordinal| MechanismDevice::new(ordinal, &plan, trials));
        let devices = devices.collect::<crate::Result<_>>()?;
        Ok(Cuda { game, draws_per_launch, devices, next: AtomicUsize::new(0) })
    }

    /// Returns the next device. A score does not depend on the device that computes it.
    fn device(&self) -> &MechanismDevice {
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
    /// If the device fails. A run calls [`insert`](Engine::insert) instead, which returns an error.
    fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) {
        self.device().score(world, trials, scores).expect("the device computes scores");
    }

    fn insert(&self, trials: Range<u64>, store: &mut ScoreStore) -> Result<()> {
        let device = self.device();
        if store.kind() == StoreKind::Exact {
            let mut both = World::BOTH.map(|_| vec![0.0; (trials.end - trials.start) as usize]);
            for (world, scores) in World::BOTH.into_iter().zip(&mut both) {
                device.score(world, trials.clone(), scores)?;
            }
            return store.insert(trials, &both[0], &both[1]);
        }
        let [counts_in, counts_out] = World::BOTH.map(|world| device.count(world, trials.clone()));
        store.insert_counts(trials, [counts_in?, counts_out?])
    }

    fn portions(&self) -> Portions {
        let draws_per_chunk = LAUNCHES_PER_CHUNK * self.draws_per_launch;
        Portions {
            draws_per_chunk,
            most_trials_per_chunk: 1 << 40,
            draws_per_stretch: 64 * draws_per_chunk,
            // Each device needs two threads: one waits for it and one sorts counts.
            most_threads: 2 * self.devices.len(),
        }
    }
}
