//! Places in a program: statements and their surroundings.

use crate::role::Role;
use ruff_python_ast::{Expr, StmtFor};
use std::cell::OnceCell;
use std::rc::Rc;

/// The statement that contains a call, with its targets and surroundings.
#[derive(Debug, Clone, Default)]
pub struct Place<'a> {
    /// The names that the statement assigns.
    pub targets: Vec<&'a str>,
    /// The surroundings of the statement.
    pub around: Rc<Surroundings<'a>>,
    /// The role that the target names suggest, computed on first use.
    pub role_of_targets: OnceCell<Role>,
}

/// The functions, classes, loops and blocks around a statement, outermost first.
#[derive(Debug, Clone, Default)]
pub struct Surroundings<'a> {
    /// Names of the functions.
    pub functions: Vec<&'a str>,
    /// Names of the classes.
    pub classes: Vec<&'a str>,
    /// The loops within the innermost function.
    pub loops: Vec<Loop<'a>>,
    /// The conditions of `if` statements whose first branch contains the statement. Only the innermost function counts.
    pub conditions: Vec<&'a Expr>,
    /// Whether gradients are switched off here (`torch.no_grad()`), so that nothing is trained.
    pub without_gradients: bool,
    /// Cached answers that all statements of a block share.
    pub asked: Asked,
}

/// Answers that are computed once per block. A clone for another block starts empty.
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
    /// `while`
    While,
}
