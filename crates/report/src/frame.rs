//! What surrounds the panels of a figure: the title and its remarks above, one legend for all panels below.

use crate::drawing::Drawing;
use kuva::plot::scatter::MarkerShape;
use kuva::render::color::Color;
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::{PathData, Primitive, Scene, TextAnchor};

const TITLE_SIZE: u32 = 15;
const REMARK_SIZE: u32 = 12;
const LEGEND_SIZE: u32 = 12;
const LEGEND_ROW: f64 = 20.0;
/// Long enough for two rounds of every pattern of dashes.
const SAMPLE: f64 = 44.0;
/// Between a sample and its words, and between the columns of the legend.
const GAP: f64 = 8.0;

/// Axes and what is drawn on them.
pub struct Panel {
    pub plots: Vec<Plot>,
    pub layout: Layout,
}

/// Panels from left to right and from the top down.
pub struct Frame<'a> {
    pub title: &'a str,
    /// Smaller, below the title.
    pub remark: Option<&'a str>,
    pub columns: usize,
    /// The width and the height of a panel.
    pub cell: [f64; 2],
    pub panels: Vec<Panel>,
}

impl Frame<'_> {
    /// Lays the figure out. Plots of the same name share an entry of the legend, which shows all their marks.
    pub fn draw(self) -> Drawing {
        let columns = self.columns.max(1);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let legend = legend(&self.panels);
        let (plots, mut layouts): (Vec<_>, Vec<_>) =
            self.panels.into_iter().map(|panel| (panel.plots, panel.layout)).unzip();
        for layout in &mut layouts {
            layout.show_legend = false;
        }
        let figure = Figure::new(rows, columns)
            .with_plots(plots)
            .with_layouts(layouts)
            .with_cell_size(self.cell[0], self.cell[1]);
        let mut scene = figure.render();
        let width = scene.width;
        let mut above = Vec::new();
        let mut head = 6.0;
        for (text, size) in [(Some(self.title), TITLE_SIZE), (self.remark, REMARK_SIZE)]
            .map(|(text, size)| (text.unwrap_or(""), size))
        {
            for line in wrapped(text, width - 20.0, size) {
                head += 1.3 * f64::from(size);
                above.push(words(&line, [width / 2.0, head], size, TextAnchor::Middle));
            }
        }
        let panels = std::mem::take(&mut scene.elements);
        scene.elements = above;
        translated(&mut scene, [0.0, head], panels);
        scene.height += head;
        draw_legend(&mut scene, legend);
        Drawing(scene)
    }
}

/// An entry of the legend: its marks about the middle of a sample, and what they are.
struct Entry {
    name: String,
    marks: Vec<Primitive>,
    kinds: Vec<Kind>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Line,
    Points,
    Region,
}

fn legend(panels: &[Panel]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for plot in panels.iter().flat_map(|panel| &panel.plots) {
        let (name, kind, marks) = match plot {
            Plot::Line(line) => (&line.legend_label, Kind::Line, {
                let end = |x: f64| (x, 0.0);
                vec![Primitive::PolyLine {
                    points: vec![end(0.0), end(SAMPLE)],
                    stroke: Color::from(&line.color),
                    stroke_width: line.stroke_width,
                    stroke_dasharray: line.line_style.dasharray(),
                }]
            }),
            Plot::Scatter(points) => (&points.legend_label, Kind::Points, {
                let mut marks = Vec::new();
                if points.data.iter().any(|point| point.x_err.is_some()) {
                    marks.extend(whisker(&points.color, |along, across| (SAMPLE / 2.0 + along, across)));
                }
                if points.data.iter().any(|point| point.y_err.is_some()) {
                    marks
                        .extend(whisker(&points.color, |along, across| (SAMPLE / 2.0 + across, 0.6 * along)));
                }
                let hollow = points.marker_opacity == Some(0.0);
                marks.push(mark(points.marker, &points.color, hollow));
                marks
            }),
            Plot::Band(band) => (&band.legend_label, Kind::Region, {
                vec![Primitive::Rect {
                    x: 0.0,
                    y: -6.0,
                    width: SAMPLE,
                    height: 12.0,
                    fill: Color::from(&band.color),
                    stroke: None,
                    stroke_width: None,
                    opacity: Some(band.opacity),
                }]
            }),
            _ => continue,
        };
        let Some(name) = name else { continue };
        match entries.iter_mut().find(|entry| entry.name == *name) {
            Some(entry) if entry.kinds.contains(&kind) => {}
            Some(entry) => {
                entry.marks.extend(marks);
                entry.kinds.push(kind);
            }
            None => entries.push(Entry { name: name.clone(), marks, kinds: vec![kind] }),
        }
    }
    entries
}

fn whisker(colour: &str, place: impl Fn(f64, f64) -> (f64, f64)) -> [Primitive; 3] {
    const REACH: f64 = 13.0;
    const CAP: f64 = 4.0;
    let stroke = |from: (f64, f64), to: (f64, f64)| Primitive::Line {
        x1: from.0,
        y1: from.1,
        x2: to.0,
        y2: to.1,
        stroke: Color::from(colour),
        stroke_width: 1.0,
        stroke_dasharray: None,
    };
    [
        stroke(place(-REACH, 0.0), place(REACH, 0.0)),
        stroke(place(-REACH, -CAP), place(-REACH, CAP)),
        stroke(place(REACH, -CAP), place(REACH, CAP)),
    ]
}

fn mark(shape: MarkerShape, colour: &str, hollow: bool) -> Primitive {
    const SIZE: f64 = 4.5;
    let x = SAMPLE / 2.0;
    let path = |corners: &[(f64, f64)]| {
        let corners: Vec<String> = corners.iter().map(|(dx, dy)| format!("{:.2},{dy:.2}", x + dx)).collect();
        Primitive::Path(Box::new(PathData {
            d: format!("M{} Z", corners.join(" L")),
            fill: Some(Color::from(colour)),
            stroke: Color::from(colour),
            stroke_width: 0.5,
            opacity: None,
            stroke_dasharray: None,
        }))
    };
    match shape {
        MarkerShape::Square => path(&[(-SIZE, -SIZE), (SIZE, -SIZE), (SIZE, SIZE), (-SIZE, SIZE)]),
        MarkerShape::Triangle => path(&[(0.0, -SIZE), (-SIZE, 0.7 * SIZE), (SIZE, 0.7 * SIZE)]),
        MarkerShape::Diamond => {
            let reach = 1.3 * SIZE;
            path(&[(0.0, -reach), (reach, 0.0), (0.0, reach), (-reach, 0.0)])
        }
        _ => Primitive::Circle {
            cx: x,
            cy: 0.0,
            r: SIZE,
            fill: Color::from(colour),
            fill_opacity: hollow.then_some(0.0),
            stroke: hollow.then(|| Color::from(colour)),
            stroke_width: hollow.then_some(1.6),
        },
    }
}

/// Puts the legend below what is drawn, in as many columns as fit.
fn draw_legend(scene: &mut Scene, entries: Vec<Entry>) {
    if entries.is_empty() {
        return;
    }
    let widest = entries.iter().map(|entry| text_width(&entry.name, LEGEND_SIZE)).fold(0.0, f64::max);
    let column = SAMPLE + 3.0 * GAP + widest;
    let columns = ((scene.width / column) as usize).clamp(1, entries.len());
    let rows = entries.len().div_ceil(columns);
    let columns = entries.len().div_ceil(rows);
    let left = ((scene.width - column * columns as f64) / 2.0 + GAP).max(GAP);
    let top = scene.height + LEGEND_ROW / 2.0;
    for (i, entry) in entries.into_iter().enumerate() {
        let place = [left + column * (i / rows) as f64, top + LEGEND_ROW * (i % rows) as f64];
        let mut marks = entry.marks;
        let baseline = 0.35 * f64::from(LEGEND_SIZE);
        marks.push(words(&entry.name, [SAMPLE + GAP, baseline], LEGEND_SIZE, TextAnchor::Start));
        translated(scene, place, marks);
    }
    scene.height += LEGEND_ROW * (rows as f64 + 0.5);
}

fn translated(scene: &mut Scene, [x, y]: [f64; 2], elements: Vec<Primitive>) {
    let transform = Some(format!("translate({x},{y})"));
    scene.add(Primitive::GroupStart { transform, title: None, extra_attrs: None });
    scene.elements.extend(elements);
    scene.add(Primitive::GroupEnd);
}

fn words(text: &str, [x, y]: [f64; 2], size: u32, anchor: TextAnchor) -> Primitive {
    Primitive::Text { x, y, content: text.into(), size, anchor, rotate: None, bold: false, color: None }
}

/// About how wide a text is, rather more than less.
pub fn text_width(text: &str, size: u32) -> f64 {
    0.6 * f64::from(size) * text.chars().count() as f64
}

/// A text in lines that fit, broken between words.
fn wrapped(text: &str, width: f64, size: u32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use kuva::plot::{LinePlot, ScatterPlot};

    fn drawn(title: &str) -> String {
        let line = LinePlot::new().with_data([(0.0, 0.0), (1.0, 1.0)]).with_legend("both");
        let points = ScatterPlot::new().with_data([(0.0, 0.0)]).with_legend("both");
        let dashed = LinePlot::new().with_data([(0.0, 1.0), (1.0, 0.0)]).with_dashdot().with_legend("dashed");
        let plots: Vec<Plot> = vec![line.into(), points.into(), dashed.into()];
        let layout = Layout::auto_from_plots(&plots);
        let panels = vec![Panel { plots, layout }];
        Frame { title, remark: Some("a remark"), columns: 1, cell: [300.0, 200.0], panels }.draw().to_svg()
    }

    #[test]
    fn every_name_is_in_the_legend_once() {
        let svg = drawn("A title");
        for words in ["A title", "a remark", "both", "dashed"] {
            assert_eq!(svg.matches(&format!(">{words}<")).count(), 1, "{words}");
        }
    }

    #[test]
    fn long_titles_are_broken_between_words() {
        let svg = drawn("a title of so many words that no line is as long as the whole of it");
        assert!(svg.contains(">a title of so many words") && svg.contains("the whole of it<"), "{svg}");
        assert_eq!(wrapped("one two three", 60.0, 10), ["one two", "three"]);
    }
}
