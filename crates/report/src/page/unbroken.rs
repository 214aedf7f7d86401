//! Keeps numbers like 1e-5, names like balls-in-bins and flags on one line.

use crate::chart::Role;
use askama::filters::{Html, escape};

/// Lengths of numbers to keep whole: too long for some narrow columns, short enough for every page.
const LONG: std::ops::Range<usize> = 7..24;

/// The text as escaped HTML that keeps numbers such as 1e-5 on one line.
///
/// Browsers break lines after hyphens, so such numbers go into elements that do not break. In a text without words, numbers such as
/// 0.001676 go there too, because narrow columns would break them.
///
/// # Panics
/// Never: the text is written to memory.
pub fn unbroken(text: &str) -> String {
    let escaped = |text: &str| escape(text, Html).expect("memory can be written to").to_string();
    let is_without_words = !text.contains(char::is_alphabetic);
    let mut html = String::new();
    for word in text.split_inclusive(' ') {
        let number = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let is_breakable = number.contains("e-") || is_without_words && LONG.contains(&number.len());
        if is_breakable && number.replace(',', "").parse::<f64>().is_ok() {
            let (shown, space) = word.split_at(word.trim_end().len());
            html += "<span class=\"number\">";
            html += &escaped(shown);
            html += "</span>";
            html += space;
        } else {
            html += &escaped(word);
        }
    }
    html
}

/// [`unbroken`] text that also keeps names of batch schemes, such as balls-in-bins, on one line.
pub fn with_names(text: &str) -> String {
    let html = text.split(' ').map(|word| {
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let shown = unbroken(word);
        if name.contains('-') && Role::is_scheme(name) {
            format!("<span class=\"number\">{shown}</span>")
        } else {
            shown
        }
    });
    html.collect::<Vec<_>>().join(" ")
}

/// A command as escaped HTML whose lines break only before flags.
///
/// A flag and its value stay together, unless the line is too narrow for both.
///
/// # Panics
/// Never: the text is written to memory.
pub fn command(line: &str) -> String {
    let escaped = |text: &str| escape(text, Html).expect("memory can be written to").to_string();
    let mut parts = line.split(" --");
    let mut html = escaped(parts.next().unwrap_or_default());
    for part in parts {
        // The space is outside, so that a line breaks there and what is copied keeps it.
        html.push_str(" <span class=\"flag\">--");
        html.push_str(&escaped(part));
        html.push_str("</span>");
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemes_stay_whole() {
        let plain = "With balls-in-bins, one-run & 1e-5";
        let html = "With <span class=\"number\">balls-in-bins,</span> one-run &#38; <span class=\"number\">1e-5</span>";
        assert_eq!(with_names(plain), html);
    }

    #[test]
    fn commands_break_before_flags_only() {
        let line = "misdeal account --delta 1e-5 --scheme '<b>'";
        let html = command(line);
        assert_eq!(html.matches("<span class=\"flag\">").count(), 2);
        assert!(html.contains("account <span class=\"flag\">--delta 1e-5</span> <span"), "{html}");
        let text = html.replace("<span class=\"flag\">", "").replace("</span>", "");
        assert_eq!(text, "misdeal account --delta 1e-5 --scheme &#39;&#60;b&#62;&#39;");
    }

    #[test]
    fn numbers_stay_whole_and_text_stays_text() {
        assert_eq!(
            unbroken("at delta 1e-5, (2.5e-7) <b>"),
            "at delta <span class=\"number\">1e-5,</span> <span class=\"number\">(2.5e-7)</span> &#60;b&#62;"
        );
        let plain = "one-run re-use e-5 1,000 \u{e9}-1 ";
        assert_eq!(unbroken(plain), plain);
        assert_eq!(unbroken("0.001676 0.001"), "<span class=\"number\">0.001676</span> 0.001");
        assert_eq!(unbroken("1,000,000"), "<span class=\"number\">1,000,000</span>");
        assert_eq!(unbroken("noise 0.7900000"), "noise 0.7900000");
        let endless = "1".repeat(1000);
        assert_eq!(unbroken(&endless), endless, "wider than any page");
        assert_eq!(unbroken("<1e-5>"), "<span class=\"number\">&#60;1e-5&#62;</span>");
    }
}
