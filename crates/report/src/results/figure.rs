//! The figure that belongs to a result, made of its document alone: the same when a command has just written it and years later.

use super::{
    Account, Audit, Content, Dealt, Diagnosed, Estimate, Estimation, Outputs, Reproduced, Reproduction,
    StoredResult, TradeOff, Unreadable,
};
use crate::{
    DealPanels, DealsFigure, Drawing, Found, FoundNames, Gap, GapFigure, NamedCurve, PositionsFigure, Scores,
    Sweep, SweepFigure, TradeOffFigure, TradeOffRow, record_names,
};
use misdeal_core::{BatchScheme, Bounds, TradeOffBounds};
use misdeal_results::numbers::{confidence, count, significant};
use misdeal_statistics::{ScoreHistogram, TradeOffEstimate};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Audits whose curves are drawn beside each other, at most.
const MOST_BESIDE: usize = 4;

impl StoredResult {
    /// Draws the result.
    ///
    /// Audits and estimates become their trade-off curves and scores, and where no curves are stored epsilons beside the claim; diagnoses
    /// become the places of records, reproductions what the paper draws, and accounts their schemes' curves or else bounds. An epsilon that
    /// no axis has room for is left out.
    ///
    /// # Errors
    /// A result with nothing to draw.
    pub fn draw(&self) -> Result<Drawing, Unreadable> {
        let undrawable = |problem: &str, hint| Unreadable {
            name: self.name.clone(),
            problem: format!("its {} {problem}", self.command),
            hint,
        };
        match &self.content {
            Content::Audit(audit) => Ok(audit.draw()),
            Content::Outputs(outputs) => Ok(outputs.draw()),
            Content::Estimation(found) => Ok(found.draw()),
            Content::Account(account) => Ok(account.draw()),
            Content::Diagnosed(found) => found.draw().ok_or_else(|| {
                let problem = "does not say where records were dealt, so that there is nothing to draw";
                undrawable(problem, "diagnose the log again with this version")
            }),
            Content::Reproduction(found) => Ok(found.draw()),
            Content::Calibration(_) => {
                let problem = "found one number, which has no figure";
                Err(undrawable(problem, "give a name that ends in .html for its page"))
            }
        }
    }
}

impl Audit {
    /// What was audited, on one line.
    fn title(&self) -> String {
        let setting = &self.setting;
        let epochs = if setting.epochs == 1 { String::new() } else { format!(", {} epochs", setting.epochs) };
        format!(
            "{}, {}, {} steps an epoch{epochs}, noise multiplier {}",
            setting.scheme,
            setting.threat_model,
            setting.steps_per_epoch,
            significant(setting.noise_multiplier)
        )
    }

    fn draw(&self) -> Drawing {
        let scores = self.score_histogram.as_ref().map(|histogram| Scores {
            histogram: histogram.clone(),
            name: "score (log-likelihood ratio)",
            threshold: self.estimate.threshold,
        });
        let title = self.title();
        if let Some(curves) = &self.trade_off {
            return TradeOffFigure { title, rows: vec![curves.row(String::new(), scores)] }.draw();
        }
        let theory = self.theory.get(self.setting.scheme.name()).map_or([None, None], sides);
        let gaps = vec![gap("this audit", &self.estimate, self.claimed_epsilon, theory)];
        GapFigure { title, remark: None, gaps }.draw()
    }
}

impl Outputs {
    fn draw(&self) -> Drawing {
        let theory = self.theory.get(self.setting.scheme.name()).map_or([None, None], sides);
        let gaps =
            self.estimates.iter().map(|(score, estimate)| gap(score, estimate, self.claimed_epsilon, theory));
        let title = format!("Outputs of training with {}", self.setting.scheme);
        GapFigure { title, remark: None, gaps: gaps.collect() }.draw()
    }
}

impl Estimation {
    fn draw(&self) -> Drawing {
        if let Some(curves) = &self.trade_off {
            let threshold = self.estimate.as_ref().and_then(|estimate| estimate.threshold);
            let of_histogram = |histogram: &ScoreHistogram| Scores {
                histogram: histogram.clone(),
                name: "score",
                threshold,
            };
            let scores = self.score_histogram.as_ref().map(of_histogram);
            let rows = vec![curves.row(String::new(), scores)];
            return TradeOffFigure { title: self.title(), rows }.draw();
        }
        let one = self.estimate.iter().map(|estimate| (&estimate.estimator, estimate));
        let all = one.chain(&self.estimates);
        let gaps = all.map(|(name, estimate)| gap(name, estimate, self.claimed_epsilon, [None, None]));
        GapFigure { title: self.title(), remark: None, gaps: gaps.collect() }.draw()
    }
}

impl Account {
    fn draw(&self) -> Drawing {
        let title = format!("{} steps, noise multiplier {}", self.steps, significant(self.noise_multiplier));
        if !self.trade_offs.is_empty() {
            let row = TradeOffRow { curves: known_curves(&self.trade_offs), ..TradeOffRow::default() };
            return TradeOffFigure { title, rows: vec![row] }.draw();
        }
        let gaps = self.schemes.iter().map(|(scheme, bounds)| Gap {
            name: scheme.clone(),
            claimed: self.claimed_epsilon.and_then(placed),
            theory: sides(bounds),
            ..Gap::default()
        });
        GapFigure { title, remark: None, gaps: gaps.collect() }.draw()
    }
}

impl Diagnosed {
    fn draw(&self) -> Option<Drawing> {
        let name = self.log.rsplit(['/', '\\']).next().unwrap_or(&self.log);
        let buffer = self.parameters.buffer_size.map_or(String::new(), |size| format!(" (buffer of {size})"));
        let doubt = if self.certain { "" } else { ", not certain" };
        let title = format!("{name}: {}{buffer}{doubt}", self.scheme);
        Some(PositionsFigure { title, positions: self.positions.clone()? }.draw())
    }
}

impl Reproduction {
    /// Curves where there are any, lines where settings were played with more and more observations, records where they were only
    /// dealt, and else marks.
    fn draw(&self) -> Drawing {
        let title = match &self.artefacts[..] {
            [one] => format!("{}: {}", one.place, one.title),
            _ => "The paper beside misdeal".into(),
        };
        let curves = if self.artefacts.len() == 1 { curves(&self.rows) } else { Vec::new() };
        let Effort { runs, all } = Effort::of(&self.rows);
        let sweeps = sweeps(&self.rows);
        if !curves.is_empty() {
            TradeOffFigure { title, rows: curves }.draw()
        } else if self.rows.is_empty() {
            DealsFigure { title, deals: self.deals.iter().map(Dealt::panels).collect() }.draw()
        } else if self.rows.iter().all(|row| row.series.is_some()) && !sweeps.is_empty() {
            SweepFigure { title, remark: runs, sweeps }.draw()
        } else {
            let gaps = self.rows.iter().map(|row| match &self.artefacts[..] {
                [_] => row.gap(),
                _ => Gap { name: format!("{}, {}", row.artefact, row.name), ..row.gap() },
            });
            GapFigure { title, remark: all, gaps: gaps.collect() }.draw()
        }
    }
}

/// The audits that have curves; where they are too many, trainings before mechanisms.
fn curves(rows: &[Reproduced]) -> Vec<TradeOffRow> {
    let mut shown: Vec<(&Reproduced, &TradeOff)> =
        rows.iter().filter_map(|row| Some((row, row.trade_off.as_ref()?))).collect();
    if shown.len() > MOST_BESIDE {
        shown.sort_by_key(|(row, _)| row.dataset.is_none());
        shown.truncate(MOST_BESIDE);
    }
    let name = |row: &Reproduced| match row.printed_observations {
        Some(printed) if printed != row.observations => {
            format!("{} ({} played)", row.name, count(row.observations))
        }
        _ => row.name.clone(),
    };
    shown.into_iter().map(|(row, curves)| curves.row(name(row), None)).collect()
}

/// What was played, in words.
struct Effort {
    /// Runs; none where nothing was played.
    runs: Option<String>,
    /// Observations and runs.
    all: Option<String>,
}

impl Effort {
    fn of(rows: &[Reproduced]) -> Self {
        let range = |number: fn(&Reproduced) -> u64, one: &str, many: &str| {
            let played = || rows.iter().filter(|row| row.ours.is_some()).map(number);
            let (least, most) = (played().min()?, played().max()?);
            let words = if most == 1 { one } else { many };
            let numbers =
                if least == most { count(most) } else { format!("{} to {}", count(least), count(most)) };
            Some(format!("{numbers} {words}"))
        };
        let deviations = if rows.iter().any(|row| row.standard_deviation.is_some()) {
            ", whiskers: standard deviation"
        } else {
            ""
        };
        let runs = range(|row| row.runs, "run", "runs").map(|runs| format!("{runs} each{deviations}"));
        let observations = range(|row| row.observations, "observation", "observations");
        let all =
            observations.zip(runs.as_ref()).map(|(observations, runs)| format!("{observations}, {runs}"));
        Effort { runs, all }
    }
}

/// Whether a point lies on the axes of both errors: a document may hold any number.
fn are_rates(point: &[f64; 2]) -> bool {
    point.iter().all(|rate| (0.0..=1.0).contains(rate))
}

impl TradeOff {
    fn row(&self, name: String, scores: Option<Scores>) -> TradeOffRow {
        let curves = self.promised.iter().map(|promise| NamedCurve {
            name: promise.name.clone(),
            refuted: promise.test.as_ref().map(|test| test.refuted),
            points: promise.points().filter(are_rates).collect(),
        });
        let mut observed = TradeOffEstimate::from(&self.observed);
        observed.points.retain(|point| are_rates(&[point.false_positive_rate, point.false_negative_rate]));
        let estimate = Some(observed).filter(|observed| !observed.points.is_empty());
        TradeOffRow { name, scores, estimate, curves: curves.collect() }
    }
}

impl Dealt {
    fn panels(&self) -> DealPanels {
        DealPanels {
            name: self.name.clone(),
            target: self.setting.target_index,
            records: record_names(self.company_shares.len(), self.setting.target_index),
            buffer_size: self.setting.scheme.buffer_size(),
            batch_size: self.setting.batch_size,
            epochs: self.shown_epochs.clone(),
            target_shares: self.target_shares.clone(),
            company_shares: self.company_shares.clone(),
        }
    }
}

impl Reproduced {
    fn gap(&self) -> Gap {
        Gap {
            name: self.name.clone(),
            claimed: self.printed_claim.or_else(|| self.poisson_upper_bound()).and_then(placed),
            printed: self.printed.and_then(placed),
            found: self.ours.and_then(placed),
            standard_deviation: self.standard_deviation.and_then(placed),
            valid_epsilon: self.valid_epsilon.and_then(placed),
            theory: self.known(),
            ..Gap::default()
        }
    }

    /// What theory says at least and at most of the scheme that was played, or would have been.
    fn known(&self) -> [Option<f64>; 2] {
        let others = || self.theory.iter().find(|(scheme, _)| *scheme != BatchScheme::Poisson.name());
        let bounds = self.theory_of_the_scheme().or_else(|| others().map(|(_, bounds)| bounds));
        bounds.map_or([None, None], sides)
    }
}

/// Epsilons that axes have room for, beside 0: a document may hold any number, and ticks of an axis without end are never done.
const DRAWN: RangeInclusive<f64> = 1e-9..=1e9;

/// The epsilon, if it has a place on an axis.
fn placed(epsilon: f64) -> Option<f64> {
    (epsilon == 0.0 || DRAWN.contains(&epsilon)).then_some(epsilon)
}

/// The number of observations, if it has a place on a logarithmic axis.
fn counted(observations: u64) -> Option<f64> {
    (1..=1 << 53).contains(&observations).then_some(observations as f64)
}

fn sides(bounds: &Bounds) -> [Option<f64>; 2] {
    [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound].map(|side| side.and_then(placed))
}

fn gap(name: &str, estimate: &Estimate, claim: Option<f64>, theory: [Option<f64>; 2]) -> Gap {
    Gap {
        name: name.into(),
        claimed: claim.and_then(placed),
        found: placed(estimate.empirical_epsilon).filter(|_| !estimate.valid),
        valid_epsilon: placed(estimate.empirical_epsilon).filter(|_| estimate.valid),
        names: estimate.names(),
        theory,
        ..Gap::default()
    }
}

impl Estimate {
    /// What the number is called beside others: how sure it is, or else what it rests on.
    fn names(&self) -> FoundNames {
        let how = match self.threshold_choice.as_str() {
            _ if self.is_conditional() => format!("{} (only under an assumption)", self.estimator),
            "max" => "maximum over thresholds (no guarantee)".into(),
            choice => format!("{}, {choice} (no guarantee)", self.estimator),
        };
        let valid = format!("found here, valid at {}", confidence(self.significance));
        FoundNames { found: format!("found here, {how}").into(), valid: valid.into() }
    }
}

/// For each scheme the curve that is known to be reached, or else the one that nobody gets below.
fn known_curves(schemes: &BTreeMap<String, TradeOffBounds>) -> Vec<NamedCurve> {
    let known = schemes.iter().filter_map(|(scheme, bounds)| {
        let reached = bounds.false_negative_rate_upper_bounds.as_ref();
        let rates = reached.or(bounds.false_negative_rate_lower_bounds.as_ref())?;
        let points = bounds.false_positive_rates.iter().zip(rates).map(|(&x, &y)| [x, y]);
        Some(NamedCurve { name: scheme.clone(), refuted: None, points: points.filter(are_rates).collect() })
    });
    known.collect()
}

/// A panel for each setting, with the numbers of observations that it was played with.
fn sweeps(rows: &[Reproduced]) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for row in rows {
        let name = row.series.clone().unwrap_or_default();
        if sweeps.last().is_none_or(|sweep| sweep.name != name) {
            let claimed = row.poisson_upper_bound().and_then(placed);
            sweeps.push(Sweep { name, claimed, theory: row.known(), ..Sweep::default() });
        }
        if let Some(sweep) = sweeps.last_mut() {
            let found = row.ours.and_then(placed).zip(counted(row.observations));
            sweep.found.extend(found.map(|(epsilon, observations)| Found {
                observations,
                epsilon,
                standard_deviation: row.standard_deviation.and_then(placed),
                valid_epsilon: row.valid_epsilon.and_then(placed),
            }));
            let printed = row.printed.and_then(placed).zip(row.printed_observations.and_then(counted));
            sweep.printed.extend(printed.map(|(epsilon, observations)| [observations, epsilon]));
        }
    }
    // A panel without a point has no axes.
    sweeps.retain(|sweep| !sweep.found.is_empty() || !sweep.printed.is_empty());
    // A quick run plays some numbers of observations more than once.
    for sweep in &mut sweeps {
        sweep.found.dedup();
    }
    sweeps
}
