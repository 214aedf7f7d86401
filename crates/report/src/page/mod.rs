//! Builds one self-contained HTML page of results.
//!
//! # Why from documents and not from the commands' types?
//! A stored result can become a page at any time, on any machine. Each result becomes the same `Section`, so one template is enough. One
//! script draws every chart. Tables use the same data as the charts.

mod above_the_claim;
mod accounts;
mod advice;
mod audits;
mod checks;
mod comparison;
mod diagnoses;
mod estimates;
mod reproductions;
mod section;
mod settings;
mod sweeps;
mod unbroken;

use crate::Figure;
use crate::chart::{Chart, share_axes};
use askama::Template;
use misdeal_core::printable_lines;
use misdeal_results::{Document, Stored, Unreadable};
use section::Section;
use sha2::{Digest, Sha256};
use unbroken::{command, unbroken, with_names};

/// The most results that a page shows.
pub const MOST_RESULTS: usize = 64;

const STYLE: &str = include_str!("../../assets/page.css");
const SCRIPT: &str = include_str!("../../assets/page.js");

/// A result with its number on the page.
struct Placed {
    number: usize,
    source: String,
    version: String,
    section: Section,
}

impl Placed {
    /// The result's charts with their data. Each gets an id that is unique on the page.
    fn charts(&self) -> Vec<EmbeddedChart<'_>> {
        let mut before = "";
        let charts = self.section.charts.iter().zip(1..).map(|(chart, i)| {
            let repeats = std::mem::replace(&mut before, &chart.caption) == chart.caption;
            EmbeddedChart { repeats, ..EmbeddedChart::new(chart, format!("{}-{i}", self.number)) }
        });
        charts.collect()
    }
}

/// A chart in the form that the page embeds.
struct EmbeddedChart<'a> {
    id: String,
    chart: &'a Chart,
    /// Whether the chart before has the same caption.
    repeats: bool,
    json: String,
    /// The chart as SVG, for readers without scripts.
    drawn: String,
}

impl<'a> EmbeddedChart<'a> {
    fn new(chart: &'a Chart, id: String) -> Self {
        let drawn = Figure::new("", vec![chart.clone()], 1).to_svg();
        EmbeddedChart { id, chart, repeats: false, json: chart.to_embedded_json(), drawn }
    }
}

/// The text that a page shows above its results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageHead {
    /// The title. Without one, the page's title says what was found.
    pub title: Option<String>,
    /// The model or the project that the page is about.
    pub name: Option<String>,
    /// The day on which the page was made.
    pub date: Option<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    /// The title of the window.
    title: String,
    /// The title on the page. `None` for one result without a title from the user.
    heading: Option<&'a str>,
    name: Option<&'a str>,
    date: Option<&'a str>,
    /// One sentence on what to do about several results.
    advised: String,
    results: &'a [Placed],
    comparison: Option<comparison::Comparison>,
    style: &'static str,
    script: &'static str,
    policy: String,
    version: &'static str,
}

/// One HTML document with one or several results. It loads nothing from elsewhere.
///
/// All text from documents is escaped. The policy in the page's head lets only the page's own script run, which it names by digest. The
/// policy also forbids loading anything.
///
/// ```
/// use misdeal_report::{PageHead, page};
/// use misdeal_results::Stored;
/// let noise = r#"{"schema_version": 1, "command": "calibrate", "noise_multiplier": 0.79, "epsilon": 2.99, "target_epsilon": 3.0,
///     "delta": 1e-5, "scheme": "poisson", "steps_per_epoch": 100, "epochs": 1, "batch_size": 100, "bound": "upper"}"#;
/// let head = PageHead { title: Some("For the board".into()), ..PageHead::default() };
/// let page = page(&[Stored::parse("noise.json", noise)?], &head)?;
/// assert!(page.contains("With a noise multiplier of 0.7900000 poisson is proven to meet epsilon 3."));
/// # Ok::<(), misdeal_results::Unreadable>(())
/// ```
///
/// # Errors
/// There are no results, or too many.
///
/// # Panics
/// Never: the page is written to memory.
pub fn page(results: &[Stored], head: &PageHead) -> Result<String, Unreadable> {
    if results.is_empty() || results.len() > MOST_RESULTS {
        return Err(Unreadable {
            name: "report".into(),
            problem: format!(
                "{} results are too {} for a page, which has 1 to {MOST_RESULTS}",
                results.len(),
                if results.is_empty() { "few" } else { "many" }
            ),
            hint: if results.is_empty() { "give at least one" } else { "give fewer at a time" },
        });
    }
    let mut placed = Vec::new();
    for result in results {
        let Stored { name, version, .. } = result;
        for section in sections(result)? {
            let number = placed.len() + 1;
            placed.push(Placed {
                number,
                source: name.clone(),
                version: version.clone(),
                section: titled(section),
            });
        }
    }
    let several = format!("{} results compared", placed.len());
    let is_alone = placed.len() == 1;
    let title = match (&head.title, &placed[..]) {
        (Some(title), _) => title.clone(),
        (None, [one]) => format!("{}: {}", one.section.verdict.label, one.section.title),
        (None, _) => several.clone(),
    };
    let page = Page {
        title,
        heading: head.title.as_deref().or((!is_alone).then_some(&several)),
        name: head.name.as_deref().or(if is_alone { placed[0].section.name.as_deref() } else { None }),
        date: head.date.as_deref(),
        advised: if is_alone { String::new() } else { comparison::advised(&placed) },
        comparison: (!is_alone).then(|| comparison::of(&placed)),
        results: &placed,
        style: STYLE,
        script: SCRIPT,
        policy: policy(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let page = page.render().expect("memory can be written to");
    Ok(printable_lines(&page).into_owned())
}

fn sections(result: &Stored) -> Result<Vec<Section>, Unreadable> {
    let one = match &result.document {
        Document::CalibrateAll(found) => {
            return Ok(found.each().iter().map(accounts::calibration).collect());
        }
        Document::Check(checked) => return Ok(checks::sections(checked)),
        Document::AuditMechanism(audit) | Document::AuditTraining(audit) => audits::section(audit),
        Document::JudgeOutputs(outputs) => audits::outputs_section(outputs),
        Document::Estimate(found) => estimates::section(found),
        Document::Account(account) => accounts::section(account),
        Document::Calibrate(found) => accounts::calibration(found),
        Document::Diagnose(found) => diagnoses::section(found),
        Document::Sweep(found) => sweeps::section(found),
        Document::Reproduce(found) => reproductions::section(found),
        other => {
            return Err(Unreadable {
                name: result.name.clone(),
                problem: format!("it is a result of \"{}\", which has no page", other.command()),
                hint: "give results that misdeal wrote with --format json",
            });
        }
    };
    Ok(vec![one])
}

/// The section with shared axes and a capital letter in its title. A title that begins with a file name stays as it is.
fn titled(section: Section) -> Section {
    let is_name = section.title.starts_with(|c: char| !c.is_alphabetic())
        || section.title.split(' ').next().is_some_and(|word| word.contains('.'));
    let title = if is_name { section.title.clone() } else { advice::capitalised(&section.title) };
    let mut charts = section.charts;
    share_axes(&mut charts);
    Section { title, charts, ..section }
}

/// The content security policy: nothing is loaded, and only our script runs.
fn policy() -> String {
    let [style, script] = [STYLE, SCRIPT].map(|source| base64(&Sha256::digest(source)));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
    )
}

/// Encodes bytes in base 64, as policies write digests.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            text.push(if i <= chunk.len() {
                char::from(DIGITS[(bits >> (18 - 6 * i) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_rfc_4648() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
