//! The stack machine, without the instructions that could do harm.

use super::input::Input;
use super::object::{ByteArray, Function, Id, Object};
use super::{MOST_INSTRUCTIONS, Problem};
use std::borrow::Cow;
use std::collections::HashMap;

/// A program in execution.
pub(super) struct Machine<'a> {
    input: Input<'a>,
    objects: Vec<Object<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack at the marks that are still open.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// How many bytes may still be decoded from text.
    decodable: usize,
}

impl<'a> Machine<'a> {
    pub fn new(program: &'a [u8]) -> Self {
        Machine {
            input: Input(program),
            objects: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
            decodable: program.len(),
        }
    }

    /// Everything that the program made, and which of it is the result.
    pub fn run(mut self) -> Result<(Vec<Object<'a>>, Id), Problem> {
        for _ in 0..MOST_INSTRUCTIONS {
            let instruction = self.input.number::<1>()? as u8;
            if instruction == b'.' {
                let result = self.pop()?;
                return Ok((self.objects, result));
            }
            self.step(instruction)?;
        }
        Err(format!("the pickle has more than {MOST_INSTRUCTIONS} instructions"))
    }

    fn step(&mut self, instruction: u8) -> Result<(), Problem> {
        match instruction {
            // The version, and the length of what is read at a time.
            0x80 => _ = self.input.number::<1>()?,
            0x95 => _ = self.input.number::<8>()?,
            // Constants and numbers.
            b'N' => self.push(Object::None),
            0x88 => self.push(Object::Boolean(true)),
            0x89 => self.push(Object::Boolean(false)),
            b'K' => self.integer(|input| Ok(input.number::<1>()? as i64))?,
            b'M' => self.integer(|input| Ok(input.number::<2>()? as i64))?,
            b'J' => self.integer(|input| Ok(i64::from(input.number::<4>()? as i32)))?,
            0x8a => self.integer(Input::long)?,
            // Bytes: strings of Python 2, bytes and byte arrays of Python 3.
            b'U' | b'C' => self.bytes(Input::counted::<1>)?,
            b'T' | b'B' => self.bytes(Input::counted::<4>)?,
            0x8e | 0x96 => self.bytes(Input::counted::<8>)?,
            // Text.
            0x8c => self.text(Input::counted::<1>)?,
            b'X' => self.text(Input::counted::<4>)?,
            0x8d => self.text(Input::counted::<8>)?,
            // Containers.
            b'(' => self.marks.push(self.stack.len()),
            b']' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dictionary(Vec::new())),
            b')' => self.push(Object::Tuple(Vec::new())),
            b't' => self.tuple_of(Self::pop_to_mark)?,
            0x85..=0x87 => self.tuple_of(|machine| machine.pop_many(usize::from(instruction - 0x84)))?,
            b'a' => self.append(|machine| machine.pop_many(1))?,
            b'e' => self.append(Self::pop_to_mark)?,
            b's' => self.set_items(|machine| machine.pop_many(2))?,
            b'u' => self.set_items(Self::pop_to_mark)?,
            // The memo.
            b'q' => self.remember(|machine| machine.input.number::<1>())?,
            b'r' => self.remember(|machine| machine.input.number::<4>())?,
            0x94 => self.remember(|machine| Ok(machine.memo.len() as u64))?,
            b'h' => self.recall(Input::number::<1>)?,
            b'j' => self.recall(Input::number::<4>)?,
            // Names, what they would make, and its state.
            b'c' => {
                let (module, name) = (utf8(self.input.line()?)?, utf8(self.input.line()?)?);
                self.push(Object::Function(Function::named(module, name)?));
            }
            0x93 => self.stack_global()?,
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            _ => {
                return Err(format!(
                    "the pickle has the instruction {instruction:#04x}, which data does not need"
                ));
            }
        }
        Ok(())
    }

    fn push(&mut self, object: Object<'a>) {
        self.stack.push(self.objects.len());
        self.objects.push(object);
    }

    fn integer(&mut self, read: impl FnOnce(&mut Input<'a>) -> Result<i64, Problem>) -> Result<(), Problem> {
        let integer = read(&mut self.input)?;
        self.push(Object::Integer(integer));
        Ok(())
    }

    fn bytes(
        &mut self,
        read: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Problem>,
    ) -> Result<(), Problem> {
        let bytes = read(&mut self.input)?;
        self.push(Object::Bytes(Cow::Borrowed(bytes)));
        Ok(())
    }

    fn text(
        &mut self,
        read: impl FnOnce(&mut Input<'a>) -> Result<&'a [u8], Problem>,
    ) -> Result<(), Problem> {
        let text = utf8(read(&mut self.input)?)?;
        self.push(Object::Text(text));
        Ok(())
    }

    /// The stack's top, which must lie above the last mark.
    fn pop(&mut self) -> Result<Id, Problem> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(STACK_EMPTY.into());
        }
        self.stack.pop().ok_or_else(|| STACK_EMPTY.into())
    }

    fn pop_many(&mut self, count: usize) -> Result<Vec<Id>, Problem> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.len().checked_sub(count) {
            Some(height) if height >= floor => Ok(self.stack.split_off(height)),
            _ => Err(STACK_EMPTY.into()),
        }
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, Problem> {
        let height = self.marks.pop().ok_or("the pickle closes a mark that is not open")?;
        Ok(self.stack.split_off(height))
    }

    fn tuple_of(&mut self, items: impl FnOnce(&mut Self) -> Result<Vec<Id>, Problem>) -> Result<(), Problem> {
        let items = items(self)?;
        self.push(Object::Tuple(items));
        Ok(())
    }

    /// The object on the top of the stack, which stays there.
    fn top(&mut self) -> Result<&mut Object<'a>, Problem> {
        let id = self.pop()?;
        self.stack.push(id);
        Ok(&mut self.objects[id])
    }

    fn append(&mut self, items: impl FnOnce(&mut Self) -> Result<Vec<Id>, Problem>) -> Result<(), Problem> {
        let mut items = items(self)?;
        match self.top()? {
            Object::List(list) => list.append(&mut items),
            other => return Err(format!("the pickle appends to {}", other.kind())),
        }
        Ok(())
    }

    fn set_items(
        &mut self,
        items: impl FnOnce(&mut Self) -> Result<Vec<Id>, Problem>,
    ) -> Result<(), Problem> {
        let items = items(self)?;
        let (pairs, rest) = items.as_chunks::<2>();
        match self.top()? {
            Object::Dictionary(entries) if rest.is_empty() => {
                entries.extend(pairs.iter().map(|&[k, v]| (k, v)));
            }
            other => return Err(format!("the pickle sets items of {}", other.kind())),
        }
        Ok(())
    }

    fn remember(&mut self, place: impl FnOnce(&mut Self) -> Result<u64, Problem>) -> Result<(), Problem> {
        let place = place(self)?;
        let id = self.pop()?;
        self.stack.push(id);
        self.memo.insert(place, id);
        Ok(())
    }

    fn recall(&mut self, place: impl FnOnce(&mut Input<'a>) -> Result<u64, Problem>) -> Result<(), Problem> {
        let place = place(&mut self.input)?;
        let id = self.memo.get(&place).ok_or("the pickle recalls what it did not remember")?;
        self.stack.push(*id);
        Ok(())
    }

    /// A function whose module and name are on the stack.
    fn stack_global(&mut self) -> Result<(), Problem> {
        let ids = self.pop_many(2)?;
        let (Object::Text(module), Object::Text(name)) = (&self.objects[ids[0]], &self.objects[ids[1]])
        else {
            return Err("the pickle names a function by something else than text".into());
        };
        let function = Function::named(module, name)?;
        self.push(Object::Function(function));
        Ok(())
    }

    /// What a function would make of its arguments.
    fn reduce(&mut self) -> Result<(), Problem> {
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

    /// Gives the object on the top its state.
    fn build(&mut self) -> Result<(), Problem> {
        let state = self.pop()?;
        let Object::Tuple(state) = &self.objects[state] else {
            return Err("the pickle gives a state that is not a tuple".into());
        };
        // A copy, because the object changes; the longest state, that of an element type, has nine parts.
        let state: Vec<Id> = state.iter().take(10).copied().collect();
        match (self.top()?, &state[..]) {
            // Byte order, alignment and the like, which single bytes do not have.
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

/// As in NumPy.
const MOST_AXES: usize = 32;

const STACK_EMPTY: &str = "the pickle takes from an empty stack";

fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|_| "the pickle holds text that is not UTF-8".into())
}

/// The bytes that Python 3 wrote as Latin-1 text, `most` of them at most.
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
