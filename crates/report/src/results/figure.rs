//! The figure of a stored result, drawn from its document alone: what the command itself would have drawn.

use super::{
    Account, Audit, Content, Dealt, Diagnosed, Estimate, Estimation, Outputs, Reproduced, Reproduction,
    StoredResult, TradeOff, Unreadable,
};
use crate::{
    DealPanels, DealsFigure, Drawing, Gap, GapFigure, NamedCurve, PositionsFigure, Sweep, SweepFigure,
    TradeOffFigure, record_names,
};
use misdeal_core::estimate::{ScoreHistogram, TradeOffEstimate};
use misdeal_core::{Bounds, TradeOffBounds};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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
    fn draw(&self) -> Drawing {
        let setting = &self.setting;
        let epochs = if setting.epochs == 1 { String::new() } else { format!(", {} epochs", setting.epochs) };
        let title = format!(
            "{}, {}, {} steps an epoch{epochs}, noise multiplier {}",
            setting.scheme, setting.threat_model, setting.steps_per_epoch, setting.noise_multiplier
        );
        if let Some(curves) = &self.trade_off {
            return curves.figure(title, self.score_histogram.as_ref()).draw();
        }
        let theory = self.theory.get(setting.scheme.name()).map_or([None, None], sides);
        let gaps = vec![gap("this audit", &self.estimate, self.claimed_epsilon, theory)];
        GapFigure { title, gaps }.draw()
    }
}

impl Outputs {
    fn draw(&self) -> Drawing {
        let theory = self.theory.get(self.setting.scheme.name()).map_or([None, None], sides);
        let gaps =
            self.estimates.iter().map(|(score, estimate)| gap(score, estimate, self.claimed_epsilon, theory));
        let title = format!("Outputs of training with {}", self.setting.scheme);
        GapFigure { title, gaps: gaps.collect() }.draw()
    }
}

impl Estimation {
    fn draw(&self) -> Drawing {
        if let Some(curves) = &self.trade_off {
            return curves.figure(self.title(), self.score_histogram.as_ref()).draw();
        }
        let one = self.estimate.iter().map(|estimate| (&estimate.estimator, estimate));
        let all = one.chain(&self.estimates);
        let gaps = all.map(|(name, estimate)| gap(name, estimate, self.claimed_epsilon, [None, None]));
        GapFigure { title: self.title(), gaps: gaps.collect() }.draw()
    }
}

impl Account {
    fn draw(&self) -> Drawing {
        let title = format!("{} steps, noise multiplier {}", self.steps, self.noise_multiplier);
        if !self.trade_offs.is_empty() {
            let curves = known_curves(&self.trade_offs);
            return TradeOffFigure { title, scores: None, estimate: None, curves }.draw();
        }
        let gaps = self.schemes.iter().map(|(scheme, bounds)| Gap {
            name: scheme.clone(),
            claimed: self.claimed_epsilon.and_then(placed),
            theory: sides(bounds),
            ..Gap::default()
        });
        GapFigure { title, gaps: gaps.collect() }.draw()
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
        let with_curves = self.rows.iter().rev().filter_map(|row| Some((row, row.trade_off.as_ref()?)));
        if let (1, Some((row, curves))) = (self.artefacts.len(), with_curves.into_iter().next()) {
            return curves.figure(format!("{title} ({})", row.name), None).draw();
        }
        if self.rows.is_empty() {
            DealsFigure { title, deals: self.deals.iter().map(Dealt::panels).collect() }.draw()
        } else if self.rows.iter().all(|row| row.series.is_some()) {
            SweepFigure { title, sweeps: sweeps(&self.rows) }.draw()
        } else {
            GapFigure { title, gaps: self.rows.iter().map(Reproduced::gap).collect() }.draw()
        }
    }
}

impl TradeOff {
    fn figure(&self, title: String, scores: Option<&ScoreHistogram>) -> TradeOffFigure {
        let are_rates = |point: &[f64; 2]| point.iter().all(|rate| (0.0..=1.0).contains(rate));
        let curves = self.promised.iter().map(|promise| NamedCurve {
            name: promise.legend(),
            points: promise.points().filter(are_rates).collect(),
        });
        let mut observed = TradeOffEstimate::from(&self.observed);
        observed.points.retain(|point| are_rates(&[point.false_positive_rate, point.false_negative_rate]));
        TradeOffFigure {
            title,
            scores: scores.cloned(),
            estimate: Some(observed).filter(|observed| !observed.points.is_empty()),
            curves: curves.collect(),
        }
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
            claimed: self.printed_claim.and_then(placed),
            printed: self.printed.and_then(placed),
            found: self.ours.and_then(placed),
            theory: self.theory_of_the_scheme().map_or([None, None], sides),
        }
    }
}

/// Epsilons that axes have room for, beside 0: a document may hold any number, and ticks of an axis without end are never done.
const DRAWN: RangeInclusive<f64> = 1e-9..=1e9;

/// The epsilon, if it has a place on an axis.
fn placed(epsilon: f64) -> Option<f64> {
    (epsilon == 0.0 || DRAWN.contains(&epsilon)).then_some(epsilon)
}

fn sides(bounds: &Bounds) -> [Option<f64>; 2] {
    [bounds.epsilon_lower_bound, bounds.epsilon_upper_bound].map(|side| side.and_then(placed))
}

fn gap(name: &str, estimate: &Estimate, claim: Option<f64>, theory: [Option<f64>; 2]) -> Gap {
    Gap {
        name: name.into(),
        claimed: claim.and_then(placed),
        printed: None,
        found: placed(estimate.empirical_epsilon),
        theory,
    }
}

/// For each scheme the curve that is known to be reached, or else the one that nobody gets below.
fn known_curves(schemes: &BTreeMap<String, TradeOffBounds>) -> Vec<NamedCurve> {
    let known = schemes.iter().filter_map(|(scheme, bounds)| {
        let reached = bounds.false_negative_rate_upper_bounds.as_ref();
        let rates = reached.or(bounds.false_negative_rate_lower_bounds.as_ref())?;
        let points = bounds.false_positive_rates.iter().zip(rates).map(|(&x, &y)| [x, y]);
        Some(NamedCurve { name: scheme.clone(), points: points.collect() })
    });
    known.collect()
}

/// A panel for each setting, with the numbers of observations that it was played with.
fn sweeps(rows: &[Reproduced]) -> Vec<Sweep> {
    let mut sweeps: Vec<Sweep> = Vec::new();
    for row in rows {
        let name = row.series.clone().unwrap_or_default();
        if sweeps.last().is_none_or(|sweep| sweep.name != name) {
            let [lower, upper] = row.theory_of_the_scheme().map_or([None, None], sides);
            let levels = [
                ("claimed", row.poisson_upper_bound().and_then(placed)),
                ("shuffling, at least", lower),
                ("shuffling, at most", upper),
            ];
            let levels =
                levels.into_iter().filter_map(|(name, level)| Some((name.to_owned(), level?))).collect();
            sweeps.push(Sweep { name, found: Vec::new(), levels });
        }
        if let (Some(sweep), Some(ours)) = (sweeps.last_mut(), row.ours.and_then(placed)) {
            sweep.found.push([row.observations as f64, ours]);
        }
    }
    // A quick run plays some numbers of observations more than once.
    for sweep in &mut sweeps {
        sweep.found.dedup();
    }
    sweeps
}
