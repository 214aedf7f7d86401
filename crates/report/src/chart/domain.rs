//! Where axes begin and end; the page's script has the same rules.

use super::{Axis, Chart, Draw};

/// Axes show numbers up to here, and logarithmic ones down to its inverse: room is added to them, and nothing overflows.
const FAR: f64 = 1e299;
/// Where the logarithmic axis of a histogram's counts begins: below 1.
const BELOW_ONE: f64 = 0.7;

impl Chart {
    /// The ends of the x-axis, and of a y-axis that has no rows.
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

/// The least and the largest value, each taken no further than the limits; the other way round without values.
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
