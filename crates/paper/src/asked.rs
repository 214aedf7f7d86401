//! Selects the rows and drawings that a request asks for.

use crate::artefact::{Artefact, PaperRow, artefact};
use crate::request::has_device;
use misdeal::Result;
use misdeal::request::{ARTEFACTS, ReproduceRequest};
use misdeal_core::{ClosedSet, Error, Precision};
use misdeal_results::{Dealt, Heading};
use std::path::Path;

/// The tables, rows and drawings that a request selects, in the order of the paper.
pub struct Asked {
    /// The tables and figures.
    pub artefacts: Vec<Heading>,
    /// The rows of these tables and figures, each with the name of its table or figure.
    pub rows: Vec<(&'static str, PaperRow)>,
    /// The drawings of these figures, already simulated.
    pub deals: Vec<Dealt>,
}

impl Asked {
    /// Collects what a request asks for. Rows that need a device are left out if no device may be used.
    ///
    /// # Errors
    /// The name does not exist, no rows are left, or the request wants arithmetic that only a missing device has.
    pub fn by(request: &ReproduceRequest) -> Result<Self> {
        let mut asked = Self::by_name(request)?;
        asked.check_rows(request)?;
        asked.keep_what_can_be_played(request)?;
        asked.check_precision(request)?;
        Ok(asked)
    }

    fn by_name(request: &ReproduceRequest) -> Result<Self> {
        let mut asked = Asked { artefacts: Vec::new(), rows: Vec::new(), deals: Vec::new() };
        for name in names(request.name.as_deref())? {
            let Artefact { title, place, remarks, rows, deals } = artefact(name)?;
            asked.artefacts.push(Heading { name: name.into(), title, place, remarks, above_the_claim: None });
            let is_asked_for =
                |row: &PaperRow| request.only.as_ref().is_none_or(|only| row.name.contains(only));
            asked.rows.extend(rows.into_iter().filter(is_asked_for).map(|row| (name, row)));
            // A request for rows by name asks for no drawings.
            for job in deals.iter().filter(|_| request.only.is_none()) {
                asked.deals.push(job.dealt(name, request.seed)?);
            }
        }
        Ok(asked)
    }

    fn check_rows(&self, request: &ReproduceRequest) -> Result<()> {
        match &request.only {
            Some(only) if only.is_empty() || self.rows.is_empty() => {
                let hint = "names of rows are in the first column of what is printed without `only`";
                Err(Error::bad_value("only", only, "a part of a row's name", hint).into())
            }
            _ => Ok(()),
        }
    }

    fn keep_what_can_be_played(&mut self, request: &ReproduceRequest) -> Result<()> {
        if !has_device(request) {
            self.rows.retain(|(_, row)| !row.needs_device);
        }
        if self.rows.is_empty() && self.deals.is_empty() {
            let hint = "these rows are for a graphics processor; play those with fewer observations, or choose cuda where there is one";
            return Err(Error::bad_value("device", request.device.name(), "cuda for these rows", hint).into());
        }
        Ok(())
    }

    fn check_precision(&self, request: &ReproduceRequest) -> Result<()> {
        let trains = || self.rows.iter().any(|(_, row)| row.trains(request));
        if request.precision == Precision::Tf32 && !has_device(request) && trains() {
            let hint = "only a graphics processor has such arithmetic, and none may be used here";
            return Err(Error::bad_value("precision", "tf32", "f32 without a CUDA device", hint).into());
        }
        Ok(())
    }

    /// Creates the folder for scores, if the request wants one.
    ///
    /// # Errors
    /// The folder cannot be created, or it already holds scores of these rows and `resume` is not set.
    pub fn make_folder(&self, request: &ReproduceRequest) -> Result<()> {
        let Some(folder) = &request.store else { return Ok(()) };
        std::fs::create_dir_all(folder).map_err(|error| cannot_keep(folder, &error))?;
        let mut files = self.rows.iter().flat_map(|(_, row)| row.stores(request));
        match files.find(|file| file.exists()) {
            Some(file) if !request.resume => {
                let hint =
                    format!("{} is there: give `resume` to go on from it, or another name", file.display());
                Err(Error::bad_value("store", folder.display(), "a folder without these scores", hint).into())
            }
            _ => Ok(()),
        }
    }
}

/// The tables and figures that `name` selects.
fn names(name: Option<&str>) -> Result<Vec<&'static str>> {
    let name = name.unwrap_or_default();
    if name == "all" {
        return Ok(ARTEFACTS.into());
    }
    artefact(name)?;
    Ok(ARTEFACTS.into_iter().filter(|other| *other == name).collect())
}

fn cannot_keep(folder: &Path, error: &std::io::Error) -> Error {
    let hint = format!("scores are saved there: {error}");
    Error::bad_value("store", folder.display(), "a folder that can be written", hint)
}
