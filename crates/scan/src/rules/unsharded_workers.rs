//! A `DataLoader` with several workers over an `IterableDataset` of the module that does not ask for its worker.
//!
//! # Example
//! ```python
//! class Records(IterableDataset):
//!     def __iter__(self):
//!         return iter(self.records)
//!
//! loader = DataLoader(Records(), batch_size=64, num_workers=4)
//! ```
//!
//! The rule reports in every module, because duplicates are never intended.

use super::data_loader::loaders;
use super::{Found, Reach, Rule};
use crate::flow::Origin;
use crate::module::Module;
use misdeal_results::Level;
use ruff_python_ast::{Expr, StmtClassDef};
use ruff_text_size::Ranged;

pub const RULE: Rule = Rule {
    name: "unsharded-workers",
    finds: "an IterableDataset whose records every worker yields again",
    why: "each record is used once by every worker in an epoch, and the accountant counts one use",
    fix: "split the records by torch.utils.data.get_worker_info() in __iter__, or set num_workers=0",
    reach: Reach::Everywhere,
    level: Level::Error,
    check,
};

fn check(module: &Module, found: &mut Found) {
    for loader in loaders(module) {
        let workers = loader.arguments.get("num_workers", 5).and_then(|(_, value)| value.as_int());
        let Some(workers) = workers.filter(|workers| *workers > 1) else { continue };
        if loader.arguments.open || loader.arguments.named("worker_init_fn").is_some() {
            continue;
        }
        let Some((_, data)) = loader.arguments.get("dataset", 0) else { continue };
        let Some(Origin::Constructed(name, ..)) = data.origin() else { continue };
        let class = module.lookups.class(&module.facts, name);
        if class.is_some_and(|class| is_iterable(class) && !is_sharded(module, class)) {
            let what = format!("each of {workers} workers yields all records of {name}");
            found.add(loader.expression.func.range(), what);
        }
    }
}

/// Whether a class has `IterableDataset` as its only base.
pub fn is_iterable(class: &StmtClassDef) -> bool {
    let Some(arguments) = &class.arguments else { return false };
    let [base] = &*arguments.args else { return false };
    match base {
        Expr::Name(name) => name.id.as_str() == "IterableDataset",
        Expr::Attribute(attribute) => attribute.attr.as_str() == "IterableDataset",
        _ => false,
    }
}

/// Whether a class mentions workers, ranks or shards, or has no own `__iter__`.
///
/// Random streams count too: they are endless and have no records to repeat.
fn is_sharded(module: &Module, class: &StmtClassDef) -> bool {
    let text = &module.source.text[class.range];
    let hints = ["worker", "rank", "shard", "random", "rand(", "randn("];
    !text.contains("def __iter__") || hints.iter().any(|hint| text.contains(hint))
}
