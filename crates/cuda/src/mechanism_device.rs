//! One GPU, ready to simulate one game.
#![allow(unsafe_code, reason = "kernels are launched")]

use crate::kernel_plan::KernelPlan;
use crate::parameters::Delivery;
use crate::program::{self, Kernel};
use crate::{CudaError, Result};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, DevicePtr, LaunchConfig, PushKernelArg,
};
use cudarc::nvrtc::Ptx;
use misdeal_core::{BinCounts, World, score_grid};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Threads in a block; the kernels are compiled for this number.
const THREADS: u32 = 256;
/// Number of scores copied back at a time.
const MOST_SCORES: u64 = 1 << 24;

/// A device with its kernel, the game's tables, and memory for counts.
#[derive(Debug)]
pub struct MechanismDevice {
    stream: Arc<CudaStream>,
    kernel: CudaFunction,
    plan: KernelPlan,
    /// Number of trials in one launch.
    trials_per_launch: u64,
    /// Counts of even trials, then of odd trials. The lock also guards the device.
    counts: Mutex<CudaSlice<u64>>,
    /// The memory that the plan's addresses point to; stored here to keep it allocated.
    _tables: (CudaSlice<u64>, CudaSlice<f64>),
}

impl MechanismDevice {
    /// Compiles the kernels and uploads the game.
    pub fn new(ordinal: usize, plan: &KernelPlan, trials_per_launch: u64) -> Result<Self> {
        let context = CudaContext::new(ordinal)?;
        let (major, minor) = context.compute_capability()?;
        let kernel = Kernel::of(plan);
        let code = program::compile(kernel, major, minor)?;
        let module = context.load_module(Ptx::from_binary(code))?;
        let kernel = module.load_function(kernel.name())?;
        let stream = context.default_stream();
        let mut plan = plan.clone();
        let tables = upload(&stream, &mut plan)?;
        let counts = stream.alloc_zeros(2 * score_grid::BINS as usize)?;
        Ok(MechanismDevice {
            stream,
            kernel,
            plan,
            trials_per_launch,
            counts: Mutex::new(counts),
            _tables: tables,
        })
    }

    /// Counts the scores of `trials` in a world, separately for even and odd trials.
    pub fn count(&self, world: World, trials: Range<u64>) -> Result<[BinCounts; 2]> {
        let counted = {
            let mut counts = self.counts.lock().map_err(|_| CudaError::Poisoned)?;
            self.count_there(world, trials, &mut counts)?
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

    fn count_there(&self, world: World, trials: Range<u64>, counts: &mut CudaSlice<u64>) -> Result<Vec<u64>> {
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

    /// Writes the scores of `trials` in a world to `scores`.
    pub fn score(&self, world: World, trials: Range<u64>, scores: &mut [f64]) -> Result<()> {
        let _device = self.counts.lock().map_err(|_| CudaError::Poisoned)?;
        let most = MOST_SCORES.min(self.trials_per_launch);
        for (first, part) in (trials.start..).step_by(most as usize).zip(scores.chunks_mut(most as usize)) {
            self.score_there(world, first, part)?;
        }
        Ok(())
    }

    fn score_there(&self, world: World, first: u64, scores: &mut [f64]) -> Result<()> {
        self.stream.context().bind_to_thread()?;
        let room = self.stream.alloc_zeros::<f64>(scores.len())?;
        let to =
            Delivery { first, count: scores.len() as u64, scores: address(&room, &self.stream), counts: 0 };
        self.launch(world, to)?;
        self.stream.memcpy_dtoh(&room, scores)?;
        Ok(self.stream.synchronize()?)
    }

    fn launch(&self, world: World, to: Delivery) -> Result<()> {
        let grid = to.count.div_ceil(u64::from(THREADS)) as u32;
        let config = LaunchConfig { grid_dim: (grid, 1, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 };
        let mut launch = self.stream.launch_builder(&self.kernel);
        match &self.plan {
            KernelPlan::Equal { parameters, .. } => launch.arg(&parameters[world as usize]),
            KernelPlan::General { parameters, .. } => launch.arg(&parameters[world as usize]),
        };
        launch.arg(&to);
        // SAFETY: the kernel takes these two structures. Their addresses belong to buffers that live until the stream has been
        // waited for. The buffers hold `count` scores, or both tables of counts.
        unsafe { launch.launch(config) }?;
        Ok(())
    }
}

/// Copies a plan's tables to the device and writes their addresses into the plan.
fn upload(stream: &Arc<CudaStream>, plan: &mut KernelPlan) -> Result<(CudaSlice<u64>, CudaSlice<f64>)> {
    let KernelPlan::General { parameters, thresholds, log_weights } = plan else {
        return Ok((stream.clone_htod(&[0])?, stream.clone_htod(&[0.0])?));
    };
    // An unused table still needs an address.
    let thresholds =
        if thresholds.is_empty() { stream.clone_htod(&[0])? } else { stream.clone_htod(thresholds)? };
    let log_weights =
        if log_weights.is_empty() { stream.clone_htod(&[0.0])? } else { stream.clone_htod(log_weights)? };
    for parameters in parameters.iter_mut() {
        parameters.positions.thresholds = address(&thresholds, stream);
        parameters.log_weights = address(&log_weights, stream);
    }
    stream.synchronize()?;
    Ok((thresholds, log_weights))
}

fn address<T>(slice: &CudaSlice<T>, stream: &Arc<CudaStream>) -> u64 {
    slice.device_ptr(stream).0
}
