//! Computes where axes begin and end. The page's script follows the same rules.

use super::{Axis, Chart, Draw};

/// The largest number on an axis; logarithmic axes end at its inverse. This leaves room for margins without overflow.
const FAR: f64 = 1e299;
/// Start of the logarithmic axis of histogram counts; below 1, so that a count of 1 is visible.
const BELOW_ONE: f64 = 0.7;

impl Chart {
    /// The ends of the x-axis and of the y-axis. A y-axis of rows gets 0 and 1.
    pub fn domains(&self) -> [[f64; 2]; 2] {
        let is_rows = !self.y.rows.is_empty();
        let y = if is_rows { [0.0, 1.0] } else { self.domain(&self.y, 1) };
        [self.domain(&self.x, 0), y]
    }

    fn domain(&self, axis: &Axis, which: usize) -> [f64; 2] {
        if let Some(ends) = axis.ends {
            return ends;
        }
        let is_count = which == 1 && self.series.iter().any(|series| series.draw == Draw::Steps);
        let values = self.series.iter().flat_map(|series| {
            let places = series.draw.places()[which];
            series.points.iter().flat_map(|point| places.iter().map(|&place| point[place]))
        });
        let values = values.filter(|value| value.is_finite());
        if axis.log {
            let from = axis.from.unwrap_or(0.0);
            let (least, most) = extent(values.filter(|value| *value > 0.0), 1.0 / FAR, FAR);
            logarithmic(if is_count { BELOW_ONE } else { least.max(from) }, most)
        } else {
            linear(axis, extent(values, -FAR, FAR), is_count)
        }
    }
}

/// Gives neighbouring charts the same ends on axes with the same label and scale.
pub fn share_axes(charts: &mut [Chart]) {
    let domains: Vec<[[f64; 2]; 2]> = charts.iter().map(Chart::domains).collect();
    let axis = |chart: &Chart, which: usize| if which == 0 { chart.x.clone() } else { chart.y.clone() };
    for which in [0, 1] {
        let axes: Vec<Axis> = charts.iter().map(|chart| axis(chart, which)).collect();
        let is_same = |one: &Axis, other: &Axis| {
            one.rows.is_empty() && other.rows.is_empty() && (&one.label, one.log) == (&other.label, other.log)
        };
        let has_counts = |chart: &Chart| chart.series.iter().any(|series| series.draw == Draw::Steps);
        for i in 0..charts.len() {
            let same = (0..axes.len()).filter(|&j| is_same(&axes[i], &axes[j]));
            let beside: Vec<[f64; 2]> = same.map(|j| domains[j][which]).collect();
            if beside.len() < 2 || axes[i].ends.is_some() || has_counts(&charts[i]) {
                continue;
            }
            let ends = beside.into_iter().fold([f64::INFINITY, f64::NEG_INFINITY], |ends, one| {
                [ends[0].min(one[0]), ends[1].max(one[1])]
            });
            let axis = if which == 0 { &mut charts[i].x } else { &mut charts[i].y };
            axis.ends = Some(ends);
        }
    }
}

/// The smallest and largest value, clamped to the limits. Without values, returns `(largest, least)`.
fn extent(values: impl Iterator<Item = f64>, least: f64, largest: f64) -> (f64, f64) {
    values.fold((largest, least), |(low, high), value| {
        (low.min(value.max(least)), high.max(value.min(largest)))
    })
}

fn logarithmic(low: f64, high: f64) -> [f64; 2] {
    if low > high && high < 1.0 / FAR * 2.0 {
        return [1.0, 10.0];
    }
    if high <= low * 1.01 {
        return [low / 2.0, low * 2.0];
    }
    let (start, end) = (low.log10(), high.log10());
    let wide = end - start;
    [10_f64.powf((start - 0.03 * wide).max(-300.0)), 10_f64.powf((end + 0.05 * wide).min(300.0))]
}

fn linear(axis: &Axis, (low, high): (f64, f64), is_count: bool) -> [f64; 2] {
    let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
    let low = if is_count { 0.0 } else { axis.from.map_or(low, |from| from.min(low)) };
    let high = axis.to.map_or(high, |to| to.max(high));
    let high = if high > low { high } else { low + if low == 0.0 { 1.0 } else { low.abs() } };
    let room = 0.05 * (high - low);
    let is_end = axis.to.is_some_and(|to| high <= to);
    [
        if axis.from.is_some() || low == 0.0 { low } else { low - room },
        if is_end { high } else { high + room },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::{Role, Series};
    use super::*;

    fn ends(axis: Axis, values: &[f64]) -> [f64; 2] {
        let points = Series::new("", Role::Found, Draw::Marks, values.iter().map(|&x| [x, 0.0]));
        Chart::new("", "", [axis, Axis::default()], vec![points]).domains()[0]
    }

    #[test]
    fn axes_hold_their_data_with_room() {
        let [low, high] = ends(Axis::of_epsilons(), &[1.0, 3.0]);
        assert!(low == 0.0 && high > 3.0);
        assert_eq!(ends(Axis::of_rates(""), &[0.2]), [0.0, 1.0]);
        let [low, high] = ends(Axis::of("").logarithmic(), &[0.0, 1e-3, 10.0]);
        assert!((1e-4..1e-3).contains(&low) && high > 10.0, "{low} {high}");
        let [low, _] = ends(Axis { from: Some(0.1), log: true, ..Axis::of("") }, &[1e-3, 10.0]);
        assert!((0.05..0.1).contains(&low), "{low}");
    }

    #[test]
    fn charts_beside_each_other_share_axes_of_the_same_measure() {
        let chart = |label: &str, most: f64| {
            let marks = Series::new("", Role::Found, Draw::Marks, [[1.0, 0.0], [2.0, most]]);
            Chart::new(
                "",
                "",
                [Axis::of("x"), Axis { label: label.into(), ..Axis::of_epsilons() }],
                vec![marks],
            )
        };
        let mut charts = vec![chart("epsilon", 3.0), chart("epsilon", 30.0), chart("delta", 7.0)];
        share_axes(&mut charts);
        assert_eq!(charts[0].domains(), charts[1].domains());
        assert!(charts[0].domains()[1][1] > 30.0 && charts[2].domains()[1][1] < 10.0);
    }

    #[test]
    fn whatever_the_data_axes_have_two_ends() {
        let extremes: [&[f64]; 7] =
            [&[], &[0.0], &[-1.0], &[1e300, 3.0], &[1.7e308, 1e-320], &[1e-310], &[-1.7e308, 1.7e308]];
        for values in extremes {
            for axis in [Axis::of_epsilons(), Axis::of(""), Axis::of("").logarithmic()] {
                let [low, high] = ends(axis, values);
                assert!(low < high && (high - low).is_finite(), "{values:?}: {low} {high}");
            }
        }
    }
}
