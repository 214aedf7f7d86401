//! A finished figure.

use crate::dashes;
use kuva::backend::png::PngBackend;
use kuva::backend::svg::SvgBackend;
use kuva::render::render::{Primitive, Scene};
use misdeal_core::{Error, Result, printable, printable_lines};
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

/// A figure that is laid out.
pub struct Drawing(pub(crate) Scene);

impl Drawing {
    /// As a document of its own.
    pub fn to_svg(&self) -> String {
        printable_lines(&SvgBackend::new().render_scene(&self.0)).into_owned()
    }

    /// The bytes of a file in `format`.
    ///
    /// # Errors
    /// A figure that the rasteriser refuses.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        match format {
            Format::Svg => Ok(self.to_svg().into_bytes()),
            Format::Png => {
                let scene = self.with_cut_dashes();
                PngBackend::new().with_scale(PIXELS_PER_UNIT).render_scene(&scene).map_err(|why| {
                    let hint = "a name that ends in .svg always works";
                    Error::bad_value("plot", why, "a figure that can be turned into pixels", hint)
                })
            }
        }
    }

    /// For pixels: dashes cut, and nothing in the text that cannot be seen.
    fn with_cut_dashes(&self) -> Scene {
        let mut scene = Scene::new(self.0.width, self.0.height);
        scene.background_color.clone_from(&self.0.background_color);
        scene.text_color.clone_from(&self.0.text_color);
        scene.font_family.clone_from(&self.0.font_family);
        scene.elements = self.0.elements.iter().flat_map(dashes::cut).collect();
        for element in &mut scene.elements {
            if let Primitive::Text { content, .. } = element {
                *content = printable(content).into_owned();
            }
        }
        scene
    }
}
