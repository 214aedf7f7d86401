//! The font of figures: computes the width of text and its outlines.
//!
//! # Which font?
//! DejaVu Sans 2.37, which is free to use and to change (`assets/DejaVuSans-LICENSE.txt`). `pyftsubset` of fonttools reduces it to 64 kB,
//! with the options `--no-hinting --layout-features='' --notdef-outline`. The subset has the characters U+20-7E, A0-17F, 370-3FF, 400-45F,
//! 2010-2027, 2030-203A, 2070-209C, 2190-2193 and 2200-2265. A PNG shows other characters as boxes. An SVG shows them in the viewer's
//! fonts.

use std::fmt::Write;
use std::sync::LazyLock;
use ttf_parser::{Face, OutlineBuilder};

static FONT: &[u8] = include_bytes!("../../assets/DejaVuSans.ttf");
static FACE: LazyLock<Face<'static>> = LazyLock::new(|| Face::parse(FONT, 0).expect("the font is our own"));

/// Font families of about the same widths, for viewers that use their own fonts.
pub const FAMILIES: &str = "DejaVu Sans, Verdana, sans-serif";

/// The width of a text.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * scale(size)
}

/// Breaks a text between words into lines that are at most `most` wide.
pub fn wrapped(text: &str, most: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// The text, with its end cut off if it is wider than `most`.
pub fn shortened(text: &str, most: f64, size: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept, size) + width(&format!("{c}…"), size) > most {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// The outlines of a text as an SVG path. The text begins at `x`, and `y` is its baseline.
pub fn outlines(text: &str, [x, y]: [f64; 2], size: f64) -> String {
    let mut pen = Pen { path: String::new(), x, y, scale: scale(size) };
    for c in text.chars() {
        FACE.outline_glyph(FACE.glyph_index(c).unwrap_or_default(), &mut pen);
        pen.x += advance(c) * pen.scale;
    }
    pen.path
}

fn scale(size: f64) -> f64 {
    size / f64::from(FACE.units_per_em())
}

fn advance(c: char) -> f64 {
    let glyph = FACE.glyph_index(c).unwrap_or_default();
    f64::from(FACE.glyph_hor_advance(glyph).unwrap_or_default())
}

/// Writes glyph outlines to an SVG path. The y-axis of outlines points upwards.
struct Pen {
    path: String,
    x: f64,
    y: f64,
    scale: f64,
}

impl Pen {
    fn draw(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for &(x, y) in points {
            let [x, y] = [self.x + f64::from(x) * self.scale, self.y - f64::from(y) * self.scale];
            let _ = write!(self.path, "{x:.2} {y:.2} ");
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.draw('M', &[(x, y)]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.draw('L', &[(x, y)]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.draw('Q', &[(x1, y1), (x, y)]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.draw('C', &[(x1, y1), (x2, y2), (x, y)]);
    }
    fn close(&mut self) {
        self.draw('Z', &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_or_cut_where_it_does_not_fit() {
        assert_eq!(wrapped("one two three", 60.0, 10.0), ["one two", "three"]);
        assert_eq!(shortened("one two three", 200.0, 10.0), "one two three");
        let cut = shortened("one two three", 50.0, 10.0);
        assert!(cut.ends_with('…') && width(&cut, 10.0) <= 50.0, "{cut}");
    }

    #[test]
    fn every_letter_of_our_texts_has_an_outline() {
        for c in "Aaz059 ε≤·…±⁻⁰¹²³⁴⁵⁶⁷⁸⁹éßЖ−".chars().filter(|c| *c != ' ') {
            assert!(FACE.glyph_index(c).is_some(), "{c}");
            assert!(outlines(&c.to_string(), [0.0, 10.0], 10.0).starts_with('M'), "{c}");
        }
    }
}
