//! Charts of the paper's numbers beside ours: curves, sweeps or rows, as the paper draws them.

use super::epsilons::{self, FOUND, Row, VALID, sides};
use super::trade_off;
use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_core::SchemeName;
use misdeal_results::Reproduced;
use misdeal_results::numbers::count;

const ROWS: &str = "For each setting the claim, what the paper prints, what was found here by the same estimate (without a guarantee) and as \
                    a valid bound, and theory; means, where there are several runs.";
const SWEEP: &str = "Epsilon against the number of observations, beside what theory knows.";

/// Both trade-off charts of each row that has curves. A single audit shows its verdicts in the legend.
pub fn curves(rows: &[&Reproduced]) -> Vec<[Chart; 2]> {
    let with_curves = rows.iter().filter_map(|row| Some((row, row.trade_off.as_ref()?)));
    let name = |row: &Reproduced| match row.printed_observations {
        Some(printed) if printed != row.observations => {
            format!("{} ({} played)", row.name, count(row.observations))
        }
        _ => row.name.clone(),
    };
    let all: Vec<_> = with_curves.collect();
    match all[..] {
        [(_, curves)] => vec![trade_off::charts(curves)],
        _ => all.into_iter().map(|(row, curves)| trade_off::charts_of_one(&name(row), curves)).collect(),
    }
}

/// A chart for each setting that was run with growing numbers of observations. Empty if some row has no such setting.
pub fn sweeps(rows: &[&Reproduced]) -> Vec<Chart> {
    if rows.iter().any(|row| row.series.is_none()) {
        return Vec::new();
    }
    let settings = rows.chunk_by(|one, next| one.series == next.series);
    settings.map(sweep).filter(|chart| !chart.series.is_empty()).collect()
}

/// The chart of one setting. The levels of theory and of the claim extend as far as the marks do.
fn sweep(rows: &[&Reproduced]) -> Chart {
    let at = |value: fn(&Reproduced) -> Option<f64>| -> Vec<[f64; 2]> {
        // A logarithmic axis has no place for 0, which somebody else's document may name.
        let played = rows.iter().filter(|row| row.observations > 0);
        let mut points: Vec<_> =
            played.filter_map(|row| Some([row.observations as f64, value(row)?])).collect();
        points.dedup();
        points
    };
    let [found, valid] = [at(|row| row.ours), at(|row| row.valid_epsilon)];
    let printed = rows.iter().filter_map(|row| Some([row.printed_observations? as f64, row.printed?]));
    let printed: Vec<[f64; 2]> = printed.filter(|[observations, _]| *observations > 0.0).collect();
    let marks = || found.iter().chain(&printed).map(|point| point[0]);
    let ends = [marks().fold(f64::INFINITY, f64::min), marks().fold(0.0, f64::max)];
    let name = rows.first().and_then(|row| row.series.clone()).unwrap_or_default();
    let axes = [Axis::of("observations").logarithmic(), Axis::of_epsilons()];
    if ends[0] > ends[1] {
        return Chart::new(name, SWEEP, axes, Vec::new());
    }
    let [lower, upper] = rows.first().map_or([None, None], |row| known(row));
    let claim = rows.first().and_then(|row| row.poisson_upper_bound());
    let level = |name: &str, role: Role, level: Option<f64>| {
        let ends = level.map(|level| ends.map(|x| [x, level]));
        Series::new(name, role, Draw::Line, ends.into_iter().flatten())
    };
    let band = lower.zip(upper).map(|(lower, upper)| ends.map(|x| [x, lower, upper]));
    let spread = rows.iter().filter_map(|row| {
        let (x, middle, deviation) = (row.observations as f64, row.ours?, row.standard_deviation?);
        Some([x, middle - deviation, x, middle + deviation])
    });
    let series = vec![
        Series::new("between theory's bounds", Role::Theory, Draw::Band, band.into_iter().flatten()),
        level("theory, at least", Role::Theory, lower),
        level("theory, at most", Role::Theory, upper),
        level("claimed", Role::Claimed, claim),
        Series::new("± standard deviation", Role::Raw, Draw::Strokes, spread),
        Series::new(FOUND, Role::Raw, Draw::Marked, found),
        Series::new(VALID, Role::Found, Draw::Marked, valid),
        Series::new("printed in the paper", Role::Other, Draw::Marks, printed),
    ];
    Chart::new(name, SWEEP, axes, series)
}

/// A chart with a row for each setting; `name` returns the row's name.
pub fn rows(title: &str, rows: &[&Reproduced], name: impl Fn(&Reproduced) -> String) -> Chart {
    let row = |row: &&Reproduced| Row {
        claimed: row.printed_claim.or_else(|| row.poisson_upper_bound()),
        printed: row.printed,
        raw: row.ours,
        deviation: row.standard_deviation,
        valid: row.valid_epsilon,
        theory: known(row),
        ..Row::named(name(row))
    };
    epsilons::chart(title, ROWS, &rows.iter().map(row).collect::<Vec<_>>())
}

/// Theory's lower and upper bound for the row's scheme, even if it was not run.
fn known(row: &Reproduced) -> [Option<f64>; 2] {
    let others = || row.theory.iter().find(|(scheme, _)| **scheme != SchemeName::Poisson);
    let bounds = row.theory_of_the_scheme().or_else(|| others().map(|(_, bounds)| bounds));
    bounds.map_or([None, None], sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(played: u64, of_the_paper: u64, printed: Option<f64>) -> Reproduced {
        let document = serde_json::json!({
            "artefact": "figure-3", "name": "one", "series": "T 100", "ours": 2.0, "printed": printed, "observations": played,
            "printed_observations": of_the_paper, "delta": 1e-5, "runs": 1, "standard_deviation": 0.1,
            "theory": { "poisson": { "epsilon_lower_bound": 6.47, "epsilon_upper_bound": 6.49, "method": "FFT" } }
        });
        serde_json::from_value(document).unwrap()
    }

    #[test]
    fn printed_numbers_stand_at_the_papers_observations() {
        let rows = [row(100_000, 100_000, None), row(1_000_000, 1_000_000_000, Some(8.96))];
        let chart = sweeps(&rows.iter().collect::<Vec<_>>()).remove(0);
        let points = |name: &str| &chart.series.iter().find(|series| series.name == name).unwrap().points;
        assert_eq!(points("printed in the paper"), &[[1e9, 8.96]]);
        assert_eq!(points("claimed"), &[[1e5, 6.49], [1e9, 6.49]], "levels reach as far as the marks");
    }

    #[test]
    fn settings_without_a_place_on_the_axis_have_no_chart() {
        assert_eq!(sweeps(&[&row(0, 0, Some(1.0))]), []);
        let other = Reproduced { series: None, ..row(10, 10, None) };
        assert_eq!(sweeps(&[&row(10, 10, None), &other]), []);
        assert_eq!(sweeps(&[&row(10, 10, None), &row(10, 10, None)]).len(), 1);
    }
}
