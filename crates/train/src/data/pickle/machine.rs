//! The stack machine that runs a pickle program, with harmless instructions only.

use super::input::Input;
use super::object::{Function, Id, Object};
use super::{MOST_INSTRUCTIONS, Problem};
use std::borrow::Cow;
use std::collections::HashMap;

/// A program in execution.
pub(super) struct Machine<'a> {
    input: Input<'a>,
    pub(super) objects: Vec<Object<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack at the marks that are still open.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    /// Number of bytes that may still be decoded from text.
    pub(super) decodable: usize,
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

    /// Runs the program; returns all objects and the index of the result.
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
            // The protocol version, and the frame length.
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
            // Function names, the objects they would make, and the states of these objects.
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

    pub(super) fn push(&mut self, object: Object<'a>) {
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

    /// Removes and returns the top of the stack, which must be above the last mark.
    pub(super) fn pop(&mut self) -> Result<Id, Problem> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(STACK_EMPTY.into());
        }
        self.stack.pop().ok_or_else(|| STACK_EMPTY.into())
    }

    pub(super) fn pop_many(&mut self, count: usize) -> Result<Vec<Id>, Problem> {
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

    /// Returns the object on top of the stack without removing it.
    pub(super) fn top(&mut self) -> Result<&mut Object<'a>, Problem> {
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
}

const STACK_EMPTY: &str = "the pickle takes from an empty stack";

fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|_| "the pickle holds text that is not UTF-8".into())
}
