//! Draws stored results as plots (SVG, PNG) and as an HTML page. It computes no results itself.
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
//! - [`Figure`]: one or more charts of a result side by side. [`figure`] makes it, and a [`Format`] says how to write it.
//! - [`page`]: puts stored results on one self-contained HTML page.
//! - [`Layout`]: tells whether a file holds such a page or the figure of one result.
//!
//! Figures and pages show the same charts. `pictures` makes charts from results. `draw` writes charts as SVG and PNG. The page's script
//! draws them with hover and zoom.
//!
//! All charts share one style. Colours are from the palette of Wong (2011), which colour-blind readers can tell apart. Lines also differ in
//! their dashes, so a grey print stays readable.

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
