//! Draws what was stored, and computes nothing: plots of results, as SVG and PNG, and a page of them in HTML.
//!
//! ```
//! use misdeal_report::{NamedCurve, TradeOffFigure, TradeOffRow};
//! let guessing = NamedCurve { name: "guessing".into(), refuted: None, points: vec![[0.0, 1.0], [1.0, 0.0]] };
//! let row = TradeOffRow { curves: vec![guessing], ..TradeOffRow::default() };
//! let figure = TradeOffFigure { title: "An example".into(), rows: vec![row] };
//! assert!(figure.draw().to_svg().contains("<svg"));
//! ```
//!
//! - [`TradeOffFigure`]: the errors that were observed beside the curves that were promised.
//! - [`GapFigure`]: claims beside what was found, setting by setting.
//! - [`SweepFigure`]: epsilon against the number of observations.
//! - [`DealsFigure`]: where the records of a small file are dealt.
//! - [`PositionsFigure`]: where a loader deals the records of a file.
//! - [`Drawing`]: a finished figure, to be written in a [`Format`].
//! - [`page`]: stored results ([`StoredResult`]) on one self-contained HTML page.
//! - [`Layout`]: whether a file holds such a page or the figure of one stored result ([`StoredResult::draw`]).
//!
//! One style for all: the palette of Wong (2011), which colour-blind readers can tell apart, and lines that differ in their
//! dashes too, so that they survive a grey print.

mod dashes;
mod deals;
mod drawing;
mod frame;
mod gaps;
mod histogram;
mod layout;
mod page;
mod positions;
#[allow(missing_docs, reason = "fields are those of the documents, which the vocabulary explains")]
mod results;
mod style;
mod sweep;
mod trade_off;

pub use deals::{DealPanels, DealsFigure, record_names};
pub use drawing::{Drawing, Format};
pub use gaps::{FoundNames, Gap, GapFigure};
pub use histogram::Scores;
pub use layout::Layout;
pub use page::{MOST_RESULTS, page};
pub use positions::PositionsFigure;
pub use results::{StoredResult, Unreadable};
pub use sweep::{Found, Sweep, SweepFigure};
pub use trade_off::{NamedCurve, TradeOffFigure, TradeOffRow};
