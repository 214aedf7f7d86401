//! Draws figures, which are charts side by side, as SVG or PNG.
//!
//! # Why our own renderer?
//! The page's script draws the same [`Chart`](crate::chart::Chart) with the same rules. So a figure and the page look alike. SVG keeps text
//! as text.
//!
//! # Why is text turned into outlines for PNG?
//! Pixels must be the same on every machine, so we ship our own font. It is a part of DejaVu Sans (Latin, Greek, Cyrillic, signs), which
//! many systems have. With its outlines we can leave out the text layout of `resvg`, which is two thirds of that library.

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
