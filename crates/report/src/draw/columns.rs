//! Splits a chart with many rows into columns, so that it fits a page.

use crate::chart::{Axis, Chart};

/// The most rows that fit one column with full names. With more rows, common beginnings of names become headings.
const MOST_APART: usize = 30;
const LINES_IN_A_COLUMN: usize = 52;

/// A row of the chart, or a heading above rows.
#[derive(Clone, Copy)]
enum Line<'a> {
    Heading(&'a str),
    Row(&'a str, usize),
}

/// Splits a chart with many rows into columns; the flag says whether it did.
pub fn of(chart: Chart) -> (Vec<Chart>, bool) {
    if chart.y.rows.len() <= MOST_APART {
        return (vec![chart], false);
    }
    let lines = with_headings(&chart.y.rows);
    let columns = parted(&lines);
    let longest = columns.iter().map(|column| column.len()).max().unwrap_or(0);
    let x = Axis { ends: Some(chart.domains()[0]), ..chart.x.clone() };
    let column = |lines: &&[Line<'_>]| {
        let mut rows: Vec<String> = lines.iter().map(|line| line.name().to_owned()).collect();
        rows.resize(longest, String::new());
        let headings = (0..lines.len()).filter(|&i| matches!(lines[i], Line::Heading(_)));
        let y = Axis { headings: headings.collect(), ..Axis::of_rows(rows) };
        Chart { x: x.clone(), y, series: moved(&chart, lines), ..chart.clone() }
    };
    (columns.iter().map(column).collect(), true)
}

impl<'a> Line<'a> {
    fn name(self) -> &'a str {
        match self {
            Line::Heading(name) | Line::Row(name, _) => name,
        }
    }
}

/// Groups names under headings. If a name has three or more parts, its first two are the heading.
fn with_headings(names: &[String]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut last = None;
    for (i, name) in names.iter().enumerate() {
        let (heading, rest) = match name.match_indices(", ").nth(1) {
            Some((end, comma)) => (Some(&name[..end]), &name[end + comma.len()..]),
            None => (None, name.as_str()),
        };
        if heading != last {
            lines.extend(heading.map(Line::Heading));
            last = heading;
        }
        lines.push(Line::Row(rest, i));
    }
    lines
}

/// Splits lines into columns of about equal length. A column starts at a heading if one is near.
fn parted<'a, 'b>(lines: &'a [Line<'b>]) -> Vec<&'a [Line<'b>]> {
    let count = lines.len().div_ceil(LINES_IN_A_COLUMN);
    let length = lines.len().div_ceil(count.max(1));
    let mut starts = vec![0];
    for (i, line) in lines.iter().enumerate() {
        let so_far = i - starts[starts.len() - 1];
        let is_heading = matches!(line, Line::Heading(_));
        let is_full = so_far >= length + length / 4 || (is_heading && so_far + length / 10 >= length);
        if is_full && starts.len() < count {
            starts.push(i);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().zip(ends).map(|(&start, end)| &lines[start..end]).collect()
}

/// The series restricted to these rows, at the rows' new places.
fn moved(chart: &Chart, lines: &[Line<'_>]) -> Vec<crate::chart::Series> {
    let mut new_places = vec![None; chart.y.rows.len()];
    for (place, line) in lines.iter().enumerate() {
        if let Line::Row(_, i) = line {
            new_places[*i] = Some(place);
        }
    }
    let series = chart.series.iter().map(|series| {
        let [_, rows] = series.draw.places();
        let points = series.points.iter().filter_map(|point| {
            let mut point = point.clone();
            for &row in rows {
                let old = point[row].round();
                point[row] += new_places.get(old as usize).copied().flatten()? as f64 - old;
            }
            Some(point)
        });
        crate::chart::Series { points: points.collect(), labels: Vec::new(), ..series.clone() }
    });
    series.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Draw, Role, Series};

    #[test]
    fn many_rows_share_what_their_names_begin_with_and_keep_their_marks() {
        let names = (0..80).map(|i| format!("a source, data set {}, noise {i}", i / 20)).collect();
        let marks = (0..80).map(|i| [f64::from(i), f64::from(i) - 0.2]);
        let series = vec![Series::new("one", Role::Found, Draw::Marks, marks)];
        let chart = Chart::new("", "", [Axis::of_epsilons(), Axis::of_rows(names)], series);
        let (columns, is_long) = of(chart);
        assert!(is_long && columns.len() == 2);
        for column in &columns {
            assert_eq!(column.x.ends, columns[0].x.ends);
            assert_eq!(column.y.rows.len(), columns[0].y.rows.len());
            for point in &column.series[0].points {
                assert_eq!(column.y.rows[point[1].round() as usize], format!("noise {}", point[0]));
            }
        }
        let all: Vec<&String> = columns.iter().flat_map(|column| &column.y.rows).collect();
        for heading in ["a source, data set 0", "a source, data set 3"] {
            assert_eq!(all.iter().filter(|name| **name == heading).count(), 1, "{heading}");
        }
        assert_eq!(columns.iter().map(|column| column.series[0].points.len()).sum::<usize>(), 80);
    }
}
