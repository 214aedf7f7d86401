//! Deals batches that keep the promise: a plan on disk, and the epsilon that goes with it.

use crate::accounted::{Accounted, PoissonSampling};
use crate::error::Cause;
use crate::{Progress, Result};
use misdeal_core::{BatchScheme, Bounds, Error, Setting, path_text};
use misdeal_files::plan::{self, PlanPart, PlanSizes};
use misdeal_files::secret;
use misdeal_results::request::DealRequest;
use misdeal_results::{DealtPlan, SeedSource};
use misdeal_schemes::deal::{Plan, Seed};
use misdeal_theory::check_delta;
use misdeal_theory::work::Work;
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

/// Records of a part of a plan, about: 60 MB of memory, whatever the plan's size.
const RECORDS_OF_A_PART: u64 = 1 << 20;

/// Writes all batches of a run to a file, and bounds epsilon if the noise is given.
///
/// ```
/// use misdeal::{Unwatched, request::DealRequest};
/// let folder = tempfile::tempdir()?;
/// let request = DealRequest {
///     dataset_size: Some(60_000),
///     batch_size: Some(512),
///     noise_multiplier: Some(1.0),
///     output: Some(folder.path().join("plan.jsonl")),
///     ..DealRequest::default()
/// };
/// let plan = misdeal::deal(&request, &Unwatched)?;
/// assert!(plan.steps_per_epoch == 117 && plan.epsilon_upper_bound.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A size, the noise, the delta or the seed's file is refused, or the plan cannot be written, or the job is interrupted.
pub fn deal(request: &DealRequest, progress: &dyn Progress) -> Result<DealtPlan> {
    let start = Instant::now();
    let Some(output) = &request.output else {
        let allowed = "the name of a file that ends in .jsonl or .parquet";
        return Err(Error::bad_value("output", "missing", allowed, "the plan is written there").into());
    };
    plan::PlanFormat::of(output)?;
    check_delta(request.delta)?;
    let bounds = request.noise_multiplier.map(|noise| bounds(request, noise)).transpose()?;
    let (plan, seed) = dealt_plan(request)?;
    write(&plan, request, output, progress)?;
    let name = BatchScheme::from_name(&request.scheme, None)?.into();
    Ok(DealtPlan {
        request: Some(request.clone()),
        scheme: name,
        dataset_size: plan.dataset_size(),
        batch_size: plan.batch_size(),
        steps_per_epoch: plan.steps_per_epoch(),
        epochs: request.epochs,
        sampling_probability: plan.sampling_probability(),
        seed,
        noise_multiplier: request.noise_multiplier,
        delta: request.noise_multiplier.map(|_| request.delta),
        epsilon_lower_bound: bounds.as_ref().and_then(|bounds| bounds.epsilon_lower_bound),
        epsilon_upper_bound: bounds.as_ref().and_then(|bounds| bounds.epsilon_upper_bound),
        method: bounds.map(|bounds| bounds.method),
        output: path_text(output).into_owned(),
        bytes: std::fs::metadata(output).map_or(0, |metadata| metadata.len()),
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Returns the batches that a request asks for, and where their seed came from. Nothing is dealt yet.
///
/// # Errors
/// A size or the seed's file is refused.
pub fn dealt_plan(request: &DealRequest) -> Result<(Plan, SeedSource)> {
    let missing = |field| Error::bad_value(field, "missing", "a whole number from 1", "a plan needs it");
    let dataset_size = request.dataset_size.ok_or_else(|| missing("dataset_size"))?;
    let batch_size = request.batch_size.ok_or_else(|| missing("batch_size"))?;
    let scheme = BatchScheme::from_name(&request.scheme, None)?;
    if let Some(physical) = request.physical_batch_size {
        let hint = "leave it out, and let batches have any size";
        return Err(
            Error::bad_value("physical_batch_size", physical, "none: it is not available yet", hint).into()
        );
    }
    // Sizes are checked before a seed is made.
    let plan = |seed: &Seed| Plan::new(scheme, dataset_size, batch_size, request.epochs, seed);
    plan(&Seed::from_number(0))?;
    let (seed, source) = match (request.seed, &request.seed_file) {
        (Some(seed), Some(_)) => {
            let hint = "a seed is a number or in a file";
            return Err(Error::bad_value("seed", seed, "none beside `seed_file`", hint).into());
        }
        (Some(seed), None) => (Seed::from_number(seed), SeedSource::Number),
        (None, Some(file)) => (Seed::new(secret::read_or_create(file)?), SeedSource::File),
        (None, None) => {
            let drawn =
                secret::draw().map_err(|error| Error::Device(format!("cannot draw a seed: {error}")))?;
            (Seed::new(drawn), SeedSource::System)
        }
    };
    Ok((plan(&seed)?, source))
}

/// Returns proven bounds on epsilon for a request's batches.
fn bounds(request: &DealRequest, noise_multiplier: f64) -> Result<Bounds> {
    let (plan, _) = dealt_plan(&DealRequest { seed: Some(0), seed_file: None, ..request.clone() })?;
    let scheme = BatchScheme::from_name(&request.scheme, None)?;
    let setting = Setting {
        noise_multiplier,
        scheme,
        steps_per_epoch: plan.steps_per_epoch(),
        epochs: request.epochs,
        batch_size: plan.batch_size(),
        ..Setting::default()
    }
    .validated()?;
    let accounted = if scheme == BatchScheme::Poisson {
        let (sampling_probability, steps) = (plan.sampling_probability(), plan.steps());
        Accounted::Poisson(PoissonSampling { noise_multiplier, sampling_probability, steps })
    } else {
        Accounted::Scheme(setting)
    };
    accounted.bounds(request.delta, &Work::default())
}

/// Writes a plan. While one part is written, the next is dealt on all cores.
fn write(plan: &Plan, request: &DealRequest, output: &Path, progress: &dyn Progress) -> Result<()> {
    let sizes = PlanSizes {
        dataset_size: plan.dataset_size(),
        steps_per_epoch: plan.steps_per_epoch(),
        epochs: request.epochs,
    };
    let steps_of_a_part = (RECORDS_OF_A_PART / plan.batch_size()).max(1);
    let mut interrupted = false;
    let written = plan::write(output, &sizes, |writer| {
        let mut ready = part(plan, 0..steps_of_a_part.min(plan.steps()));
        let mut next = ready.ends.len() as u64;
        loop {
            progress.observed(next, plan.steps());
            if progress.is_interrupted() {
                interrupted = true;
                return Err(io::Error::from(io::ErrorKind::Interrupted));
            }
            let steps = next..(next + steps_of_a_part).min(plan.steps());
            let (written, following) = rayon::join(|| writer.write(&ready), || part(plan, steps));
            written?;
            if following.ends.is_empty() {
                return Ok(());
            }
            next += following.ends.len() as u64;
            ready = following;
        }
    });
    match written {
        Err(_) if interrupted => Err(Cause::DealInterrupted.into()),
        written => Ok(written?),
    }
}

/// Deals consecutive steps, a few pieces at once.
fn part(plan: &Plan, steps: Range<u64>) -> PlanPart {
    const PIECES: u64 = 4;
    let count = steps.end - steps.start;
    let pieces =
        (0..PIECES).map(|i| steps.start + count * i / PIECES..steps.start + count * (i + 1) / PIECES);
    let deal = |steps: Range<u64>| {
        let mut piece = PlanPart { first_step: steps.start, ..PlanPart::default() };
        plan.visit(steps, |_, batch| {
            piece.records.extend_from_slice(batch);
            piece.ends.push(piece.records.len());
        });
        piece
    };
    let dealt: Vec<PlanPart> = pieces.collect::<Vec<_>>().into_par_iter().map(deal).collect();
    let mut whole = PlanPart { first_step: steps.start, ..PlanPart::default() };
    for piece in dealt {
        let before = whole.records.len();
        whole.ends.extend(piece.ends.iter().map(|end| before + end));
        whole.records.extend(piece.records);
    }
    whole
}
