//! Objects of a pickle program.

use super::Problem;
use std::borrow::Cow;

/// The index of an object.
pub(super) type Id = usize;

/// A supported object.
pub(super) enum Object<'a> {
    None,
    Boolean(bool),
    Integer(i64),
    Bytes(Cow<'a, [u8]>),
    Text(&'a str),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dictionary(Vec<(Id, Id)>),
    /// A function or class, by name; it is never called.
    Function(Function),
    /// NumPy's type of unsigned bytes, the only one that is understood.
    ByteType,
    /// An array, once its state is known.
    Array(Option<ByteArray>),
}

/// An array of unsigned bytes.
pub(super) struct ByteArray {
    pub shape: Vec<usize>,
    /// A [`Object::Bytes`] with the elements.
    pub elements: Id,
}

/// The names that a program may mention.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Function {
    /// `_codecs.encode`: how Python 3 writes bytes in protocol 2.
    Encode,
    /// `numpy.dtype`.
    ElementType,
    /// `numpy.ndarray`.
    ArrayClass,
    /// `numpy.core.multiarray._reconstruct`: an array whose state follows.
    Reconstruct,
    /// `numpy.core.numeric._frombuffer`: an array in protocol 5.
    FromBuffer,
}

impl Function {
    /// The function of this name; NumPy 2 renamed `numpy.core`.
    pub fn named(module: &str, name: &str) -> Result<Self, Problem> {
        Ok(match (module, name) {
            ("_codecs", "encode") => Function::Encode,
            ("numpy", "dtype") => Function::ElementType,
            ("numpy", "ndarray") => Function::ArrayClass,
            ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Function::Reconstruct,
            ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Function::FromBuffer,
            _ => {
                let mention: String = format!("{module}.{name}").chars().take(80).collect();
                return Err(format!(
                    "the pickle asks for {mention:?}, which data does not need and is not run"
                ));
            }
        })
    }
}

impl Object<'_> {
    /// The bytes of a string of either kind.
    pub fn string(&self) -> Option<&[u8]> {
        match self {
            Object::Bytes(bytes) => Some(bytes),
            Object::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The kind in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Object::None => "None",
            Object::Boolean(_) => "a truth value",
            Object::Integer(_) => "an integer",
            Object::Bytes(_) | Object::Text(_) => "a string",
            Object::List(_) => "a list",
            Object::Tuple(_) => "a tuple",
            Object::Dictionary(_) => "a dictionary",
            Object::Function(_) => "a function",
            Object::ByteType => "an element type",
            Object::Array(_) => "an array",
        }
    }
}
