//! Command lines that do a stored job again.
//!
//! Documents carry everything a re-run needs. `crates/cli/tests/report.rs` runs the command of a page and compares
//! the numbers.

use misdeal_results::numbers::probability;
use misdeal_results::request::quoted;

/// A command line that grows.
#[derive(Debug, Clone)]
pub struct CommandLine(String);

impl CommandLine {
    /// `misdeal` with a command.
    pub fn new(command: &str) -> Self {
        CommandLine(format!("misdeal {command}"))
    }

    /// With a flag and its value.
    #[expect(clippy::needless_pass_by_value, reason = "calls read like the command line")]
    pub fn flag(mut self, name: &str, value: impl ToString) -> Self {
        self.0.push_str(" --");
        self.0.push_str(name);
        self.0.push(' ');
        self.0.push_str(&quoted(&value.to_string()));
        self
    }

    /// With a flag and a number, small ones as 1e-5.
    pub fn number(self, name: &str, value: f64) -> Self {
        self.flag(name, probability(value))
    }

    /// With a flag, if there is a value for it.
    pub fn flag_if_any(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.flag(name, value),
            None => self,
        }
    }

    /// With a switch, if it was on.
    pub fn switch(mut self, name: &str, on: bool) -> Self {
        if on {
            self.0.push_str(" --");
            self.0.push_str(name);
        }
        self
    }

    /// With a word that has no flag.
    pub fn word(mut self, word: &str) -> Self {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
        self
    }

    /// The whole line.
    pub fn text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_command_as_they_are() {
        let line = CommandLine::new("diagnose")
            .word("it's a <log>; rm -rf $HOME.jsonl")
            .number("delta", 1e-5)
            .flag_if_any("epochs", None::<u64>)
            .switch("trade-off", true)
            .text();
        assert_eq!(line, r"misdeal diagnose 'it'\''s a <log>; rm -rf $HOME.jsonl' --delta 1e-5 --trade-off");
    }
}
