//! Builds the objects that the known functions would return. No function is called.

use super::Problem;
use super::machine::Machine;
use super::object::{ByteArray, Function, Id, Object};
use std::borrow::Cow;

impl Machine<'_> {
    /// Pushes the function whose module and name are on the stack.
    pub(super) fn stack_global(&mut self) -> Result<(), Problem> {
        let ids = self.pop_many(2)?;
        let (Object::Text(module), Object::Text(name)) = (&self.objects[ids[0]], &self.objects[ids[1]])
        else {
            return Err("the pickle names a function by something else than text".into());
        };
        let function = Function::named(module, name)?;
        self.push(Object::Function(function));
        Ok(())
    }

    /// Pushes the object that a call would return.
    pub(super) fn reduce(&mut self) -> Result<(), Problem> {
        let ids = self.pop_many(2)?;
        let (Object::Function(function), Object::Tuple(arguments)) =
            (&self.objects[ids[0]], &self.objects[ids[1]])
        else {
            return Err("the pickle calls something that is not a function".into());
        };
        let made = match (function, &arguments[..]) {
            (Function::Encode, &[text, encoding]) => {
                let bytes = latin1(&self.objects[text], &self.objects[encoding], self.decodable)?;
                self.decodable -= bytes.len();
                Object::Bytes(Cow::Owned(bytes))
            }
            (Function::ElementType, &[name, ..]) => match self.objects[name].string() {
                Some(b"u1" | b"|u1" | b"uint8") => Object::ByteType,
                _ => {
                    return Err(
                        "the pickle holds an array of another element type than unsigned bytes".into()
                    );
                }
            },
            (Function::Reconstruct, &[class, ..])
                if matches!(self.objects[class], Object::Function(Function::ArrayClass)) =>
            {
                Object::Array(None)
            }
            (Function::FromBuffer, &[elements, element_type, shape, order]) => {
                let in_order = self.objects[order].string() == Some(b"C");
                Object::Array(Some(self.array(shape, element_type, in_order, elements)?))
            }
            _ => return Err("the pickle calls a function with arguments that do not fit it".into()),
        };
        self.push(made);
        Ok(())
    }

    /// Sets the state of the object on top of the stack.
    pub(super) fn build(&mut self) -> Result<(), Problem> {
        let state = self.pop()?;
        let Object::Tuple(state) = &self.objects[state] else {
            return Err("the pickle gives a state that is not a tuple".into());
        };
        // A copy, because the object changes. The longest state is that of an element type and has nine parts.
        let state: Vec<Id> = state.iter().take(10).copied().collect();
        match (self.top()?, &state[..]) {
            // This state holds byte order, alignment and similar, which do not apply to single bytes.
            (Object::ByteType, _) => {}
            (Object::Array(None), &[_, shape, element_type, fortran_order, elements]) => {
                let in_order = matches!(self.objects[fortran_order], Object::Boolean(false));
                let array = self.array(shape, element_type, in_order, elements)?;
                *self.top()? = Object::Array(Some(array));
            }
            (other, _) => {
                return Err(format!("the pickle gives a state to {} that does not fit it", other.kind()));
            }
        }
        Ok(())
    }

    fn array(&self, shape: Id, element_type: Id, in_order: bool, elements: Id) -> Result<ByteArray, Problem> {
        if !matches!(self.objects[element_type], Object::ByteType) {
            return Err("the pickle holds an array of another element type than unsigned bytes".into());
        }
        if !in_order {
            return Err("the pickle holds an array in Fortran's order, which is not read".into());
        }
        let Object::Tuple(lengths) = &self.objects[shape] else {
            return Err("the pickle holds an array without a shape".into());
        };
        if lengths.len() > MOST_AXES {
            return Err(format!("the pickle holds an array with {} axes", lengths.len()));
        }
        let length = |&id: &Id| match self.objects[id] {
            Object::Integer(length) => usize::try_from(length).ok(),
            _ => None,
        };
        let shape = lengths.iter().map(length).collect::<Option<_>>();
        Ok(ByteArray { shape: shape.ok_or("the pickle holds an array with a bad shape")?, elements })
    }
}

/// The largest number of dimensions, as in NumPy.
const MOST_AXES: usize = 32;

/// Decodes at most `most` bytes that Python 3 wrote as Latin-1 text.
fn latin1(text: &Object, encoding: &Object, most: usize) -> Result<Vec<u8>, Problem> {
    let (Object::Text(text), Some(b"latin1" | b"latin-1")) = (text, encoding.string()) else {
        return Err("the pickle encodes something else than Latin-1 text".into());
    };
    let count = text.chars().count();
    if count > most {
        return Err("the pickle decodes to more bytes than it has".into());
    }
    let bytes = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect::<Option<_>>();
    bytes.ok_or_else(|| "the pickle encodes text that is not Latin-1".into())
}
