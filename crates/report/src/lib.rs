//! Draws what was stored, and computes nothing: plots of results, as SVG and PNG, and a page of them in HTML.
//!
//! ```
//! use misdeal_report::figure;
//! use misdeal_results::Stored;
//! let noise = r#"{"schema_version": 1, "command": "account", "noise_multiplier": 1.0, "steps": 100, "sampling_probability": 0.01,
//!     "delta": 1e-5, "claimed_epsilon": 0.72, "schemes": {"shuffle": {"epsilon_lower_bound": 4.06, "epsilon_upper_bound": 4.37, "method": ""}}}"#;
//! let Stored { name, document, .. } = Stored::parse("account.json", noise)?;
//! assert!(figure(&name, &document)?.to_svg().contains("100 steps, noise multiplier 1"));
//! # Ok::<(), misdeal_results::Unreadable>(())
//! ```
//!
//! - [`Figure`]: a result's charts beside each other ([`figure`]), to be written in a [`Format`].
//! - [`page`]: stored results on one self-contained HTML page.
//! - [`Layout`]: whether a file holds such a page or the figure of one result.
//!
//! Both show the same charts: `pictures` makes them of results, `draw` writes them as SVG and PNG, and the page's script draws them with
//! hover and zoom. One style for all: the palette of Wong (2011), which colour-blind readers can tell apart, and lines that differ in their
//! dashes too, so that they survive a grey print.

mod chart;
mod draw;
mod layout;
mod page;
mod pictures;

pub use draw::{Figure, Format};
pub use layout::Layout;
pub use page::{MOST_RESULTS, PageHead, page};
pub use pictures::deals::record_names;
pub use pictures::figure;
