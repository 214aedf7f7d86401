//! Dashed lines cut into their dashes.
//!
//! The rasteriser begins the pattern anew at each point of a line, so that a line of many points loses its dashes. Vector formats do not.

use kuva::render::render::Primitive;

/// Rounds of the pattern that a line is cut into, at most: many more than a figure has room for.
const MOST_ROUNDS: f64 = 1e4;

/// A dashed line as its dashes, the pattern going on across its points; anything else as it is, and so is a line too long to be cut.
pub fn cut(element: &Primitive) -> Vec<Primitive> {
    let Primitive::PolyLine { points, stroke, stroke_width, stroke_dasharray: Some(pattern) } = element
    else {
        return vec![element.clone()];
    };
    let lengths: Vec<f64> = pattern
        .split([' ', ','])
        .filter_map(|length| length.parse().ok())
        .filter(|length| *length > 0.0)
        .collect();
    let rounds = length(points) / lengths.iter().sum::<f64>();
    // An odd pattern would swap dashes and gaps in each round, and nothing can be cut by an empty one.
    if lengths.is_empty() || !lengths.len().is_multiple_of(2) || !(0.0..=MOST_ROUNDS).contains(&rounds) {
        return vec![element.clone()];
    }
    let dash = |points: Vec<(f64, f64)>| Primitive::PolyLine {
        points,
        stroke: stroke.clone(),
        stroke_width: *stroke_width,
        stroke_dasharray: None,
    };
    dashes(points, &lengths).into_iter().map(dash).collect()
}

/// The length of a line.
fn length(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1)).sum()
}

/// The dashes of a line: `lengths` are those of a dash, of the gap after it, and so on, over and over.
fn dashes(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let mut found: Vec<Vec<(f64, f64)>> = Vec::new();
    let (mut place, mut left) = (0, lengths[0]);
    found.extend(points.first().map(|&first| vec![first]));
    for pair in points.windows(2) {
        let (mut from, to) = (pair[0], pair[1]);
        loop {
            let rest = (to.0 - from.0).hypot(to.1 - from.1);
            let is_dash = place % 2 == 0;
            let share = left / rest;
            let next = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            // Far from the origin a step may be too small to be one.
            if rest <= left || (left > 0.0 && next == from) {
                left = (left - rest).max(0.0);
                if let (true, Some(dash)) = (is_dash, found.last_mut()) {
                    dash.push(to);
                }
                break;
            }
            from = next;
            match (is_dash, found.last_mut()) {
                (true, Some(dash)) => dash.push(from),
                _ => found.push(vec![from]),
            }
            place = (place + 1) % lengths.len();
            left = lengths[place];
        }
    }
    found.retain(|dash| dash.len() > 1);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_goes_on_across_points() {
        let line: Vec<(f64, f64)> = (0..=30).map(|x| (f64::from(x), 0.0)).collect();
        let found = dashes(&line, &[8.0, 4.0]);
        let ends: Vec<[f64; 2]> = found.iter().map(|dash| [dash[0].0, dash[dash.len() - 1].0]).collect();
        assert_eq!(ends, [[0.0, 8.0], [12.0, 20.0], [24.0, 30.0]]);
    }

    #[test]
    fn no_line_is_cut_without_end() {
        let line = |points: Vec<(f64, f64)>| Primitive::PolyLine {
            points,
            stroke: "black".into(),
            stroke_width: 1.0,
            stroke_dasharray: Some("8 4".into()),
        };
        let cut_into = |ends: [f64; 2]| cut(&line(ends.map(|x| (x, 0.0)).to_vec())).len();
        for far in [1e6, 1e300, 1.7e308, f64::INFINITY, f64::NAN] {
            assert_eq!([cut_into([0.0, far]), cut_into([-far, far])], [1, 1], "{far}");
        }
        assert_eq!([cut_into([1e18, 1e18 + 1024.0]), cut_into([0.0, 1200.0])], [1, 100]);
    }

    #[test]
    fn a_corner_within_a_dash_is_kept() {
        let found = dashes(&[(0.0, 0.0), (3.0, 0.0), (3.0, 10.0)], &[5.0, 1.0]);
        assert_eq!(found[0], [(0.0, 0.0), (3.0, 0.0), (3.0, 2.0)]);
        assert_eq!(found[1][0], (3.0, 3.0));
    }
}
