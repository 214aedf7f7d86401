//! A safe reader for the few pickles that data sets come in: dictionaries of integers, strings, lists and byte arrays.
//!
//! A pickle is a program for a stack machine that may name and call any Python function. Here nothing is called: the five
//! functions that NumPy's arrays and Python 3's byte strings need are known by name and stand for what they would have made;
//! every other name, and every instruction that is not needed, is refused. Protocols 2 to 5 are understood, which covers what
//! Python 2 wrote and what re-saved copies hold (`pickletools` of Python's library documents the instructions).
//!
//! Memory is in proportion to the input: strings stay where they are in it, a program may have [`MOST_INSTRUCTIONS`]
//! instructions, and what is decoded is never longer than the input in all.

mod construction;
mod input;
mod machine;
mod object;
#[cfg(test)]
mod tests;

use super::error::Problem;
use machine::Machine;
use object::{Id, Object};

/// The most instructions of a program; a batch of 10,000 images needs about 50,000.
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
    /// Anything that is not a dictionary, is cut short, or asks for more than the reader knows.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Problem> {
        let (mut objects, top) = Machine::new(bytes).run()?;
        match std::mem::replace(&mut objects[top], Object::None) {
            Object::Dictionary(entries) => Ok(Pickle { objects, entries }),
            other => Err(format!("it holds {} instead of a dictionary", other.kind())),
        }
    }

    /// The value of a key, which Python 2 wrote as bytes and Python 3 as text.
    fn value(&self, name: &str) -> Result<&Object<'a>, Problem> {
        let is_name = |key: &Id| self.objects[*key].string() == Some(name.as_bytes());
        // As in Python, the last of several values for a key counts.
        let entry = self.entries.iter().rev().find(|(key, _)| is_name(key));
        entry.map(|&(_, value)| &self.objects[value]).ok_or_else(|| format!("it has no entry {name:?}"))
    }

    /// The list of integers under `name`.
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

    /// The shape and the elements, last axis fastest, of the array of unsigned bytes under `name`.
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
