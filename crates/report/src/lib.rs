//! Draws what was stored, and computes nothing: plots of results, as SVG and PNG.
//!
//! ```
//! use misdeal_report::{NamedCurve, TradeOffFigure};
//! let guessing = NamedCurve { name: "guessing".into(), points: vec![[0.0, 1.0], [1.0, 0.0]] };
//! let figure = TradeOffFigure { title: "An example".into(), estimate: None, curves: vec![guessing] };
//! assert!(figure.draw().to_svg().contains("<svg"));
//! ```
//!
//! - [`TradeOffFigure`]: the errors that were observed beside the curves that were promised.
//! - [`PositionsFigure`]: where a loader deals the records of a file.
//! - [`Drawing`]: a finished figure, to be written in a [`Format`].
//!
//! One style for all: the palette of Wong (2011), which colour-blind readers can tell apart, and lines that differ in their
//! dashes too, so that they survive a grey print.

mod drawing;
mod positions;
mod style;
mod trade_off;

pub use drawing::{Drawing, Format};
pub use positions::PositionsFigure;
pub use trade_off::{NamedCurve, TradeOffFigure};
