//! Reads a call's named arguments with `serde` into the request type that the command line also uses.
//!
//! # Why a dictionary?
//! Arguments have the command line's names, so a refusal names the field in both. A test compares parameters,
//! defaults and messages with `--help`.

use crate::errors::{of_file, refusal};
use misdeal_files::atomic::check_place;
use misdeal_files::stores::check_is_no_store;
use misdeal_report::Format;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, Expected, IntoDeserializer, Unexpected, Visitor};
use std::fmt::{self, Display};
use std::path::PathBuf;

/// The arguments of a call: the job's request, and arguments that only Python has.
pub struct Call<R> {
    pub request: R,
    /// Threads to use; all cores if not given.
    pub threads: Option<u64>,
    /// The file for the figure.
    pub plot: Option<PathBuf>,
}

/// Arguments that are no part of a request.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OfThisDoor {
    threads: Option<u64>,
    #[serde(deserialize_with = "misdeal::request::path::deserialize")]
    plot: Option<PathBuf>,
}

impl<R: DeserializeOwned> Call<R> {
    /// Reads all arguments. Refuses an unusable file for the figure before anything is computed.
    pub fn read(arguments: &Bound<'_, PyDict>) -> PyResult<Self> {
        let arguments = named(arguments)?;
        let is_asked = |name: &str| !["threads", "plot", "quiet"].contains(&name);
        let (asked, ours): (Vec<_>, Vec<_>) = arguments.into_iter().partition(|(name, _)| is_asked(name));
        let OfThisDoor { threads, plot } = request(&ours)?;
        if let Some(path) = &plot {
            Format::of(path).map_err(refusal)?;
            check_place(path).and_then(|()| check_is_no_store(path)).map_err(|error| of_file(&error))?;
        }
        Ok(Call { request: request(&asked)?, threads, plot })
    }
}

/// Reads arguments that form a request and nothing else.
pub fn read<R: DeserializeOwned>(arguments: &Bound<'_, PyDict>) -> PyResult<R> {
    request(&named(arguments)?)
}

/// A Python value with the name of its argument.
type Argument<'py> = (String, Value<'py>);

fn named<'py>(arguments: &Bound<'py, PyDict>) -> PyResult<Vec<Argument<'py>>> {
    arguments.iter().map(|(name, value)| Ok((name.extract()?, Value(value)))).collect()
}

fn request<R: DeserializeOwned>(arguments: &[Argument<'_>]) -> PyResult<R> {
    let of = |arguments: &[Argument<'_>]| R::deserialize(MapDeserializer::new(arguments.iter().cloned()));
    of(arguments).map_err(|refused| {
        // The one to blame is refused alone too, since all others may be left out.
        let blamed = arguments.iter().find_map(|one| Some((one, of(std::slice::from_ref(one)).err()?)));
        let ((name, value), Refused { value: told, allowed, hint }) = match &blamed {
            Some((argument, refused)) => (*argument, refused),
            None => return PyValueError::new_err(refused.to_string()),
        };
        let shown = told.clone().unwrap_or_else(|| value.to_string());
        PyValueError::new_err(format!("{name} is {shown}, but {allowed} is allowed; {hint}"))
    })
}

/// A Python value. NumPy scalars count as numbers, floats such as `1e7` as whole numbers, and `os.PathLike` as a path.
#[derive(Clone)]
struct Value<'py>(Bound<'py, PyAny>);

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.repr().map_or_else(|_| "something else".to_owned(), |repr| repr.to_string()))
    }
}

impl IntoDeserializer<'_, Refused> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        const WHOLE: std::ops::Range<f64> = 0.0..9e15;
        let value = &self.0;
        if value.is_none() {
            visitor.visit_none()
        } else if let Ok(switch) = value.extract::<bool>() {
            visitor.visit_bool(switch)
        } else if let Some(text) = text(value) {
            visitor.visit_string(text)
        } else if let Ok(count) = value.extract::<u64>() {
            visitor.visit_u64(count)
        } else if let Ok(number) = value.extract::<f64>() {
            if number.fract() == 0.0 && WHOLE.contains(&number) {
                visitor.visit_u64(number as u64)
            } else {
                visitor.visit_f64(number)
            }
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            let items: Vec<_> = value.try_iter().into_iter().flatten().flatten().map(Value).collect();
            visitor.visit_seq(SeqDeserializer::new(items.into_iter()))
        } else {
            // No field is a map: whatever is expected instead is named.
            let nothing = std::iter::empty::<(String, String)>();
            MapAccessDeserializer::new(MapDeserializer::new(nothing)).deserialize_any(visitor)
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        if self.0.is_none() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refused> {
        match text(&self.0) {
            Some(name) => visitor.visit_enum(name.into_deserializer()),
            None => Err(Refused::other("a string")),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// Returns a string, or the result of `os.fspath` for a path.
fn text(value: &Bound<'_, PyAny>) -> Option<String> {
    let path = || value.extract::<PathBuf>().ok()?.into_os_string().into_string().ok();
    value.extract().ok().or_else(path)
}

/// A refused value, and what is allowed instead.
#[derive(Debug)]
struct Refused {
    /// The value as the message should show it, if not as Python would.
    value: Option<String>,
    allowed: String,
    hint: &'static str,
}

impl Refused {
    fn other(allowed: impl Display) -> Self {
        Refused { value: None, allowed: allowed.to_string(), hint: "see help(misdeal)" }
    }

    fn expected(expected: &dyn Expected) -> Self {
        let expected = expected.to_string();
        Self::other(match expected.as_str() {
            "f64" => "a number such as 0.5 or 1e-5",
            "u64" => "a whole number without a sign, such as 100 or 1e7",
            "a boolean" => "True or False",
            "path string" => "a path",
            "string or map" => "a string",
            other => other,
        })
    }
}

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is allowed; {}", self.allowed, self.hint)
    }
}

impl std::error::Error for Refused {}

impl Error for Refused {
    fn custom<T: Display>(message: T) -> Self {
        Self::other(message)
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn unknown_variant(variant: &str, names: &'static [&'static str]) -> Self {
        let allowed = format!("one of {}", names.join(", "));
        Refused { value: Some(variant.to_owned()), allowed, hint: "check the spelling" }
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self::other("no such argument")
    }
}
