//! Charts of audits, estimates and accounts: epsilons beside claims, and scores.

use super::epsilons::{self, Row, rows_of_theory, sides};
use super::{histogram, trade_off};
use crate::chart::{Axis, Chart, Draw, Role, Series};
use misdeal_core::ClosedSet;
use misdeal_results::numbers::{confidence, count};
use misdeal_results::{Account, Audit, BufferSearch, Calibration, CheckedCard, Estimation, Outputs};
use misdeal_statistics::{EpsilonEstimate, ThresholdChoice};
use std::collections::BTreeMap;

const BESIDE: &str = "The claim, what was found, and what theory knows. The arrow says that the truth may lie further to the right, never \
                      further to the left but with the stated small probability.";

/// The chart of an audit's epsilons.
pub fn audit(audit: &Audit) -> Chart {
    let found = [found("this audit", &audit.estimate, audit.estimate.raw_epsilon.finite())];
    beside(audit.claimed_epsilon, found, rows_of_theory(&audit.theory))
}

/// The charts of an audit's scores, if they were kept, and of its trade-off curves.
pub fn scores_of_audit(audit: &Audit) -> Vec<Chart> {
    let cells =
        |cells| histogram::chart(cells, "score (log-likelihood ratio)", audit.estimate.threshold.finite());
    let histogram = audit.score_histogram.as_ref().map(cells);
    histogram.into_iter().chain(audit.trade_off.iter().flat_map(trade_off::charts)).collect()
}

/// The chart of epsilons from a user's own training, one row for each score.
pub fn outputs(outputs: &Outputs) -> Chart {
    let found = outputs.estimates.iter().map(|(score, estimate)| found(score.name(), estimate, None));
    beside(outputs.claimed_epsilon, found, rows_of_theory(&outputs.theory))
}

/// The chart of epsilons of one estimator, or of all. Valid ones come first, larger ones before smaller.
pub fn estimation(estimation: &Estimation) -> Chart {
    let one =
        estimation.estimate.iter().map(|one| found(one.estimator.name(), one, one.raw_epsilon.finite()));
    let all = ranked(&estimation.estimates).into_iter().map(|(name, one)| found(name.name(), one, None));
    let chart = beside(estimation.claimed_epsilon, one.chain(all), std::iter::empty());
    if estimation.estimate.is_some() {
        return chart;
    }
    let caption = "What each estimator makes of the same scores; arrows are lower bounds with confidence, for any mechanism.";
    Chart { title: "Estimators side by side".into(), caption: caption.into(), ..chart }
}

/// The charts of an estimation's scores, and of its trade-off curves.
pub fn scores_of_estimation(estimation: &Estimation) -> Vec<Chart> {
    let threshold = estimation.estimate.as_ref().and_then(|estimate| estimate.threshold.finite());
    let histogram = estimation.score_histogram.as_ref();
    let histogram = histogram.map(|cells| histogram::chart(cells, "score", threshold));
    histogram.into_iter().chain(estimation.trade_off.iter().flat_map(trade_off::charts)).collect()
}

/// Estimates in order: valid ones first, then larger before smaller.
pub fn ranked<N: Copy>(estimates: &BTreeMap<N, EpsilonEstimate>) -> Vec<(N, &EpsilonEstimate)> {
    let mut all: Vec<_> = estimates.iter().map(|(&name, one)| (name, one)).collect();
    all.sort_by(|(_, one), (_, other)| {
        other.valid.cmp(&one.valid).then(other.empirical_epsilon.total_cmp(&one.empirical_epsilon))
    });
    all
}

/// The chart of each scheme's bounds.
pub fn account(account: &Account) -> Chart {
    let claim = account.claimed_epsilon;
    let claim = claim.map(|_| Row { claimed: claim, ..Row::named("claimed, as if Poisson") });
    let known = account.schemes.iter().filter(|(_, bounds)| sides(bounds) != [None, None]);
    let schemes = known.map(|(scheme, bounds)| Row { theory: sides(bounds), ..Row::named(scheme.name()) });
    let caption = "Proven bounds on epsilon for each way to make batches. What libraries state is the claim on top, whatever the scheme.";
    epsilons::chart(
        "Epsilon, scheme by scheme",
        caption,
        &claim.into_iter().chain(schemes).collect::<Vec<_>>(),
    )
}

/// The chart of a card's claim, and of what is proven for each scheme.
pub fn card(card: &CheckedCard) -> Chart {
    let claim = card.claimed_epsilon.map(|claim| Row { claimed: Some(claim), ..Row::named("claimed") });
    let schemes = card.schemes.iter().map(|(name, scheme)| {
        let own = if card.setting.scheme == Some(*name) { " (this card)" } else { "" };
        Row { theory: scheme.bounds.sides(), ..Row::named(format!("{}{own}", name.name())) }
    });
    let audit = card
        .audit
        .as_ref()
        .filter(|audit| audit.estimate.valid)
        .map(|audit| Row { valid: Some(*audit.estimate.empirical_epsilon), ..Row::named("audit") });
    let caption = "The claim, and what is proven of this training with each way to make batches.";
    let rows: Vec<Row> = claim.into_iter().chain(schemes).chain(audit).collect();
    epsilons::chart("Claimed and proven epsilon", caption, &rows)
}

/// The chart of several cards: each claim beside what is proven of its training.
pub fn cards(cards: &[CheckedCard]) -> Chart {
    let row = |card: &CheckedCard| Row {
        claimed: card.claimed_epsilon,
        theory: [card.epsilon_lower_bound, card.epsilon_upper_bound],
        ..Row::named(card.name.clone())
    };
    let caption = "The claim of each card, and what is proven of its training.";
    epsilons::chart("Claimed and proven epsilon", caption, &cards.iter().map(row).collect::<Vec<_>>())
}

/// The chart of the target epsilon, and of the bound proven for the noise found.
pub fn calibration(found: &Calibration) -> Chart {
    let theory = found.sides();
    let rows = [
        Row { claimed: Some(found.target_epsilon), ..Row::named("target") },
        Row { theory, ..Row::named(format!("theory, {}", found.scheme.name())) },
    ];
    epsilons::chart("Epsilon: target and bound", "The target, and what is proven with this noise.", &rows)
}

/// The chart of bounds by guessed buffer size. The adversary does not know the buffer.
pub fn guesses(search: &BufferSearch) -> Chart {
    let mut points: Vec<[f64; 2]> =
        search.guesses.iter().map(|guess| [guess.batches as f64, *guess.empirical_epsilon]).collect();
    points.retain(|point| point[1].is_finite());
    points.sort_by(|one, other| one[0].total_cmp(&other[0]));
    let caption = format!("{} The best guess is {} records.", search.meaning, count(search.buffer_size));
    let axes = [Axis::of("batches that the buffer is guessed to fill").logarithmic(), Axis::of_epsilons()];
    let series = vec![Series::new("bound by guess", Role::Found, Draw::Marked, points)];
    Chart::new("Guesses of the buffer", caption, axes, series)
}

/// A chart with separate rows for the claim, for what was found, and for theory.
fn beside(
    claim: Option<f64>,
    found: impl IntoIterator<Item = Row>,
    theory: impl Iterator<Item = Row>,
) -> Chart {
    let claim = claim.map(|_| Row { claimed: claim, ..Row::named("claimed") });
    let rows: Vec<Row> = claim.into_iter().chain(found).chain(theory).collect();
    epsilons::chart("Epsilon: claimed, found, known", BESIDE, &rows)
}

/// The row of an estimate. The names of its marks say how sure each is, or what it rests on.
fn found(name: &str, estimate: &EpsilonEstimate, raw: Option<f64>) -> Row {
    let epsilon = Some(*estimate.empirical_epsilon);
    let how = match estimate.threshold_choice {
        _ if estimate.valid => "without a guarantee".into(),
        _ if estimate.is_conditional() => {
            format!("found here, {} (only under an assumption)", estimate.estimator)
        }
        ThresholdChoice::Max => epsilons::FOUND.into(),
        choice => format!("found here, {}, {} (no guarantee)", estimate.estimator, choice.name()),
    };
    let names = [format!("found here, valid at {}", confidence(estimate.significance)), how];
    let [valid, raw] = if estimate.valid { [epsilon, raw] } else { [None, epsilon] };
    Row { valid, raw, names, ..Row::named(name) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_infinite_guess_is_not_drawn() {
        let guesses = r#"{"buffer_size": 500, "correction": "none", "meaning": "", "guesses": [
            {"buffer_size": 100, "batches": 1, "is_from_the_paper": true, "significance": 0.05, "empirical_epsilon": null,
             "raw_epsilon": null, "threshold": null},
            {"buffer_size": 500, "batches": 5, "is_from_the_paper": true, "significance": 0.05, "empirical_epsilon": 2.5,
             "raw_epsilon": null, "threshold": 1.0}]}"#;
        let chart = super::guesses(&serde_json::from_str(guesses).unwrap());
        assert_eq!(chart.title, "Guesses of the buffer");
        assert!(chart.series.iter().all(|series| series.points == [[5.0, 2.5]]), "{chart:?}");
    }
}
