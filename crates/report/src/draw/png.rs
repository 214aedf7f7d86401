//! How a figure is written.

use misdeal_core::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::path::Path;

/// Pixels of a PNG for one unit of the figure: sharp in print at the width of a page.
const PIXELS_PER_UNIT: f32 = 2.0;

/// How a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable, text kept as text.
    Svg,
    /// Pixels.
    Png,
}

impl Format {
    /// The format that a file's name asks for.
    ///
    /// # Errors
    /// A name that ends neither in `.svg` nor in `.png`.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_lowercase);
        match extension.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => {
                let hint = "the ending chooses how the plot is drawn";
                Err(Error::bad_value("plot", path.display(), "a file name that ends in .svg or .png", hint))
            }
        }
    }
}

/// The pixels of a document without text, as a PNG file.
///
/// # Errors
/// More pixels than there is memory for.
pub fn pixels(svg: &str) -> Result<Vec<u8>> {
    let refused = |why: String| {
        let hint = "a name that ends in .svg always works";
        Error::bad_value("plot", why, "a figure that can be turned into pixels", hint)
    };
    let tree = Tree::from_str(svg, &Options::default()).map_err(|error| refused(error.to_string()))?;
    let [width, height] =
        [tree.size().width(), tree.size().height()].map(|size| (size * PIXELS_PER_UNIT).ceil());
    let mut pixmap = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| refused(format!("{width} by {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| refused(error.to_string()))
}
