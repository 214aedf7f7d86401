//! One graphics processor, ready to play one game.
#![allow(unsafe_code, reason = "kernels are launched")]

use crate::parameters::Delivery;
use crate::plan::Plan;
use crate::program::{self, Kernel};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use misdeal_core::{BinCounts, World, score_grid};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Threads in a block: what the kernels are compiled for.
const THREADS: u32 = 256;
/// Scores brought back at a time.
const MOST_SCORES: u64 = 1 << 24;

/// A device with its kernel, the game's tables, and room for counts.
#[derive(Debug)]
pub struct Device {
    stream: Arc<CudaStream>,
    kernel: CudaFunction,
    plan: Plan,
    /// Trials in one launch.
    trials_per_launch: u64,
    /// Even trials' counts, then odd ones'. Whoever holds the lock has the device.
    counts: Mutex<CudaSlice<u64>>,
    /// What the plan's addresses point to.
    _tables: (CudaSlice<u64>, CudaSlice<f64>),
}

impl Device {
    /// Compiles the kernels and uploads the game.
    pub fn new(ordinal: usize, plan: &Plan, trials_per_launch: u64) -> Result<Self, String> {
        let context = CudaContext::new(ordinal).map_err(told)?;
        let (major, minor) = context.compute_capability().map_err(told)?;
        let kernel = Kernel::of(plan);
        let code = program::compile(kernel, major, minor)?;
        let module = context.load_module(Ptx::from_binary(code)).map_err(told)?;
        let kernel = module.load_function(kernel.name()).map_err(told)?;
        let stream = context.default_stream();
        let mut plan = plan.clone();
        let tables = upload(&stream, &mut plan).map_err(told)?;
        let counts = stream.alloc_zeros(2 * score_grid::BINS as usize).map_err(told)?;
        Ok(Device { stream, kernel, plan, trials_per_launch, counts: Mutex::new(counts), _tables: tables })
    }

    /// The counts of `trials` in a world, even ones first.
    pub fn count(&self, world: World, trials: Range<u64>) -> Result<[BinCounts; 2], String> {
        let counted = {
            let mut counts = self.counts.lock().map_err(|_| "another thread failed on the device")?;
            self.count_there(world, trials, &mut counts).map_err(told)?
        };
        let half = score_grid::BINS as usize;
        Ok([&counted[..half], &counted[half..]].map(|table| {
            let mut counts = BinCounts::default();
            (0..)
                .zip(table)
                .filter(|&(_, &count)| count > 0)
                .for_each(|(bin, &count)| counts.add(bin, count));
            counts
        }))
    }

    fn count_there(
        &self,
        world: World,
        trials: Range<u64>,
        counts: &mut CudaSlice<u64>,
    ) -> Result<Vec<u64>, DriverError> {
        self.stream.context().bind_to_thread()?;
        self.stream.memset_zeros(counts)?;
        let address = address(counts, &self.stream);
        let mut first = trials.start;
        while first < trials.end {
            let count = (trials.end - first).min(self.trials_per_launch);
            self.launch(world, Delivery { first, count, scores: 0, counts: address })?;
            first += count;
        }
        let counted = self.stream.clone_dtoh(counts)?;
        self.stream.synchronize()?;
        Ok(counted)
    }

    /// The scores of `trials` in a world, one for each.
    pub fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) -> Result<(), String> {
        let _device = self.counts.lock().map_err(|_| "another thread failed on the device")?;
        let most = MOST_SCORES.min(self.trials_per_launch);
        for (first, part) in (trials.start..).step_by(most as usize).zip(scores.chunks_mut(most as usize)) {
            self.score_there(world, first, part).map_err(told)?;
        }
        Ok(())
    }

    fn score_there(&self, world: World, first: u64, scores: &mut [f64]) -> Result<(), DriverError> {
        self.stream.context().bind_to_thread()?;
        let room = self.stream.alloc_zeros::<f64>(scores.len())?;
        let to =
            Delivery { first, count: scores.len() as u64, scores: address(&room, &self.stream), counts: 0 };
        self.launch(world, to)?;
        self.stream.memcpy_dtoh(&room, scores)?;
        self.stream.synchronize()
    }

    fn launch(&self, world: World, to: Delivery) -> Result<(), DriverError> {
        let grid = to.count.div_ceil(u64::from(THREADS)) as u32;
        let config = LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = self.stream.launch_builder(&self.kernel);
        match &self.plan {
            Plan::Equal { parameters, .. } => launch.arg(&parameters[world as usize]),
            Plan::General { parameters, .. } => launch.arg(&parameters[world as usize]),
        };
        launch.arg(&to);
        // SAFETY: the kernel takes these two structures; its addresses are of buffers that live until the stream has been
        // waited for, with room for `count` scores or for both tables of counts.
        unsafe { launch.launch(config) }.map(|_| ())
    }
}

/// Brings a plan's tables to the device and writes their addresses into the plan.
fn upload(
    stream: &Arc<CudaStream>,
    plan: &mut Plan,
) -> Result<(CudaSlice<u64>, CudaSlice<f64>), DriverError> {
    let Plan::General { parameters, thresholds, log_weights } = plan else {
        return Ok((stream.clone_htod(&[0])?, stream.clone_htod(&[0.0])?));
    };
    // A table that is not used still needs an address.
    let there =
        if thresholds.is_empty() { stream.clone_htod(&[0])? } else { stream.clone_htod(thresholds)? };
    let logs =
        if log_weights.is_empty() { stream.clone_htod(&[0.0])? } else { stream.clone_htod(log_weights)? };
    for parameters in parameters.iter_mut() {
        parameters.positions.thresholds = address(&there, stream);
        parameters.log_weights = address(&logs, stream);
    }
    stream.synchronize()?;
    Ok((there, logs))
}

fn address<T>(slice: &CudaSlice<T>, stream: &Arc<CudaStream>) -> u64 {
    slice.device_ptr(stream).0
}

/// The driver's words for what went wrong.
fn told(error: DriverError) -> String {
    format!("the CUDA device failed: {error}")
}
