//! Decides from names whether code or data is for training or for evaluation.
//!
//! Evaluation costs no privacy, so it is not reported. The nearest name decides: first the assigned variable, then the value that
//! is read, then the surrounding function. A name with words for both (`train_test_split`) does not decide.

use crate::flow::{Arguments, History, Operation, Origin, Place, Value};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, Expr, UnaryOp};

/// The purpose of data or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Training.
    Training,
    /// Evaluation.
    Evaluation,
    /// The names do not decide.
    Unknown,
}

/// Longest name that is examined; longer names are ignored.
const LONGEST_NAME: usize = 1_000;

const TRAINING: [&str; 3] = ["train", "training", "trn"];
const EVALUATION: [&str; 20] = [
    "val",
    "valid",
    "validation",
    "validate",
    "test",
    "tests",
    "testing",
    "eval",
    "evaluate",
    "evaluation",
    "evaluator",
    "dev",
    "infer",
    "inference",
    "predict",
    "prediction",
    "predictions",
    "holdout",
    "heldout",
    "demo",
];
/// Suffixes without an underscore: `trainset`, `testloader`.
const SUFFIXES: [&str; 8] = ["data", "dataset", "dl", "ds", "gen", "iter", "loader", "set"];

/// Whether a word is one of `choices`, with or without a suffix.
fn is_one_of(word: &str, choices: &[&str]) -> bool {
    let is_choice = |word: &str| choices.contains(&word);
    is_choice(word) || SUFFIXES.iter().any(|suffix| word.strip_suffix(suffix).is_some_and(is_choice))
}

impl Role {
    /// The role that a name suggests.
    pub fn of_name(name: &str) -> Self {
        // No person wrote such a long name, and every line may ask for its role.
        if name.len() > LONGEST_NAME {
            return Role::Unknown;
        }
        let (mut training, mut evaluation) = (false, false);
        for word in words(name) {
            training |= is_one_of(&word, &TRAINING);
            evaluation |= is_one_of(&word, &EVALUATION);
        }
        match (training, evaluation) {
            (true, false) => Role::Training,
            (false, true) => Role::Evaluation,
            _ => Role::Unknown,
        }
    }

    /// The role that the first deciding name suggests.
    fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let roles = names.into_iter().map(Role::of_name);
        roles.into_iter().find(|role| *role != Role::Unknown).unwrap_or(Role::Unknown)
    }

    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        if self == Role::Unknown { other() } else { self }
    }

    /// The role that the assigned names suggest.
    pub fn of_targets(place: &Place) -> Self {
        *place.role_of_targets.get_or_init(|| Role::of_names(place.targets.iter().copied()))
    }

    /// The role that the functions and classes around a place suggest.
    pub fn around(place: &Place) -> Self {
        *place.around.asked.role.get_or_init(|| Role::of_surroundings(place))
    }

    fn of_surroundings(place: &Place) -> Self {
        if place.around.without_gradients {
            return Role::Evaluation;
        }
        let conditions = place.around.conditions.iter().rev().map(|test| Role::of_condition(test));
        let role = conditions.into_iter().find(|role| *role != Role::Unknown).unwrap_or(Role::Unknown);
        let around = place.around.functions.iter().rev().chain(place.around.classes.iter().rev());
        role.or_else(|| Role::of_names(around.copied()))
    }

    /// The role that follows if a condition is true: `if training:`, `if mode == "eval":`.
    pub fn of_condition(test: &Expr) -> Self {
        match test {
            Expr::Name(_) | Expr::Attribute(_) => Role::of_expression(test),
            Expr::Compare(compare) if *compare.ops == [CmpOp::Eq] => Role::of_expression(test),
            Expr::UnaryOp(negation) if negation.op == UnaryOp::Not => {
                match Role::of_condition(&negation.operand) {
                    Role::Training => Role::Evaluation,
                    Role::Evaluation => Role::Training,
                    Role::Unknown => Role::Unknown,
                }
            }
            _ => Role::Unknown,
        }
    }

    /// The role that arguments suggest by their names, by strings, or by `train=False`.
    pub fn of_arguments(arguments: &Arguments) -> Self {
        *arguments.role.get_or_init(|| Role::of_all_arguments(arguments))
    }

    fn of_all_arguments(arguments: &Arguments) -> Self {
        for (name, _, value) in &arguments.keywords {
            if matches!(*name, "train" | "training" | "is_train" | "is_training" | "train_mode") {
                match value.as_bool() {
                    Some(true) => return Role::Training,
                    Some(false) => return Role::Evaluation,
                    None => {}
                }
            }
        }
        let mut roles = arguments.all().map(|(expression, value)| Role::of_argument(expression, value));
        roles.find(|role| *role != Role::Unknown).unwrap_or(Role::Unknown)
    }

    /// The role that one argument suggests, by its names or by the call that made it (`data = MNIST(train=False)`).
    pub fn of_argument(expression: &Expr, value: &Value) -> Self {
        let of_origin = || match value.origin() {
            Some(Origin::Constructed(_, _, given)) if !given.all().any(|(_, value)| is_call(value)) => {
                Role::of_arguments(given)
            }
            _ => Role::Unknown,
        };
        if expression.is_call_expr() {
            // `train=False` is stronger evidence than a path that contains the word.
            of_origin().or_else(|| Role::of_expression(expression))
        } else {
            Role::of_expression(expression).or_else(of_origin)
        }
    }

    /// The role that all names and strings of an expression suggest.
    fn of_expression(expression: &Expr) -> Self {
        let mut words = Words { training: false, evaluation: false };
        words.visit_expr(expression);
        match (words.training, words.evaluation) {
            (true, false) => Role::Training,
            (false, true) => Role::Evaluation,
            _ => Role::Unknown,
        }
    }

    /// The role of a pipeline, up to its last operation.
    pub fn of_pipeline(history: &History, operation: &Operation) -> Self {
        let place = &operation.place;
        Role::of_targets(place)
            .or_else(|| {
                let items = history.backwards().filter(|step| step.arguments.is_none());
                Role::of_names(items.map(|step| step.name))
            })
            .or_else(|| match history.origin() {
                Origin::Variable(name) | Origin::Imported(name) => Role::of_name(name),
                Origin::Constructed(name, _, arguments) => {
                    Role::of_arguments(arguments).or_else(|| Role::of_name(name))
                }
                _ => Role::Unknown,
            })
            .or_else(|| {
                let mut roles = history.backwards().map(|step| Role::of_targets(&step.place));
                roles.find(|role| *role != Role::Unknown).unwrap_or(Role::Unknown)
            })
            .or_else(|| Role::around(place))
    }
}

fn is_call(value: &Value) -> bool {
    matches!(value.origin(), Some(Origin::Constructed(..)))
}

struct Words {
    training: bool,
    evaluation: bool,
}

impl Words {
    fn note(&mut self, name: &str) {
        match Role::of_name(name) {
            Role::Training => self.training = true,
            Role::Evaluation => self.evaluation = true,
            Role::Unknown => {}
        }
    }
}

impl<'a> Visitor<'a> for Words {
    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => self.note(name.id.as_str()),
            Expr::Attribute(attribute) => self.note(attribute.attr.as_str()),
            Expr::StringLiteral(literal) => self.note(literal.value.to_str()),
            _ => {}
        }
        visitor::walk_expr(self, expression);
    }
}

/// The words of a name, in lower case: `trainLoader_2` gives `train`, `loader`.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphabetic()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood() {
        for (name, role) in [
            ("train_loader", Role::Training),
            ("trainLoader2", Role::Training),
            ("X_test", Role::Evaluation),
            ("valset", Role::Evaluation),
            ("validateset", Role::Evaluation),
            ("trainloader", Role::Training),
            ("train_test_split", Role::Unknown),
            ("constrain", Role::Unknown),
            ("contest", Role::Unknown),
            ("loader", Role::Unknown),
        ] {
            assert_eq!(Role::of_name(name), role, "{name}");
        }
    }
}
