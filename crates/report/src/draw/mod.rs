//! Figures: charts beside each other, written as SVG or PNG.
//!
//! # Why our own renderer?
//! The page's script draws the same [`Chart`](crate::chart::Chart) with the same rules, so that a figure and the page look alike. SVG keeps text as text.
//!
//! # Why is text turned into outlines for PNG?
//! Pixels must be the same on every machine, so the font is our own: a part of DejaVu Sans (Latin, Greek, Cyrillic, signs), which many
//! systems have. Its outlines make `resvg`'s text layout unnecessary, which is two thirds of it.

mod columns;
mod figure;
mod font;
mod labels;
mod legend;
mod marks;
mod panel;
mod png;
mod scale;
mod svg;

pub use figure::Figure;
pub use png::Format;
