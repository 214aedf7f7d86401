//! Where in a program something happens.

use crate::role::Role;
use ruff_python_ast::{Expr, StmtFor, StmtWhile};
use std::cell::OnceCell;
use std::rc::Rc;

/// The statement of a call: what it assigns, and what lies around it.
#[derive(Debug, Clone, Default)]
pub struct Place<'a> {
    /// The names that the statement assigns.
    pub targets: Vec<&'a str>,
    /// What lies around the statement.
    pub around: Rc<Surroundings<'a>>,
    /// What the targets say of the data's use, once a rule has asked.
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
    /// Tests of the `if` statements within whose first branch this is, in the innermost function.
    pub conditions: Vec<&'a Expr>,
    /// Whether gradients are switched off here (`torch.no_grad()`), so that nothing is trained.
    pub without_gradients: bool,
    /// What rules have asked before; all statements of a block share it.
    pub asked: Asked,
}

/// What is worked out once for a block, when a rule asks; a copy for another block starts anew.
#[derive(Debug, Default)]
pub struct Asked {
    /// Whether the block is for training or for evaluation.
    pub role: OnceCell<Role>,
    /// The place of the innermost loop over epochs among the loops.
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
