//! Deals batches: plans on disk, and batches one by one.

use crate::calls::{Call, read};
use crate::errors::{exception, refusal};
use crate::jobs;
use crate::reports::Report;
use misdeal::request::DealRequest;
use misdeal::{BatchScheme, of_rank};
use misdeal_core::Error;
use numpy::PyArray1;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Writes all batches of a run to a file.
#[pyfunction]
pub fn deal(
    py: Python<'_>,
    arguments: Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Report> {
    let Call { request, threads, .. } = Call::<DealRequest>::read(&arguments)?;
    let found = jobs::run(py, threads, progress.as_ref(), |watch| misdeal::deal(&request, watch))?;
    Ok(Report::new(found))
}

/// The batches of a run, any of them at any time.
#[pyclass(frozen, module = "misdeal._native")]
pub struct Plan {
    dealt: misdeal::Plan,
    rank: u64,
    world_size: u64,
}

#[pymethods]
impl Plan {
    /// Checks the arguments and prepares the seed.
    #[new]
    fn new(arguments: Bound<'_, PyDict>, rank: u64, world_size: u64) -> PyResult<Self> {
        let request: DealRequest = read(&arguments)?;
        if world_size == 0 {
            let hint = "it counts the processes that train together";
            return Err(refusal(Error::bad_value("world_size", world_size, "a whole number from 1", hint)));
        }
        if rank >= world_size {
            let allowed = format!("a whole number from 0 to {}", world_size - 1);
            return Err(refusal(Error::bad_value("rank", rank, allowed, "ranks are below `world_size`")));
        }
        if world_size > 1 && request.seed.is_none() && request.seed_file.is_none() {
            let hint = "each rank would draw a seed of its own: share the secret one in a file";
            return Err(refusal(Error::bad_value(
                "seed_file",
                "missing",
                "a file that all ranks can read",
                hint,
            )));
        }
        let (plan, _) = misdeal::dealt_plan(&request).map_err(exception)?;
        Ok(Plan { dealt: plan, rank, world_size })
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.dealt.steps()
    }

    #[getter]
    fn steps_per_epoch(&self) -> u64 {
        self.dealt.steps_per_epoch()
    }

    #[getter]
    fn sampling_probability(&self) -> f64 {
        self.dealt.sampling_probability()
    }

    /// Returns this rank's records of a step.
    fn batch<'py>(&self, py: Python<'py>, step: u64) -> PyResult<Bound<'py, PyArray1<i64>>> {
        if step >= self.dealt.steps() {
            return Err(PyIndexError::new_err(format!(
                "step is {step}, but a whole number from 0 to {} is allowed; the plan ends there",
                self.dealt.steps() - 1
            )));
        }
        let records = py.detach(|| {
            let batch = self.dealt.batch(step);
            of_rank(&batch, self.rank, self.world_size).map(|record| record as i64).collect::<Vec<_>>()
        });
        Ok(PyArray1::from_vec(py, records))
    }

    /// Returns the pairs of record and step of one epoch, in the order of the records. Steps count over all epochs, and are of all ranks.
    ///
    /// For balls-in-bins `records` limits the pairs to a range of records, which takes no more time than the range is long.
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        epoch: u64,
        first: u64,
        last: u64,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let epochs = self.dealt.steps() / self.dealt.steps_per_epoch();
        if epoch >= epochs {
            let allowed = format!("a whole number from 0 to {}", epochs - 1);
            return Err(refusal(Error::bad_value("epoch", epoch, allowed, "the plan ends there")));
        }
        let last = last.min(self.dealt.dataset_size());
        let (mut records, mut steps) = (Vec::new(), Vec::new());
        py.detach(|| {
            if self.dealt.scheme() == BatchScheme::BallsInBins {
                let (bins, start) = (self.dealt.epoch(epoch), epoch * self.dealt.steps_per_epoch());
                records.extend((first..last).map(|record| record as i64));
                steps.extend((first..last).map(|record| (start + bins.step_of(record)) as i64));
                return;
            }
            let mut pass = self.dealt.pass(epoch);
            let mut record = 0;
            while let Some(found) = pass.next_steps() {
                if (first..last).contains(&record) {
                    records.extend(std::iter::repeat_n(record as i64, found.len()));
                    steps.extend(found.iter().map(|&step| step as i64));
                }
                record += 1;
            }
        });
        Ok((PyArray1::from_vec(py, records), PyArray1::from_vec(py, steps)))
    }
}
