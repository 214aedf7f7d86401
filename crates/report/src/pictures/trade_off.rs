//! Charts of trade-off curves: observed errors beside promised curves (the paper's Figures 4 and 5).

use crate::chart::{Axis, Chart, Draw, Role, Series, thinned};
use misdeal_core::{SchemeName, TradeOffBounds};
use misdeal_results::TradeOff;
use misdeal_results::numbers::confidence;
use misdeal_statistics::TradeOffEstimate;
use std::collections::BTreeMap;

/// The smallest rate that a zoomed chart shows if nothing was observed.
const LEAST_RATE: f64 = 1e-6;
/// The roles of the promises that were tested.
const PROMISES: [Role; 5] = [Role::Claimed, Role::Other, Role::Fifth, Role::Sixth, Role::Raw];

/// Returns the place of a curve's point on the axes. Points that are not drawn have none.
type Place = fn([f64; 2], f64) -> Option<[f64; 2]>;
/// Returns the visible place of a point, in units of the panel.
type Seen = fn([f64; 2], f64) -> [f64; 2];

/// A view of trade-off curves: whole, or zoomed to small rates.
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

/// Two charts of the observed curve beside the promised ones: all rates, and small rates.
pub fn charts(curves: &TradeOff) -> [Chart; 2] {
    drawn(curves, true)
}

/// [`charts`] for one audit among several. The name and the verdicts stand above, because verdicts in legends would contradict each other.
pub fn charts_of_one(name: &str, curves: &TradeOff) -> [Chart; 2] {
    let tested = || curves.promised.iter().filter(|promise| promise.test.is_some());
    let refuted = tested().filter(|promise| promise.test.as_ref().is_some_and(|test| test.refuted));
    let refuted: Vec<&str> = refuted.map(|promise| promise.name.as_str()).collect();
    let note = match refuted[..] {
        [] if tested().next().is_none() => String::new(),
        [] => "no promise refuted".into(),
        _ => format!("refuted: {}", refuted.join("; ")),
    };
    drawn(curves, false).map(|chart| {
        let title = format!("{name}: {}{}", chart.title[..1].to_lowercase(), &chart.title[1..]);
        Chart { title, note: note.clone(), ..chart }
    })
}

fn drawn(curves: &TradeOff, with_verdicts: bool) -> [Chart; 2] {
    let least = 0.5 / curves.observed.observations_out.max(1) as f64;
    [WHOLE, ZOOM].map(|view| {
        let mut series = observed(&curves.observed, &view, least);
        let mut roles = PROMISES.into_iter().cycle();
        for promise in &curves.promised {
            let role = if promise.test.is_some() { roles.next().unwrap_or(Role::Raw) } else { Role::Theory };
            let name = if with_verdicts { promise.legend() } else { promise.name.clone() };
            series.push(line(name, role, promise.points(), &view, least));
        }
        Chart::new(view.title, view.caption, (view.axes)(), series)
    })
}

/// The charts of theory's curves for each scheme. If no reached curve is known, the limit of every adversary is drawn.
pub fn known(schemes: &BTreeMap<SchemeName, TradeOffBounds>) -> [Chart; 2] {
    let caption = "What the best adversary known to theory gets wrong under each scheme.";
    [WHOLE, ZOOM].map(|view| {
        let known = schemes.iter().filter_map(|(scheme, bounds)| {
            let reached = bounds.false_negative_rate_upper_bounds.as_ref();
            let rates = reached.or(bounds.false_negative_rate_lower_bounds.as_ref())?;
            let points = bounds.false_positive_rates.iter().zip(rates).map(|(&x, &y)| [x, y]);
            let role = Role::of_scheme(*scheme);
            Some(Series { draw: Draw::Spaced, ..line(scheme.to_string(), role, points, &view, LEAST_RATE) })
        });
        Chart::new(view.title, caption, (view.axes)(), known.collect())
    })
}

/// A curve without points outside 0 to 1. A document may hold any number.
fn line(name: String, role: Role, points: impl Iterator<Item = [f64; 2]>, view: &View, least: f64) -> Series {
    let rates = points.filter(|point| point.iter().all(|rate| (0.0..=1.0).contains(rate)));
    let placed = rates.filter_map(|point| (view.place)(point, least));
    Series::new(name, role, Draw::Line, thinned(placed, |point| (view.seen)(point, least)))
}

/// The observed curve, and the region up to the curve through both upper bounds.
fn observed(observed: &TradeOffEstimate, view: &View, least: f64) -> Vec<Series> {
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
    let line = line("observed".into(), Role::Found, rates, view, least);
    let band = line.points.iter().filter_map(|point| {
        let [_, z] = (view.place)([point[0], bounded(point[0])], least)?;
        Some([point[0], point[1].min(z), point[1].max(z)])
    });
    let name = format!("{} bounds at each point", confidence(observed.significance));
    vec![Series::new(name, Role::Found, Draw::Band, band), line]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const BOUNDS: [[f64; 2]; 5] = [[0.05, 0.99], [0.3, 0.7], [0.2, 0.6], [0.55, 0.4], [1.0, 0.1]];
    const RATES: [[f64; 2]; 5] = [[0.0, 0.95], [0.2, 0.6], [0.15, 0.5], [0.4, 0.3], [0.9, 0.05]];

    fn curves(significance: f64, refuted: [bool; 2]) -> TradeOff {
        let points = RATES.iter().zip(&BOUNDS).rev().map(|([x, y], [u, v])| {
            json!({"false_positive_rate": x, "false_negative_rate": y, "false_positive_rate_upper_bound": u,
                   "false_negative_rate_upper_bound": v, "threshold": 0.0})
        });
        let promise = |refuted: bool, name: &str| {
            json!({"name": name, "false_positive_rates": [0, 0.5, 1e6], "false_negative_rates": [1, 0.4, 0],
                   "test": {"p_value": 0.5, "refuted": refuted, "threshold": 0.0, "false_positives": 1, "false_negatives": 1,
                            "observations_in": 100, "observations_out": 100}})
        };
        let promised: Vec<Value> = vec![promise(refuted[0], "one"), promise(refuted[1], "two")];
        let observed = json!({"significance": significance, "observations_in": 100, "observations_out": 100,
                              "points": points.collect::<Vec<_>>()});
        serde_json::from_value(json!({"observed": observed, "promised": promised})).unwrap()
    }

    /// Checks the upper edge of the region at each drawn point.
    ///
    /// Go through the points from the left, up to the first whose bound exceeds the rate. The point before it gives the edge. The order of
    /// a document's points does not matter.
    #[test]
    fn the_region_ends_at_the_last_point_within_the_rate() {
        let expected = RATES.map(|[x, y]| {
            let within = BOUNDS.iter().take_while(|bound| bound[0] <= x).last().map_or(1.0, |bound| bound[1]);
            vec![x, y.min(within), y.max(within)]
        });
        assert_eq!(charts(&curves(0.05, [true; 2]))[0].series[0].points, expected);
    }

    #[test]
    fn no_bound_is_said_to_be_certain() {
        for (significance, words) in [(1e-3, "99.9 % bounds"), (1e-9, "99.99 % bounds")] {
            assert!(charts(&curves(significance, [true; 2]))[0].series[0].name.starts_with(words), "{words}");
        }
    }

    #[test]
    fn verdicts_stand_in_the_legend_or_above() {
        let [whole, zoom] = charts(&curves(0.05, [true, false]));
        assert_eq!([&whole.series[2].name, &zoom.series[3].name], ["one: refuted", "two: not refuted"]);
        assert_eq!(whole.series[2].points, [[0.0, 1.0], [0.5, 0.4]], "1e6 is no rate");
        let notes = |refuted| charts_of_one("An audit", &curves(0.05, refuted)).map(|chart| chart.note);
        assert_eq!(notes([true, true]), ["refuted: one; two"; 2]);
        assert_eq!(notes([false, false]), ["no promise refuted"; 2]);
        let [_, zoom] = charts_of_one("An audit", &curves(0.05, [true; 2]));
        assert_eq!(
            [zoom.title.as_str(), &zoom.series[2].name],
            ["An audit: small false-positive rates", "one"]
        );
    }
}
