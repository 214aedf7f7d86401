//! Writes JSON with one line per field and each list on one line.
//!
//! Lists stay on one line because those of curves and histograms are long.

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io::{Result, Write};

/// Returns a report as one JSON document.
pub fn text(report: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, JsonFormatter(PrettyFormatter::new()));
    report.serialize(&mut serializer).expect("reports have only numbers and names");
    String::from_utf8(bytes).expect("JSON is text")
}

/// A formatter that prints objects over several lines, and lists without line breaks.
struct JsonFormatter(PrettyFormatter<'static>);

impl Formatter for JsonFormatter {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b"[")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        writer.write_all(b"]")
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.0.begin_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.0.end_object_value(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> Result<()> {
        self.0.end_object(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn lists_are_on_one_line_and_nothing_is_lost() {
        let document =
            json!({"a": [1, 2.5, [3], []], "b": {}, "c": [{"d": null, "e": [{}]}, {"f": "\n"}], "g": true});
        let text = text(&document);
        assert!(text.contains("\"a\": [1, 2.5, [3], []],\n") && text.contains("\"c\": [{\n"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }
}
