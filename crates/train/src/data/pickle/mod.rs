//! A safe reader for the pickles that data sets use: dictionaries of integers, strings, lists and byte arrays.
//!
//! A pickle is a program for a stack machine that may name and call any Python function. This reader calls nothing. It knows the
//! names of the five functions that NumPy's arrays and Python 3's byte strings need, and builds what they would return. Every
//! other name, and every instruction that is not needed, is refused. Protocols 2 to 5 are supported. This covers files that Python
//! 2 wrote and re-saved copies. (`pickletools` in Python's library documents the instructions.)
//!
//! Memory is proportional to the input. Strings are not copied out of the input. A program may have at most [`MOST_INSTRUCTIONS`]
//! instructions. All decoded text together is never longer than the input.

mod construction;
mod input;
mod machine;
mod object;
#[cfg(test)]
mod tests;

use super::error::Problem;
use machine::Machine;
use object::{Id, Object};

/// Largest number of instructions in a program; a batch of 10,000 images needs about 50,000.
pub(super) const MOST_INSTRUCTIONS: usize = 1 << 18;

/// A pickled dictionary.
pub(super) struct Pickle<'a> {
    objects: Vec<Object<'a>>,
    entries: Vec<(Id, Id)>,
}

impl<'a> Pickle<'a> {
    /// Reads a dictionary.
    ///
    /// # Errors
    /// The bytes are not a pickled dictionary, are cut short, or use something that the reader does not support.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        let (mut objects, top) = Machine::new(bytes).run()?;
        match std::mem::replace(&mut objects[top], Object::None) {
            Object::Dictionary(entries) => Ok(Pickle { objects, entries }),
            other => Err(format!("it holds {} instead of a dictionary", other.kind())),
        }
    }

    /// Returns the value of a key. Python 2 wrote keys as bytes, Python 3 as text.
    fn value(&self, name: &str) -> Result<&Object<'a>, Problem> {
        let is_name = |key: &Id| self.objects[*key].string() == Some(name.as_bytes());
        // As in Python, the last value of a repeated key counts.
        let entry = self.entries.iter().rev().find(|(key, _)| is_name(key));
        entry.map(|&(_, value)| &self.objects[value]).ok_or_else(|| format!("it has no entry {name:?}"))
    }

    /// Returns the list of integers under `name`.
    pub fn integers(&self, name: &str) -> Result<Vec<i64>, Problem> {
        let object = self.value(name)?;
        let Object::List(ids) = object else {
            return Err(format!("{name:?} is {} instead of a list", object.kind()));
        };
        let integer = |&id: &Id| match &self.objects[id] {
            Object::Integer(integer) => Ok(*integer),
            other => Err(format!("{name:?} holds {} instead of an integer", other.kind())),
        };
        ids.iter().map(integer).collect()
    }

    /// Returns the shape and elements of the byte array under `name`, last axis fastest.
    pub fn byte_array(&self, name: &str) -> Result<(&[usize], &[u8]), Problem> {
        match self.value(name)? {
            Object::Array(Some(array)) => {
                let Some(bytes) = self.objects[array.elements].string() else {
                    return Err(format!("the elements of {name:?} are not bytes"));
                };
                let claimed = array.shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
                if claimed != Some(bytes.len()) {
                    let shape = &array.shape;
                    return Err(format!("{name:?} has the shape {shape:?}, but {} elements", bytes.len()));
                }
                Ok((&array.shape, bytes))
            }
            other => Err(format!("{name:?} is {} instead of an array of bytes", other.kind())),
        }
    }
}
