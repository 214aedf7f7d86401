//! Objects of a pickle program.

use super::Problem;
use std::borrow::Cow;

/// The index of an object in the machine's list.
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
    /// NumPy's type of unsigned bytes, the only supported element type.
    ByteType,
    /// An array; `None` until its state is known.
    Array(Option<ByteArray>),
}

/// An array of unsigned bytes.
pub(super) struct ByteArray {
    pub shape: Vec<usize>,
    /// Index of an [`Object::Bytes`] with the elements.
    pub elements: Id,
}

/// The function names that a program may use.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Function {
    /// `_codecs.encode`: Python 3 writes bytes this way in protocol 2.
    Encode,
    /// `numpy.dtype`.
    ElementType,
    /// `numpy.ndarray`.
    ArrayClass,
    /// `numpy.core.multiarray._reconstruct`: makes an array whose state follows.
    Reconstruct,
    /// `numpy.core.numeric._frombuffer`: makes an array in protocol 5.
    FromBuffer,
}

impl Function {
    /// Finds the function of this name. NumPy 2 renamed `numpy.core` to `numpy._core`.
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
    /// The bytes of a byte string or text; `None` for other objects.
    pub fn string(&self) -> Option<&[u8]> {
        match self {
            Object::Bytes(bytes) => Some(bytes),
            Object::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// A phrase that names the kind of object, for messages.
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
