//! The imported names of a module: `tf` for `tensorflow`, `DataLoader` for `torch.utils.data.DataLoader`.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Stmt, StmtImport, StmtImportFrom};
use std::collections::{BTreeSet, HashMap};

/// The imports of a module read so far.
#[derive(Debug, Default)]
pub struct Imports<'a> {
    names: HashMap<&'a str, String>,
    modules: BTreeSet<String>,
    stars: Vec<&'a str>,
}

/// Reads the imports of all statements, and no expressions.
impl<'a> Visitor<'a> for Imports<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::FunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::If(_)
            | Stmt::For(_)
            | Stmt::While(_)
            | Stmt::With(_)
            | Stmt::Try(_) => visitor::walk_stmt(self, statement),
            _ => {}
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

impl<'a> Imports<'a> {
    /// Adds all imports of a module, because a function may use names that are imported below it.
    pub fn collect(&mut self, body: &'a [Stmt]) {
        self.visit_body(body);
    }

    /// Adds `import a.b as c`.
    pub fn import(&mut self, statement: &'a StmtImport) {
        for alias in &statement.names {
            let module = alias.name.as_str();
            self.modules.insert(module.to_owned());
            let top = module.split('.').next().unwrap_or(module);
            let (name, stands_for) = alias.asname.as_ref().map_or((top, top), |name| (name.as_str(), module));
            self.names.insert(name, stands_for.to_owned());
        }
    }

    /// Adds `from a.b import c as d`; relative modules keep their dots.
    pub fn import_from(&mut self, statement: &'a StmtImportFrom) {
        let module = statement.module.as_ref().map_or("", |name| name.as_str());
        let module = ".".repeat(statement.level as usize) + module;
        for alias in &statement.names {
            let imported = alias.name.as_str();
            if imported == "*" {
                self.stars.extend(statement.module.as_deref());
                continue;
            }
            let qualified = format!("{module}.{imported}");
            // The whole name is kept, because it shows which part of a library is used.
            self.modules.insert(qualified.clone());
            self.names.insert(alias.asname.as_ref().unwrap_or(&alias.name).as_str(), qualified);
        }
        self.modules.insert(module);
    }

    /// The full name of an imported name, such as `torch.utils.data.DataLoader`.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(String::as_str)
    }

    /// Whether the module imports a top-level package or a part of it.
    pub fn uses(&self, package: &str) -> bool {
        self.modules.iter().any(|module| is_within(module, package))
    }

    /// The full names of all imports.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// Whether `from package import *` is used.
    pub fn has_star_of(&self, package: &str) -> bool {
        self.stars.iter().any(|module| is_within(module, package))
    }
}

/// Whether a dotted name is the package or a part of it.
fn is_within(module: &str, package: &str) -> bool {
    module.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The name `a` of an expression `a.b.c`; `None` for other expressions.
pub fn root_name(mut expression: &Expr) -> Option<&str> {
    loop {
        match expression {
            Expr::Attribute(attribute) => expression = &attribute.value,
            Expr::Name(name) => return Some(name.id.as_str()),
            _ => return None,
        }
    }
}

/// Writes `a.b.c` with `root` instead of `a`. The expression must have a [`root_name`].
pub fn dotted(expression: &Expr, root: &str) -> String {
    let mut attributes = Vec::new();
    let mut rest = expression;
    while let Expr::Attribute(attribute) = rest {
        attributes.push(attribute.attr.as_str());
        rest = &attribute.value;
    }
    let mut path = root.to_owned();
    for attribute in attributes.iter().rev() {
        path.push('.');
        path.push_str(attribute);
    }
    path
}
