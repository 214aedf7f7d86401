//! Colours of verdicts on terminals.

use crate::arguments::{Color, CommonArguments};
use misdeal_results::VerdictKind;

/// The text before a verdict.
const VERDICT: &str = "Verdict: ";

/// Whether to print colours on standard output.
///
/// Colours are printed if requested. By default they are printed on a terminal, unless it is dumb or `NO_COLOR` is set.
pub fn has_colours(common: &CommonArguments) -> bool {
    match common.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
            common.environment.is_read() && !is_set("NO_COLOR") && !is_dumb
        }
    }
}

/// Returns the text with its verdict in bold and in the colour of `kind`.
///
/// The verdict is the first paragraph. Text from untrusted files was made printable before, so every escape code here is ours.
pub fn with_colours(text: &str, kind: VerdictKind) -> String {
    if !text.starts_with(VERDICT) {
        return text.to_owned();
    }
    let (verdict, rest) = text.split_once("\n\n").unwrap_or((text.trim_end_matches('\n'), ""));
    let colour = match kind {
        VerdictKind::Refuted => "31",
        VerdictKind::Holds => "32",
        VerdictKind::Undecided => "33",
        VerdictKind::NoClaim => "39",
    };
    // A terminal that scrolls keeps the colour of a line on that line.
    let lines = verdict.lines().map(|line| format!("\u{1b}[1;{colour}m{line}\u{1b}[0m"));
    let lines = lines.collect::<Vec<_>>().join("\n");
    if rest.is_empty() { format!("{lines}\n") } else { format!("{lines}\n\n{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_alone_is_coloured() {
        let text = "Verdict: it is REFUTED,\nby theory.\n\nVerdict: of another\n";
        let shown = with_colours(text, VerdictKind::Refuted);
        assert_eq!(
            shown,
            "\u{1b}[1;31mVerdict: it is REFUTED,\u{1b}[0m\n\u{1b}[1;31mby theory.\u{1b}[0m\n\nVerdict: of another\n"
        );
        assert_eq!(with_colours("Audit\n", VerdictKind::Holds), "Audit\n");
        assert_eq!(with_colours("Verdict: x\n", VerdictKind::Holds), "\u{1b}[1;32mVerdict: x\u{1b}[0m\n");
    }
}
