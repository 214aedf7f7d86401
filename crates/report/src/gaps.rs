//! Claims beside what was found: one row of marks for each setting (the paper's Figures 1, 6, 7, 9 and 11).

use crate::drawing::Drawing;
use crate::frame::{Frame, Panel};
use crate::style::{
    CLAIMED, FOUND, GRID, OBSERVED, PRINTED, THEORY, VALID, log_x, padded, padded_decades, panel,
};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::annotations::TextAnnotation;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use misdeal_results::numbers::significant;
use std::borrow::Cow;

/// The epsilons of one setting; what is not known is not drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gap {
    /// What was audited; what comes first in it may be the same of its neighbours.
    pub name: String,
    /// What is claimed.
    pub claimed: Option<f64>,
    /// What the paper found.
    pub printed: Option<f64>,
    /// What was found here and does not hold for every mechanism; of reproductions, the mean over runs of the largest over all thresholds.
    pub found: Option<f64>,
    /// Its standard deviation over runs.
    pub standard_deviation: Option<f64>,
    /// A bound that holds as stated; of reproductions, its mean over runs.
    pub valid_epsilon: Option<f64>,
    /// What both are called in the legend.
    pub names: FoundNames,
    /// Between what theory puts the true epsilon.
    pub theory: [Option<f64>; 2],
}

/// What marks of what was found are called: by default, as in reproductions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundNames {
    /// An estimate that does not hold for every mechanism.
    pub found: Cow<'static, str>,
    /// A bound that holds as stated.
    pub valid: Cow<'static, str>,
}

impl Default for FoundNames {
    fn default() -> Self {
        FoundNames { found: FOUND.into(), valid: VALID.into() }
    }
}

/// Settings one below the other, epsilon to the right.
#[derive(Debug, Clone, PartialEq)]
pub struct GapFigure {
    /// What stands above.
    pub title: String,
    /// What else is to be known of all settings.
    pub remark: Option<String>,
    /// The settings, from the top down.
    pub gaps: Vec<Gap>,
}

/// Epsilons that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 40.0;
/// Of many settings on a logarithmic axis, epsilons below the largest divided by this are drawn at the axis's beginning.
const RANGE_SEEN: f64 = 1e4;
const WIDTH: f64 = 860.0;
/// Settings that have names of their own, and lines of their own height; where there are more, neighbours share what their names begin
/// with, and lines stand in columns, so that a page holds them.
const MOST_APART: usize = 30;
const LINES_IN_A_COLUMN: usize = 52;

/// One of a setting's epsilons.
type Value = fn(&Gap) -> Option<f64>;
/// What it is called.
type Name = fn(&Gap) -> &str;

/// A line of the figure.
enum Line<'a> {
    /// What the names of the settings below begin with.
    Heading(&'a str),
    Setting(&'a str, &'a Gap),
    /// Fills a column that is shorter than the others.
    Nothing,
}

impl GapFigure {
    /// Lays the figure out.
    pub fn draw(&self) -> Drawing {
        let axis = self.axis();
        let drawn = self.within(&axis);
        let lines = drawn.lines();
        let is_long = self.gaps.len() > MOST_APART;
        let columns = if is_long { columns(lines) } else { vec![lines] };
        let places = columns.iter().map(Vec::len).max().unwrap_or(0);
        let panels: Vec<Panel> = columns.iter().map(|lines| axis.panel(lines, is_long)).collect();
        let [width, line] = if is_long { [520.0, 16.0] } else { [WIDTH, 30.0] };
        let frame = Frame {
            title: &drawn.title,
            remark: drawn.remark.as_deref(),
            columns: panels.len(),
            cell: [width, 70.0 + line * places as f64],
            panels,
        };
        frame.draw()
    }

    fn lines(&self) -> Vec<Line<'_>> {
        if self.gaps.len() <= MOST_APART {
            return self.gaps.iter().map(|gap| Line::Setting(&gap.name, gap)).collect();
        }
        let mut lines = Vec::new();
        let mut last = None;
        for gap in &self.gaps {
            let (heading, name) = parted(&gap.name);
            if heading != last {
                lines.extend(heading.map(Line::Heading));
                last = heading;
            }
            lines.push(Line::Setting(name, gap));
        }
        lines
    }

    /// Linear from 0, or logarithmic where epsilons are wide apart. A 0 keeps the axis of a few settings linear, but not that of many, which
    /// would pile most of them up at its beginning.
    fn axis(&self) -> Axis {
        let drawn = || self.gaps.iter().flat_map(Gap::ends).flatten();
        let most = drawn().fold(0.0, f64::max);
        let is_long = self.gaps.len() > MOST_APART;
        let seen = |epsilon: &f64| !is_long || *epsilon > most / RANGE_SEEN;
        let least = drawn().filter(seen).fold(f64::INFINITY, f64::min);
        if least > 0.0 && most / least > WIDE {
            Axis { range: padded_decades([least, most]), is_logarithmic: true }
        } else {
            Axis { range: padded([0.0, most]), is_logarithmic: false }
        }
    }

    /// The same figure, with what a logarithmic axis has no place for at its beginning, and a remark that says so.
    fn within(&self, axis: &Axis) -> Cow<'_, GapFigure> {
        let first = axis.range[0];
        if !axis.is_logarithmic || self.gaps.iter().all(|gap| gap.raised_to(first) == *gap) {
            return Cow::Borrowed(self);
        }
        let at_the_left = format!("below {} at the left", significant(first));
        let remark = self.remark.iter().cloned().chain([at_the_left]).collect::<Vec<_>>().join("; ");
        let gaps = self.gaps.iter().map(|gap| gap.raised_to(first)).collect();
        Cow::Owned(GapFigure { title: self.title.clone(), remark: Some(remark), gaps })
    }
}

impl Gap {
    /// All that is drawn of it.
    fn ends(&self) -> [Option<f64>; 7] {
        let deviation = self.standard_deviation.unwrap_or(0.0);
        let [low, high] = [-deviation, deviation].map(|step| self.found.map(|found| found + step));
        [self.claimed, self.printed, self.valid_epsilon, low, high, self.theory[0], self.theory[1]]
    }

    /// The same with no epsilon below this one.
    fn raised_to(&self, least: f64) -> Gap {
        let raised = |epsilon: Option<f64>| epsilon.map(|epsilon| epsilon.max(least));
        // What is drawn elsewhere than it was found has no whiskers.
        let is_whole = self.found.is_none_or(|found| found >= least);
        Gap {
            claimed: raised(self.claimed),
            printed: raised(self.printed),
            found: raised(self.found),
            standard_deviation: self.standard_deviation.filter(|_| is_whole),
            valid_epsilon: raised(self.valid_epsilon),
            theory: self.theory.map(raised),
            ..self.clone()
        }
    }
}

/// The first two parts of a name of three or more, and the rest of it.
fn parted(name: &str) -> (Option<&str>, &str) {
    match name.match_indices(", ").nth(1) {
        Some((end, comma)) => (Some(&name[..end]), &name[end + comma.len()..]),
        None => (None, name),
    }
}

/// A heading that fits above its settings.
fn shortened(words: &str) -> String {
    const MOST: usize = 48;
    if words.chars().count() <= MOST {
        return words.into();
    }
    let kept: String = words.chars().take(MOST - 1).collect();
    format!("{}…", kept.trim_end())
}

/// The lines in columns of about the same length, each beginning with a heading where one is near.
fn columns(lines: Vec<Line<'_>>) -> Vec<Vec<Line<'_>>> {
    let count = lines.len().div_ceil(LINES_IN_A_COLUMN);
    let length = lines.len().div_ceil(count.max(1));
    let mut columns: Vec<Vec<Line<'_>>> = vec![Vec::new()];
    for line in lines {
        let so_far = columns.last().map_or(0, Vec::len);
        let is_heading = matches!(line, Line::Heading(_));
        let is_full = so_far >= length + length / 4 || (is_heading && so_far + length / 10 >= length);
        if is_full && columns.len() < count {
            columns.push(Vec::new());
        }
        if let Some(column) = columns.last_mut() {
            column.push(line);
        }
    }
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    for column in &mut columns {
        column.resize_with(longest, || Line::Nothing);
    }
    columns
}

/// The axis of epsilon, which all columns share.
struct Axis {
    range: [f64; 2],
    is_logarithmic: bool,
}

impl Axis {
    fn panel(&self, lines: &[Line<'_>], is_long: bool) -> Panel {
        let places = lines.len();
        let size = if is_long { 3.2 } else { 4.5 };
        let mut plots = self.grid(places);
        plots.extend(self.theory(lines, if is_long { 4.5 } else { 6.0 }));
        // What was found stands a little lower than what others say, so that neither hides the other.
        let series: [(Name, _, _, f64, Value); 3] = [
            (|_| "claimed", CLAIMED, MarkerShape::Square, 0.0, |gap| gap.claimed),
            (|_| "printed in the paper", PRINTED, MarkerShape::Triangle, 0.2, |gap| gap.printed),
            (|gap| &gap.names.valid, OBSERVED, MarkerShape::Diamond, -0.2, |gap| gap.valid_epsilon),
        ];
        for (name, colour, marker, rise, value) in series {
            let points =
                settings(lines).filter_map(|(gap, height)| Some((name(gap), (value(gap)?, height + rise))));
            for (name, points) in by_name(points) {
                let plot = ScatterPlot::new().with_data(points).with_color(colour).with_marker(marker);
                let share = if marker == MarkerShape::Diamond { 0.85 } else { 1.0 };
                plots.push(plot.with_size(share * size).with_legend(name).into());
            }
        }
        plots.extend(self.found(lines, size));
        let names = lines.iter().rev().map(|line| if let Line::Setting(name, _) = line { *name } else { "" });
        let layout = panel(Layout::auto_from_plots(&plots), "epsilon", "")
            .with_tick_size(if is_long { 10 } else { 11 })
            .with_y_axis_min(0.4)
            .with_y_axis_max(places as f64 + 0.6)
            .with_y_categories(names.map(String::from).collect());
        let layout = if self.is_logarithmic {
            log_x(layout, self.range)
        } else {
            layout.with_x_axis_min(self.range[0]).with_x_axis_max(self.range[1])
        };
        let [low, high] = self.range;
        let middle = if self.is_logarithmic { (low * high).sqrt() } else { 0.5 * (low + high) };
        let layout = lines.iter().enumerate().fold(layout, |layout, (i, line)| match line {
            Line::Heading(words) => {
                let height = (places - i) as f64 - 0.6;
                layout
                    .with_annotation(TextAnnotation::new(shortened(words), middle, height).with_font_size(10))
            }
            _ => layout,
        });
        // Lines without a setting have no name that a tick could point to.
        Panel { plots, layout: if is_long { layout.with_tick_length(0.0) } else { layout } }
    }

    /// Lines at powers of ten.
    fn grid(&self, places: usize) -> Vec<Plot> {
        if !self.is_logarithmic {
            return Vec::new();
        }
        let [first, last] = self.range.map(f64::log10);
        let line = |power: i32| {
            let ends = [0.4, places as f64 + 0.6].map(|height| (10_f64.powi(power), height));
            LinePlot::new().with_data(ends).with_color(GRID).with_stroke_width(1.0).into()
        };
        (first.ceil() as i32..=last.floor() as i32).map(line).collect()
    }

    /// A bar between theory's bounds; where one of them is unknown, a thin line to the end of the axis.
    fn theory(&self, lines: &[Line<'_>], width: f64) -> Vec<Plot> {
        let mut plots: Vec<Plot> = Vec::new();
        for (gap, height) in settings(lines) {
            let ([lower, upper], width, name) = match gap.theory {
                [Some(lower), Some(upper)] => {
                    ([lower, self.seen(lower, upper)], width, "between theory's bounds")
                }
                [Some(lower), None] => ([lower, self.range[1]], 1.5, "theory: at least"),
                [None, Some(upper)] => ([self.range[0], upper], 1.5, "theory: at most"),
                [None, None] => continue,
            };
            let bar = LinePlot::new().with_data([(lower, height), (upper, height)]).with_color(THEORY);
            plots.push(bar.with_stroke_width(width).with_legend(name).into());
        }
        plots
    }

    /// An upper end so far from the lower one that bounds which coincide are still to be seen.
    fn seen(&self, lower: f64, upper: f64) -> f64 {
        let [low, high] = self.range;
        let least =
            if self.is_logarithmic { lower * (high / low).powf(0.004) } else { lower + 0.004 * (high - low) };
        upper.max(least)
    }

    fn found(&self, lines: &[Line<'_>], size: f64) -> Vec<Plot> {
        let found = settings(lines)
            .filter_map(|(gap, height)| Some((&*gap.names.found, (gap, (gap.found?, height - 0.2)))));
        let mut plots: Vec<Plot> = Vec::new();
        for (name, found) in by_name(found) {
            let hollow = |points: Vec<(f64, f64)>| {
                let points = ScatterPlot::new().with_data(points).with_color(OBSERVED).with_size(size);
                points.with_marker_opacity(0.0).with_marker_stroke_width(1.5).with_legend(name)
            };
            let (mut with, mut errors, mut without) = (Vec::new(), Vec::new(), Vec::new());
            for (gap, point) in found {
                if let Some(deviation) = gap.standard_deviation {
                    with.push(point);
                    // Below the axis there is nothing, and no logarithm either.
                    errors.push((deviation.min(point.0 - self.range[0]), deviation));
                } else {
                    without.push(point);
                }
            }
            if !with.is_empty() {
                plots.push(hollow(with).with_x_err_asymmetric(errors).into());
            }
            if !without.is_empty() {
                plots.push(hollow(without).into());
            }
        }
        plots
    }
}

/// What has the same name together, in the order in which names come first.
fn by_name<'a, T>(all: impl Iterator<Item = (&'a str, T)>) -> Vec<(&'a str, Vec<T>)> {
    let mut groups: Vec<(&str, Vec<T>)> = Vec::new();
    for (name, one) in all {
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    groups
}

/// The settings of some lines and how high they stand.
fn settings<'a>(lines: &'a [Line<'a>]) -> impl Iterator<Item = (&'a Gap, f64)> {
    lines.iter().enumerate().filter_map(|(i, line)| match line {
        Line::Setting(_, gap) => Some((*gap, (lines.len() - i) as f64)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(name: &str) -> Gap {
        Gap {
            name: name.into(),
            claimed: Some(1.0),
            found: Some(3.0),
            standard_deviation: Some(0.2),
            valid_epsilon: Some(2.8),
            theory: [Some(2.9), Some(3.5)],
            ..Gap::default()
        }
    }

    fn drawn(gaps: Vec<Gap>) -> String {
        GapFigure { title: "Gaps".into(), remark: Some("5 runs each".into()), gaps }.draw().to_svg()
    }

    #[test]
    fn names_and_marks_are_there() {
        let svg = drawn(vec![gap("first <one>"), gap("second")]);
        for words in [
            "Gaps",
            "5 runs each",
            "first &lt;one&gt;",
            "second",
            "claimed",
            FOUND,
            VALID,
            "theory",
            "epsilon",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(!svg.contains("printed"), "no mark, no legend");
    }

    #[test]
    fn marks_are_called_what_they_are() {
        let names = |found: &'static str, valid: &'static str| FoundNames {
            found: found.into(),
            valid: valid.into(),
        };
        let gaps = [("one", names("by ear", "at 99 %")), ("two", names("by eye", "at 99 %"))];
        let svg = drawn(gaps.into_iter().map(|(name, names)| Gap { names, ..gap(name) }).collect());
        for words in ["by ear", "by eye", "at 99 %"] {
            assert_eq!(svg.matches(&format!(">{words}<")).count(), 1, "{words}");
        }
        assert!(!svg.contains(FOUND) && !svg.contains(VALID));
    }

    #[test]
    fn marks_at_the_ends_lie_within_the_axis() {
        let far = Gap { theory: [Some(48.0), Some(400.0)], ..gap("far") };
        let none = Gap { found: Some(0.0), standard_deviation: None, ..gap("none") };
        for (gaps, is_logarithmic) in [(vec![far], true), (vec![none], false)] {
            let figure = GapFigure { title: String::new(), remark: None, gaps };
            let axis = figure.axis();
            assert_eq!(axis.is_logarithmic, is_logarithmic);
            let gap = &figure.gaps[0];
            let ends = [gap.claimed, gap.found, gap.theory[1]].map(Option::unwrap);
            assert!(ends.iter().all(|&end| axis.range[0] < end && end < axis.range[1]), "{:?}", axis.range);
        }
    }

    #[test]
    fn many_settings_share_what_their_names_begin_with() {
        let name = |i: usize| format!("a source, data set {}, noise {i}", i / 20);
        let svg = drawn((0..80).map(|i| gap(&name(i))).collect());
        for heading in 0..4 {
            assert_eq!(svg.matches(&format!("a source, data set {heading}")).count(), 1, "{heading}");
        }
        assert!((0..80).all(|i| svg.contains(&format!(">noise {i}<"))));
    }

    #[test]
    fn of_many_settings_those_that_show_nothing_stand_at_the_left() {
        let far = Gap { theory: [Some(48.0), Some(400.0)], ..gap("far") };
        let none = Gap { found: Some(0.0), standard_deviation: None, ..gap("none") };
        let gaps: Vec<Gap> = (0..30).map(|i| gap(&i.to_string())).chain([far, none]).collect();
        let figure = GapFigure { title: String::new(), remark: Some("5 runs each".into()), gaps };
        let axis = figure.axis();
        assert!(axis.is_logarithmic && axis.range[0] > 0.1, "{:?}", axis.range);
        let drawn = figure.within(&axis);
        assert_eq!(drawn.gaps[31].found, Some(axis.range[0]));
        assert_eq!(drawn.gaps[..31], figure.gaps[..31], "others stay where they are");
        assert!(drawn.remark.as_ref().is_some_and(|remark| remark.starts_with("5 runs each; below")));
    }
}
