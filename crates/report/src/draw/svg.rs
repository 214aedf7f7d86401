//! Writes the elements of an SVG document.

use super::font;
use misdeal_core::printable;
use std::fmt::{Display, Write};

/// The colour of text and axes.
pub const INK: &str = "#16191d";
/// The colour of less important text.
pub const SOFT: &str = "#545b66";
/// The colour of grid lines.
pub const GRID: &str = "#dfe3e8";

/// How text is written: as text, or as outlines that need no font.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Letters {
    Text,
    Outlines,
}

/// Which part of a text lies at the given point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// An SVG document under construction.
pub struct Svg {
    markup: String,
    letters: Letters,
}

impl Svg {
    /// An empty document.
    pub fn new(letters: Letters) -> Self {
        Svg { markup: String::new(), letters }
    }

    /// The finished document with its head. Screen readers read `title` and `description`.
    pub fn finish(self, [width, height]: [f64; 2], title: &str, description: &str) -> String {
        let [title, description] = [title, description].map(escaped);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"{}\">\n<title>{title}</title><desc>{description}</desc>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
            font::FAMILIES,
            self.markup
        )
    }

    /// Writes an element without content.
    pub fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.markup, "<{name}");
        for (name, value) in attributes {
            let _ = write!(self.markup, " {name}=\"{value}\"");
        }
        self.markup.push_str("/>\n");
    }

    /// Writes a filled rectangle; `frame` is x, y, width, height.
    pub fn rectangle(&mut self, frame: [f64; 4], colour: &str) {
        let [x, y, width, height] = frame.map(tidy);
        self.element(
            "rect",
            &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("fill", &colour)],
        );
    }

    /// Fills the region within a path.
    pub fn region(&mut self, path: &str, colour: &str, opacity: f64) {
        self.element("path", &[("d", &path), ("fill", &colour), ("fill-opacity", &opacity)]);
    }

    /// Writes a dot.
    pub fn dot(&mut self, [x, y]: [f64; 2], radius: f64, colour: &str) {
        self.element("circle", &[("cx", &tidy(x)), ("cy", &tidy(y)), ("r", &radius), ("fill", &colour)]);
    }

    /// Draws a line along a path. An empty `dash` makes it solid.
    pub fn stroke(&mut self, path: &str, colour: &str, width: f64, dash: &str) {
        let mut attributes: Vec<(&str, &dyn Display)> =
            vec![("d", &path), ("fill", &"none"), ("stroke", &colour), ("stroke-width", &width)];
        if !dash.is_empty() {
            attributes.push(("stroke-dasharray", &dash));
        }
        self.element("path", &attributes);
    }

    /// Writes one line of text, without hidden characters.
    pub fn text(&mut self, words: &str, [x, y]: [f64; 2], size: f64, colour: &str, anchor: Anchor) {
        let words = printable(words);
        if self.letters == Letters::Outlines {
            let width = font::width(&words, size);
            let x = match anchor {
                Anchor::Start => x,
                Anchor::Middle => x - width / 2.0,
                Anchor::End => x - width,
            };
            let path = font::outlines(&words, [x, y], size);
            return self.element("path", &[("d", &path), ("fill", &colour)]);
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let words = escaped(&words);
        let _ = writeln!(
            self.markup,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\">{words}</text>"
        );
    }

    /// Writes a line's name with a white border. The border keeps the grid and other lines off its letters.
    pub fn name(&mut self, words: &str, [x, y]: [f64; 2], size: f64, colour: &str) {
        let words = printable(words);
        let around =
            "stroke=\"#ffffff\" stroke-width=\"3.5\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
        if self.letters == Letters::Outlines {
            let path = font::outlines(&words, [x, y], size);
            let _ = writeln!(self.markup, "<path d=\"{path}\" fill=\"{colour}\" {around}/>");
            return;
        }
        let words = escaped(&words);
        let _ = writeln!(
            self.markup,
            "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\" fill=\"{colour}\" {around}>{words}</text>"
        );
    }

    /// Writes what `inside` draws, moved to the given point and turned to read upwards.
    pub fn upwards(&mut self, [x, y]: [f64; 2], inside: impl FnOnce(&mut Self)) {
        let _ = write!(self.markup, "<g transform=\"translate({x:.2} {y:.2}) rotate(-90)\">");
        inside(self);
        self.markup.push_str("</g>\n");
    }

    /// Writes what `inside` draws, cut off outside a box at `x`, `y`.
    pub fn clipped(&mut self, [x, y, width, height]: [f64; 4], inside: impl FnOnce(&mut Self)) {
        let frame = format!("{x:.2} {y:.2} {width:.2} {height:.2}");
        let _ = writeln!(
            self.markup,
            "<svg x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" viewBox=\"{frame}\">"
        );
        inside(self);
        self.markup.push_str("</svg>\n");
    }
}

/// An SVG path through points.
pub fn path(points: impl IntoIterator<Item = [f64; 2]>) -> String {
    let mut path = String::new();
    for [x, y] in points {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.2} {y:.2}");
    }
    path
}

/// Rounds a position to the digits that a figure shows.
fn tidy(place: f64) -> f64 {
    (place * 100.0).round() / 100.0
}

fn escaped(text: &str) -> String {
    let text = printable(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_text_and_outlines_have_none() {
        let written = |letters| {
            let mut svg = Svg::new(letters);
            svg.text("a <b> & \"c\"\n", [0.0, 10.0], 10.0, INK, Anchor::Start);
            svg.finish([10.0, 10.0], "<t>", "\"d\"")
        };
        let svg = written(Letters::Text);
        assert!(svg.contains(">a &lt;b&gt; &amp; &quot;c&quot;\\n</text>"), "{svg}");
        assert!(svg.contains("<title>&lt;t&gt;</title><desc>&quot;d&quot;</desc>"), "{svg}");
        assert!(!written(Letters::Outlines).contains("<text"));
    }
}
