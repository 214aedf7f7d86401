//! Places in a program: statements and what surrounds them.

use crate::role::Role;
use ruff_python_ast::{Expr, StmtFor, StmtWhile};
use std::cell::OnceCell;
use std::rc::Rc;

/// The statement of a call, with its targets and surroundings.
#[derive(Debug, Clone, Default)]
pub struct Place<'a> {
    /// The names that the statement assigns.
    pub targets: Vec<&'a str>,
    /// The surroundings of the statement.
    pub around: Rc<Surroundings<'a>>,
    /// The role that the targets suggest, computed on first use.
    pub role_of_targets: OnceCell<Role>,
}

/// Functions, classes, loops and blocks around a statement, the outermost first.
#[derive(Debug, Clone, Default)]
pub struct Surroundings<'a> {
    /// Names of functions.
    pub functions: Vec<&'a str>,
    /// Names of classes.
    pub classes: Vec<&'a str>,
    /// Loops within the innermost function.
    pub loops: Vec<Loop<'a>>,
    /// Conditions of the `if` statements whose first branch this is in, within the innermost function.
    pub conditions: Vec<&'a Expr>,
    /// Whether gradients are switched off here (`torch.no_grad()`), so nothing is trained.
    pub without_gradients: bool,
    /// Answers that all statements of a block share.
    pub asked: Asked,
}

/// Answers computed once for a block; a copy for another block starts empty.
#[derive(Debug, Default)]
pub struct Asked {
    /// Whether the block is for training or for evaluation.
    pub role: OnceCell<Role>,
    /// The index of the innermost loop over epochs.
    pub epochs: OnceCell<Option<usize>>,
}

impl Clone for Asked {
    fn clone(&self) -> Self {
        Asked::default()
    }
}

/// A loop statement.
#[derive(Debug, Clone, Copy)]
pub enum Loop<'a> {
    /// `for x in y:`
    For(&'a StmtFor),
    /// `while x:`
    While(&'a StmtWhile),
}
