//! File formats of figures, and the conversion to PNG.

use misdeal_core::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::path::Path;

/// Pixels of a PNG for one unit of the figure. Two are sharp in print at page width.
const PIXELS_PER_UNIT: f32 = 2.0;

/// The file format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Scalable graphics; text stays text.
    Svg,
    /// An image of pixels.
    Png,
}

impl Format {
    /// The format that belongs to a file name's ending.
    ///
    /// # Errors
    /// The name ends neither in `.svg` nor in `.png`.
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

/// Converts an SVG document without text to a PNG file.
///
/// # Errors
/// The image needs more pixels than fit in memory.
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
