//! Charts of scores: trade-off curves and histograms.

use super::chart::{Axis, Chart, Draw, Role, Series, thinned};
use crate::results::{Observed, TradeOff};
use misdeal_core::TradeOffBounds;
use misdeal_results::numbers::{confidence, significant};
use misdeal_statistics::ScoreHistogram;
use std::collections::BTreeMap;

/// The smallest rate that a zoom shows where nothing was observed.
const LEAST_RATE: f64 = 1e-6;

/// Where a point of a curve lies on the axes, or nowhere.
type Place = fn([f64; 2], f64) -> Option<[f64; 2]>;
/// Where the eye finds it, in units of the panel.
type Seen = fn([f64; 2], f64) -> [f64; 2];

/// A way to look at trade-off curves.
struct View {
    title: &'static str,
    caption: &'static str,
    place: Place,
    seen: Seen,
    axes: fn() -> [Axis; 2],
}

const WHOLE: View = View {
    title: "Errors of the adversary",
    caption: "What an adversary that tells both worlds apart gets wrong, at every threshold. Below a promised curve nothing may lie: there \
              the promise is broken.",
    place: |point, _| Some(point),
    seen: |point, _| point,
    axes: || [Axis::of_rates("false-positive rate"), Axis::of_rates("false-negative rate")],
};

const ZOOM: View = View {
    title: "Small false-positive rates",
    caption: "The same from the other side: how often the adversary is right when it almost never accuses wrongly. Above a promised \
              curve nothing may lie.",
    place: |[x, y], least| (x >= least && 1.0 - y >= least).then_some([x, 1.0 - y]),
    seen: |rates, least| rates.map(|rate| rate.log10() / -least.log10()),
    axes: || ["false-positive rate", "true-positive rate"].map(|label| Axis::of_rates(label).logarithmic()),
};

/// The observed curve beside those that were promised: the whole of it, and its small rates.
pub fn trade_off(curves: &TradeOff) -> [Chart; 2] {
    let least = 0.5 / curves.observed.observations_out.max(1) as f64;
    [WHOLE, ZOOM].map(|view| {
        let mut series = observed(&curves.observed, &view, least);
        let mut claims = [Role::Claimed, Role::Other, Role::Raw].into_iter().cycle();
        for promise in &curves.promised {
            let role = if promise.test.is_some() { claims.next().unwrap_or(Role::Raw) } else { Role::Theory };
            series.push(line(promise.legend(), role, promise.points(), &view, least));
        }
        chart(&view, series)
    })
}

/// Theory's curves, scheme by scheme: the least that is known to be reached, and what nobody can do better than.
pub fn known_trade_offs(schemes: &BTreeMap<String, TradeOffBounds>) -> [Chart; 2] {
    [WHOLE, ZOOM].map(|view| {
        let mut series = Vec::new();
        let mut roles =
            [Role::Found, Role::Claimed, Role::Theory, Role::Other, Role::Raw].into_iter().cycle();
        for (scheme, bounds) in schemes {
            let known = bounds
                .false_negative_rate_upper_bounds
                .as_ref()
                .or(bounds.false_negative_rate_lower_bounds.as_ref());
            let Some(rates) = known else { continue };
            let points = bounds.false_positive_rates.iter().zip(rates).map(|(&x, &y)| [x, y]);
            series.push(line(scheme.clone(), roles.next().unwrap_or(Role::Raw), points, &view, LEAST_RATE));
        }
        Chart {
            caption: "What the best adversary known to theory gets wrong under each scheme.".into(),
            ..chart(&view, series)
        }
    })
}

fn chart(view: &View, series: Vec<Series>) -> Chart {
    let [x, y] = (view.axes)();
    Chart { title: view.title.into(), caption: view.caption.into(), x, y, series }
}

fn line(name: String, role: Role, points: impl Iterator<Item = [f64; 2]>, view: &View, least: f64) -> Series {
    let placed = points.filter_map(|point| (view.place)(point, least));
    Series::new(name, role, Draw::Line, thinned(placed, |point| (view.seen)(point, least)))
}

/// The observed curve, and the region up to the one through both upper bounds.
fn observed(observed: &Observed, view: &View, least: f64) -> Vec<Series> {
    let points: Vec<_> = observed.points.iter().rev().collect();
    let rates = points.iter().map(|point| [point.false_positive_rate, point.false_negative_rate]);
    // The largest bound so far grows, whatever the order of a document's points, so that the last one within a rate is found by halving.
    let largest: Vec<f64> = points
        .iter()
        .scan(0.0, |largest: &mut f64, point| {
            *largest = largest.max(point.false_positive_rate_upper_bound);
            Some(*largest)
        })
        .collect();
    let bounded = |rate: f64| {
        let within = largest.partition_point(|&bound| bound <= rate).checked_sub(1);
        within.map_or(1.0, |last| points[last].false_negative_rate_upper_bound)
    };
    let kept = thinned(rates.clone().filter_map(|point| (view.place)(point, least)), |point| {
        (view.seen)(point, least)
    });
    let band = kept.iter().filter_map(|&[x, y]| {
        let [_, z] = (view.place)([x, bounded(x)], least)?;
        Some([x, y.min(z), y.max(z)])
    });
    let confidence = confidence(observed.significance);
    vec![
        Series::new(format!("{confidence} bounds at each point"), Role::Found, Draw::Band, band),
        line("observed".into(), Role::Found, rates, view, least),
    ]
}

/// The scores of both worlds, by the name of what they are, and where the adversary draws the line.
pub fn histogram(scores: &ScoreHistogram, name: &str, threshold: Option<f64>) -> Chart {
    let cells = |counts: &[u64]| -> Vec<[f64; 3]> {
        scores
            .edges
            .windows(2)
            .zip(counts)
            .map(|(edges, &count)| [edges[0], edges[1], count as f64])
            .collect()
    };
    let mut series = vec![
        Series::new("without the record", Role::Claimed, Draw::Steps, cells(&scores.scores_out)),
        Series::new("with the record", Role::Found, Draw::Steps, cells(&scores.scores_in)),
    ];
    if let Some(threshold) = threshold {
        let mut rule = Series::new("threshold", Role::Raw, Draw::Rule, [[threshold]]);
        rule.labels = vec![significant(threshold)];
        series.push(rule);
    }
    Chart {
        title: "Scores in both worlds".into(),
        caption: "The adversary's score of every run, with the record and without it. Where the two differ, the record shows; what is \
                  rare counts, so the scale is logarithmic."
            .into(),
        x: Axis::of(name),
        y: Axis { log: true, ..Axis::of("runs") },
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The upper edge of the region at each point that is drawn is that of the last point, from the left, before one whose bound exceeds
    /// the rate, in whatever order a document has its points.
    #[test]
    fn the_region_ends_at_the_last_point_within_the_rate() {
        let bounds = [[0.05, 0.99], [0.3, 0.7], [0.2, 0.6], [0.55, 0.4], [1.0, 0.1]];
        let rates: [[f64; 2]; 5] = [[0.0, 0.95], [0.2, 0.6], [0.15, 0.5], [0.4, 0.3], [0.9, 0.05]];
        let points = rates.iter().zip(&bounds).rev().map(|([x, y], [u, v])| {
            json!({"false_positive_rate": x, "false_negative_rate": y, "false_positive_rate_upper_bound": u,
                   "false_negative_rate_upper_bound": v, "threshold": 0.0})
        });
        let document = json!({"significance": 0.05, "observations_in": 100, "observations_out": 100,
                              "points": points.collect::<Vec<_>>()});
        let series = observed(&serde_json::from_value(document).unwrap(), &WHOLE, 0.005);
        let expected = rates.map(|[x, y]| {
            let within = bounds.iter().take_while(|bound| bound[0] <= x).last().map_or(1.0, |bound| bound[1]);
            vec![x, y.min(within), y.max(within)]
        });
        assert_eq!(series[0].points, expected);
    }
}
