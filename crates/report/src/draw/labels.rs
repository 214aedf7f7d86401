//! Writes each line's name beside the line, where other lines are far away. The page's script follows the same rules.

use super::font::{self, shortened};
use super::panel::Panel;
use super::svg::Svg;
use crate::chart::{Draw, Series};

const SIZE: f64 = 11.0;
/// The largest share of a plot's width that a name may take. The legend shows the full name.
const WIDEST: f64 = 0.55;
/// Distance between the places on a line that are tried for its name.
const STEP: f64 = 14.0;
/// Distance between a line and its name.
const GAP: f64 = 5.0;
/// Other lines farther away than this are ignored.
const FAR: f64 = 60.0;

/// A rectangle on the plot: left, top, right, bottom.
type Frame = [f64; 4];

/// Writes names beside a plot's lines, if it has several.
pub fn draw(svg: &mut Svg, panel: &Panel<'_>) {
    let is_line = |series: &&Series| matches!(series.draw, Draw::Line | Draw::Marked | Draw::Spaced);
    let lines: Vec<&Series> = panel.chart.series.iter().filter(is_line).collect();
    if lines.len() < 2 || !panel.chart.y.rows.is_empty() {
        return;
    }
    let places: Vec<Vec<[f64; 2]>> = lines.iter().map(|line| places(panel, line)).collect();
    let mut taken: Vec<Frame> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let name = shortened(&line.name, WIDEST * (panel.right - panel.left), SIZE);
        let wide = font::width(&name, SIZE);
        let fits = |frame: &Frame| {
            let is_free = |other: &Frame| !overlap(frame, other);
            let is_crossed = || places.iter().flatten().any(|&place| holds(frame, place));
            panel.holds([frame[0], frame[1]])
                && panel.holds([frame[2], frame[3]])
                && taken.iter().all(is_free)
                && !is_crossed()
        };
        let alone = |frame: &Frame| {
            let middle = [f64::midpoint(frame[0], frame[2]), f64::midpoint(frame[1], frame[3])];
            let others = places.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, line)| line);
            others.map(|place| (place[0] - middle[0]).hypot(place[1] - middle[1])).fold(FAR, f64::min)
        };
        let frames = places[i].iter().flat_map(|&place| frames(place, wide)).filter(fits);
        let Some(best) = frames.reduce(|best, frame| if alone(&frame) > alone(&best) { frame } else { best })
        else {
            continue;
        };
        svg.name(&name, [best[0], best[3] - 2.5], SIZE, line.role.colour());
        taken.push(best);
    }
}

/// Points along a line at even distances.
fn places(panel: &Panel<'_>, line: &Series) -> Vec<[f64; 2]> {
    let mut places = Vec::new();
    let points = line.points.iter().map(|point| [panel.x.place(point[0]), panel.y.place(point[1])]);
    let points: Vec<[f64; 2]> = points.collect();
    for pair in points.windows(2) {
        let [[x, y], [u, v]] = [pair[0], pair[1]];
        let parts = ((u - x).hypot(v - y) / STEP).ceil().clamp(1.0, 200.0);
        places.extend((0..=parts as u32).map(|part| {
            let share = f64::from(part) / parts;
            [x + share * (u - x), y + share * (v - y)]
        }));
    }
    places.retain(|&place| panel.holds(place));
    places
}

/// The four frames where a name may go: above or below the place, on either side.
fn frames([x, y]: [f64; 2], wide: f64) -> [Frame; 4] {
    let high = SIZE + 2.0;
    [[GAP, -GAP - high], [GAP, GAP], [-GAP - wide, -GAP - high], [-GAP - wide, GAP]]
        .map(|[right, down]| [x + right, y + down, x + right + wide, y + down + high])
}

fn overlap(one: &Frame, other: &Frame) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

fn holds(frame: &Frame, [x, y]: [f64; 2]) -> bool {
    (frame[0] - 2.0..=frame[2] + 2.0).contains(&x) && (frame[1] - 2.0..=frame[3] + 2.0).contains(&y)
}

#[cfg(test)]
mod tests {
    use crate::Figure;
    use crate::chart::Draw::Spaced;
    use crate::chart::{Axis, Chart, Role, Series};

    #[test]
    fn lines_have_their_names_in_the_plot_and_in_the_legend() {
        let line = |name: &str, role, end| Series::new(name, role, Spaced, [[0.0, 0.0], [1.0, end]]);
        let series = vec![line("steep", Role::Shuffle, 1.0), line("flat", Role::Poisson, 0.2)];
        let chart = Chart::new("", "", [Axis::of("x"), Axis::of("y")], series);
        let svg = Figure::new("", vec![chart.clone()], 1).to_svg();
        for name in ["steep", "flat"] {
            assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 2, "{name}");
        }
        let alone = Chart { series: chart.series[..1].to_vec(), ..chart };
        assert_eq!(Figure::new("", vec![alone], 1).to_svg().matches(">steep</text>").count(), 1);
    }
}
