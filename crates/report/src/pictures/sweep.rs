//! Charts of claimed against proven epsilon over a range of one or two fields.

use super::judged;
use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_core::{ClosedSet, SchemeName};
use misdeal_results::{CheckedCard, Swept, VariedField};

/// Numbers that differ by more than this factor get a logarithmic axis.
const WIDE: f64 = 20.0;
/// The most charts of a sweep over two fields.
const MOST_CHARTS: usize = 6;

/// The charts of a sweep.
///
/// One field gives one chart. Two fields give a chart for each value of the first, with the second along its axis.
///
/// A field with names instead of numbers becomes rows.
pub fn charts(swept: &Swept) -> Vec<Chart> {
    let cards: Vec<&CheckedCard> = swept.cards.iter().collect();
    match swept.varied.as_slice() {
        [one] => vec![over(one, &cards, String::new(), swept.claims_poisson)],
        [first, second] if !second.values.is_empty() => {
            let rows = cards.chunks(second.values.len()).zip(first.labels());
            let chart = |(cards, label): (&[&CheckedCard], String)| {
                let note = format!("{} {label}", first.field.replace('_', " "));
                over(second, cards, note, swept.claims_poisson)
            };
            rows.take(MOST_CHARTS).map(chart).collect()
        }
        _ => Vec::new(),
    }
}

fn over(field: &VariedField, cards: &[&CheckedCard], note: String, claims_poisson: bool) -> Chart {
    let name = field.field.replace('_', " ");
    let Some(numbers) = field.numbers() else {
        let named = cards.iter().zip(field.labels());
        let named: Vec<CheckedCard> =
            named.map(|(card, name)| CheckedCard { name, ..(*card).clone() }).collect();
        return Chart { note, ..judged::cards(&named) };
    };
    let points = |epsilon: &dyn Fn(&CheckedCard) -> Option<f64>| -> Vec<[f64; 2]> {
        numbers.iter().zip(cards).filter_map(|(&x, card)| Some([x, epsilon(card)?])).collect()
    };
    let upper =
        |scheme| move |card: &CheckedCard| card.scheme(scheme).and_then(|one| one.bounds.epsilon_upper_bound);
    // A card that does not state its scheme shows shuffling, beside Poisson sampling.
    let sides = |card: &CheckedCard| {
        let scheme = card.setting.scheme.unwrap_or(SchemeName::Shuffle);
        card.scheme(scheme).map_or([None, None], |one| one.bounds.sides())
    };
    let own = cards.first().and_then(|card| card.setting.scheme).unwrap_or(SchemeName::Shuffle).name();
    let band = numbers.iter().zip(cards).filter_map(|(&x, card)| match sides(card) {
        [Some(lower), Some(upper)] => Some([x, lower, upper]),
        _ => None,
    });
    let bins = points(&upper(SchemeName::BallsInBins));
    let mut series = vec![
        Series::new(format!("{own}: the truth lies within"), Role::Theory, Draw::Band, band),
        Series::new(format!("{own}, at least"), Role::Theory, Draw::Marked, points(&|card| sides(card)[0])),
        Series::new("claimed", Role::Claimed, Draw::Marked, points(&|card| card.claimed_epsilon)),
        Series::new("balls-in-bins, at most", Role::Fifth, Draw::Line, bins),
    ];
    if !claims_poisson {
        let poisson = points(&upper(SchemeName::Poisson));
        series.push(Series::new("poisson, at most", Role::Other, Draw::Line, poisson));
    }
    let epsilons =
        series.iter().flat_map(|series| series.points.iter().flat_map(|point| point[1..].to_vec()));
    let y = axis("epsilon", epsilons);
    let caption = "The claim, and what is proven of the training, at each point.";
    let axes = [axis(&name, numbers.iter().copied()), y];
    Chart { note, ..Chart::new("Claimed and proven epsilon", caption, axes, series) }
}

/// An axis for these numbers. It is logarithmic if they differ a lot.
fn axis(label: &str, numbers: impl Iterator<Item = f64>) -> Axis {
    let (least, most) =
        numbers.fold((f64::INFINITY, 0.0_f64), |(least, most), x| (least.min(x), most.max(x)));
    let axis = Axis::of(label);
    if least > 0.0 && most / least > WIDE { axis.logarithmic() } else { axis }
}
