//! Arguments by name: the words of the command line, with the same refusals.
//!
//! # Why a dictionary?
//! Arguments have the command line's names, so a refusal names the field in both. A test compares parameters,
//! defaults and messages with `--help`.

use misdeal_core::{ClosedSet, Error};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;

use crate::errors::refusal;

/// The arguments of a call, by name. Every name that is asked for must be there; `None` stands for what was not given.
pub struct Words<'py>(pub Bound<'py, PyDict>);

impl<'py> Words<'py> {
    /// What stands under a name; nothing for `None`.
    fn get(&self, name: &'static str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.0.get_item(name)?.ok_or_else(|| {
            refusal(Error::bad_value(name, "missing", "a value, or None", "every argument must be passed on"))
        })?;
        Ok((!found.is_none()).then_some(found))
    }

    fn needed<T>(name: &'static str, found: Option<T>, allowed: &str) -> PyResult<T> {
        found.ok_or_else(|| refusal(Error::bad_value(name, "None", allowed, "it has no default")))
    }

    /// A number that may be left out.
    pub fn number_if_any(&self, name: &'static str) -> PyResult<Option<f64>> {
        self.get(name)?.map(|value| number(name, &value)).transpose()
    }

    /// A number.
    pub fn number(&self, name: &'static str) -> PyResult<f64> {
        Self::needed(name, self.number_if_any(name)?, NUMBER)
    }

    /// A whole number that may be left out; floats such as `1e7` are whole too.
    pub fn count_if_any(&self, name: &'static str) -> PyResult<Option<u64>> {
        self.get(name)?.map(|value| count(name, &value)).transpose()
    }

    /// A whole number.
    pub fn count(&self, name: &'static str) -> PyResult<u64> {
        Self::needed(name, self.count_if_any(name)?, COUNT)
    }

    /// A name that may be left out.
    pub fn text_if_any(&self, name: &'static str) -> PyResult<Option<String>> {
        self.get(name)?.map(|value| value.extract().map_err(|_| not(name, &value, "a string"))).transpose()
    }

    /// A name that callers need not even mention.
    pub fn text_if_mentioned(&self, name: &'static str) -> PyResult<Option<String>> {
        if self.0.contains(name)? { self.text_if_any(name) } else { Ok(None) }
    }

    /// A name.
    pub fn text(&self, name: &'static str) -> PyResult<String> {
        Self::needed(name, self.text_if_any(name)?, "a string")
    }

    /// One of a few names.
    pub fn one_of(&self, name: &'static str, allowed: &[&'static str]) -> PyResult<&'static str> {
        let text = self.text(name)?;
        let found = allowed.iter().copied().find(|one| *one == text);
        found.ok_or_else(|| {
            let allowed = format!("one of {}", allowed.join(", "));
            refusal(Error::bad_value(name, text, allowed, "check the spelling"))
        })
    }

    /// A value of a closed set, by its name.
    pub fn named<T: ClosedSet>(&self) -> PyResult<T> {
        T::from_name(&self.text(T::FIELD)?).map_err(refusal)
    }

    /// A path, as a string or any `os.PathLike`.
    pub fn path_if_any(&self, name: &'static str) -> PyResult<Option<PathBuf>> {
        let path = |value: Bound<'_, PyAny>| {
            let path = value.extract().ok().filter(|path: &PathBuf| !path.as_os_str().is_empty());
            path.ok_or_else(|| not(name, &value, "a path"))
        };
        self.get(name)?.map(path).transpose()
    }

    /// True or false, Python's or NumPy's.
    pub fn switch(&self, name: &'static str) -> PyResult<bool> {
        let value = Self::needed(name, self.get(name)?, "True or False")?;
        value.extract().map_err(|_| not(name, &value, "True or False"))
    }
}

const NUMBER: &str = "a number such as 0.5 or 1e-5";
const COUNT: &str = "a whole number without a sign, such as 100 or 1e7";

fn number(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    value.extract().map_err(|_| not(name, value, NUMBER))
}

fn count(name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(count) = value.extract() {
        return Ok(count);
    }
    match value.extract::<f64>() {
        Ok(count) if count.fract() == 0.0 && (0.0..9e15).contains(&count) => Ok(count as u64),
        _ => Err(not(name, value, COUNT)),
    }
}

fn not(name: &'static str, value: &Bound<'_, PyAny>, allowed: &str) -> PyErr {
    let shown = value.repr().map_or_else(|_| "something else".to_owned(), |repr| repr.to_string());
    refusal(Error::bad_value(name, shown, allowed, "see help(misdeal)"))
}
