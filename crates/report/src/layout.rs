//! The layout of a file with stored results: a page or a drawing.

use crate::{Format, PageHead, figure, page};
use misdeal_core::Error;
use misdeal_results::{Stored, Unreadable};
use std::path::Path;

/// How stored results are written to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One HTML page with all results.
    Page,
    /// The figure of a single result.
    Drawing(Format),
}

impl Layout {
    /// The layout that belongs to a file name's ending.
    ///
    /// # Errors
    /// The name does not end in `.html`, `.svg` or `.png`.
    pub fn of(path: &Path) -> misdeal_core::Result<Self> {
        let is_page = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("html"));
        if is_page {
            return Ok(Self::Page);
        }
        let hint = "the ending chooses between a page and the figure of one result";
        let allowed = "a file name that ends in .html, .svg or .png";
        let refused = |_| Error::bad_value("output", path.display(), allowed, hint);
        Format::of(path).map(Self::Drawing).map_err(refused)
    }

    /// The content of a file with `results`, as bytes. Only a page uses `head`.
    ///
    /// # Errors
    /// There are no results, too many for the layout, or one that cannot be drawn.
    pub fn bytes(self, results: &[Stored], head: &PageHead) -> Result<Vec<u8>, Unreadable> {
        match (self, results) {
            (Self::Page, results) => page(results, head).map(String::into_bytes),
            (Self::Drawing(format), [one]) => {
                figure(&one.name, &one.document)?.to_bytes(format).map_err(|error| Unreadable {
                    name: one.name.clone(),
                    problem: error.to_string(),
                    hint: "a name that ends in .svg always works",
                })
            }
            (Self::Drawing(_), several) => Err(Unreadable {
                name: "report".into(),
                problem: format!("a drawing shows one result, and {} are given", several.len()),
                hint: "give one, or a name that ends in .html for a page of all",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_chooses() {
        let of = |name: &str| Layout::of(Path::new(name));
        assert_eq!(of("a/page.html").unwrap(), Layout::Page);
        assert_eq!(of("PAGE.HTML").unwrap(), Layout::Page);
        assert_eq!(of("figure.svg").unwrap(), Layout::Drawing(Format::Svg));
        assert_eq!(of("figure.html.Png").unwrap(), Layout::Drawing(Format::Png));
        for other in ["figure.pdf", "figure", "html", ".html"] {
            let refusal = of(other).map_err(|error| error.to_string()).unwrap_err();
            assert!(refusal.contains(other) && refusal.contains(".html, .svg or .png"), "{refusal}");
        }
    }
}
