//! One printed number beside what was played.

use crate::artefact::PaperRow;
use crate::played::Played;
use crate::{Provenance, Verdict};
use misdeal::{Figures, TradeOffReport, poisson_upper_bound};
use misdeal_core::{Bounds, Setting, ThreatModel};
use serde::Serialize;
use std::collections::BTreeMap;

/// A printed number beside ours.
#[derive(Debug, Clone, Serialize)]
pub struct ReproducedRow {
    /// The table or figure.
    pub artefact: &'static str,
    /// What was audited.
    pub name: String,
    /// Where the setting comes from, in a list of published ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What it is one point of, in a figure against the number of observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The number in the paper; `None` where a figure shows none.
    pub printed: Option<f64>,
    /// Our mean over the runs of the same estimate, the maximum over all thresholds, which is not a valid bound; `None` where
    /// nothing was played.
    pub ours: Option<f64>,
    /// The standard deviation over the runs; `None` for one run.
    pub standard_deviation: Option<f64>,
    /// That estimate of every run, in the order of their seeds: a maximum's law has a long tail, which a mean and a deviation hide.
    pub estimates: Vec<f64>,
    /// The mean over the runs of a bound that holds as stated, from the same scores.
    pub valid_epsilon: Option<f64>,
    /// How far ours may lie from the print.
    pub tolerance: f64,
    /// Why that far.
    pub tolerance_reason: String,
    /// How ours stands to the print; `None` without a printed number.
    pub verdict: Option<Verdict>,
    /// Why ours differs, or was not played, where that is known; where it does not differ, what kept runs say of the print.
    pub reason: Option<String>,
    /// The claim in the paper.
    pub printed_claim: Option<f64>,
    /// What theory says at the same setting, by scheme.
    pub theory: BTreeMap<&'static str, Bounds>,
    /// What was played, in the first run.
    pub setting: Option<Setting>,
    /// The delta of all epsilons.
    pub delta: f64,
    /// Observations of each run.
    pub observations: u64,
    /// Observations in the paper.
    pub printed_observations: u64,
    /// Runs that the mean is over.
    pub runs: u64,
    /// The data that models were trained on; made-up data in the place of others say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// The share of test records classified correctly, in the first run of a training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_accuracy: Option<Figures>,
    /// The natural records' part in the adversary's outputs, in units of the clipping norm, in the first run of a training that has
    /// natural gradients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<Figures>,
    /// The curves of the first run, and what they refute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<TradeOffReport>,
    /// The engine that played.
    pub engine: Option<&'static str>,
    /// Time for all runs.
    pub seconds: f64,
}

impl ReproducedRow {
    /// Theory's bounds for the scheme that was played.
    pub fn theory_of_the_scheme(&self) -> Option<&Bounds> {
        self.theory.get(self.setting.as_ref()?.scheme.name())
    }

    /// What could be claimed were batches drawn by Poisson sampling.
    pub fn poisson_upper_bound(&self) -> Option<f64> {
        poisson_upper_bound(&self.theory)
    }
}

impl PaperRow {
    /// Compares what was played, with this number of observations in each run, with the print.
    pub(crate) fn beside(&self, artefact: &'static str, observations: u64, played: &Played) -> ReproducedRow {
        let first = played.reports.first();
        let training = first.and_then(|report| report.training.as_ref());
        let is_planted = first.is_some_and(|report| report.setting.threat_model == ThreatModel::WorstCase);
        let natural = training.filter(|_| !is_planted);
        let runs = played.reports.len() as u64;
        let estimates = played.estimates();
        let figures = Figures::of(&estimates);
        let ours = figures.map(|ours| ours.mean);
        let standard_deviation = figures.filter(|_| runs > 1).map(|ours| ours.standard_deviation);
        let (tolerance, tolerance_reason) = self.tolerance(runs);
        let verdict = self.verdict(ours, tolerance, observations, played.missing_data.is_some());
        let differs = matches!(verdict, Some(Verdict::Exceeded | Verdict::Differs));
        let known = || self.difference.clone().filter(|_| ours.is_some());
        let difference = || if differs { self.difference(ours, standard_deviation, runs) } else { known() };
        ReproducedRow {
            artefact,
            name: self.name.clone(),
            provenance: self.provenance,
            series: self.series.clone(),
            printed: self.printed,
            ours,
            standard_deviation,
            estimates,
            valid_epsilon: Figures::of(&played.valid_bounds()).map(|valid| valid.mean),
            tolerance,
            tolerance_reason,
            verdict,
            reason: played.missing_data.as_ref().map(ToString::to_string).or_else(difference),
            printed_claim: self.printed_claim,
            theory: first.map(|report| report.theory.clone()).unwrap_or_default(),
            setting: first.map(|report| report.setting.clone()),
            delta: self.delta,
            observations,
            printed_observations: self.observations as u64,
            runs,
            dataset: training.map(|training| training.dataset.clone()),
            test_accuracy: training.and_then(|training| training.test_accuracy),
            bias: natural.and_then(|training| training.bias),
            trade_off: first.and_then(|report| report.trade_off.clone()),
            engine: first.map(|report| report.engine),
            seconds: played.seconds(),
        }
    }

    /// How far the mean over some runs may lie from the print, and why: where they are fewer than the paper's, three standard errors
    /// of ours are added.
    fn tolerance(&self, runs: u64) -> (f64, String) {
        if !(1..self.runs).contains(&runs) || self.deviation == 0.0 {
            return (self.tolerance, self.tolerance_reason.clone());
        }
        let more = 3.0 * self.deviation / (runs as f64).sqrt();
        let runs = if runs == 1 { "one run".into() } else { format!("{runs} runs") };
        let deviations = more / self.deviation;
        let reason = format!(
            "{}; {runs} for the paper's {} add {deviations:.1} of a run's standard deviations",
            self.tolerance_reason, self.runs
        );
        (self.tolerance + more, reason)
    }

    /// How our mean stands to the print, if there is one. What was not played had too few observations, unless data were missing.
    fn verdict(
        &self,
        ours: Option<f64>,
        tolerance: f64,
        observations: u64,
        data_are_missing: bool,
    ) -> Option<Verdict> {
        let as_many_observations = observations >= self.observations as u64;
        let printed = self.printed?;
        Some(match ours {
            Some(ours) => Verdict::of(ours, printed, tolerance, as_many_observations),
            None if data_are_missing => Verdict::NotPlayed,
            None => Verdict::TooFewObservations,
        })
    }

    /// Why our mean over some runs differs from the print, as far as it is known. Where only one run was played, kept runs tell its
    /// deviation.
    fn difference(&self, ours: Option<f64>, deviation: Option<f64>, runs: u64) -> Option<String> {
        let in_words = || {
            let distance = (ours? - self.printed?).abs();
            let deviation =
                [deviation, Some(self.deviation)].into_iter().flatten().find(|&known| known > 0.0)?;
            let of_difference = (1.0 / runs as f64 + 1.0 / self.runs as f64).sqrt();
            Some(in_standard_errors(distance / (deviation * of_difference), self.difference.as_deref()))
        };
        in_words().or_else(|| self.difference.clone())
    }
}

/// How far apart two means are, in words, and what else is known about it.
fn in_standard_errors(errors: f64, known: Option<&str>) -> String {
    let chance = if errors < 2.0 { ", which chance explains" } else { "" };
    let known = known.map_or(String::new(), |known| format!("; {known}"));
    format!("{errors:.1} standard errors from the print, if the paper's runs spread as ours{chance}{known}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;
    use misdeal::Unwatched;
    use misdeal::request::ReproduceRequest;
    use misdeal_core::Device;

    fn trained(threat_model: &str, canary: &str) -> ReproducedRow {
        let row = format!(
            "name = 'one'\nobservations = 8\nquick_observations = 8\n\
             training = {{ dataset = 'synthetic', model = 'mlp', target_epsilon = 4.0, threat_model = '{threat_model}', \
             batch_size = 1000, canary = '{canary}' }}"
        );
        let row: PaperRow = toml::from_str(&row).unwrap();
        let request = ReproduceRequest {
            name: Some("figure-6".into()),
            quick: true,
            device: Device::Cpu,
            ..ReproduceRequest::default()
        };
        let played = row.played(&request, &Part { whole: &Unwatched, done: 0, total: 8 }).unwrap();
        row.beside("figure-6", 8, &played)
    }

    #[test]
    fn trainings_say_what_was_learned_and_how_much_of_an_output_is_other_records() {
        let [random, null_space] =
            ["random", "null-space"].map(|canary| trained("partially-informed", canary));
        assert!(random.test_accuracy.is_some() && null_space.test_accuracy.is_some());
        let spread = |row: ReproducedRow| row.bias.unwrap().standard_deviation;
        let (random, null_space) = (spread(random), spread(null_space));
        assert!(random > 0.01 && null_space < 1e-5, "{random} and {null_space}");
        assert!(trained("worst-case", "random").bias.is_none(), "every gradient is planted");
    }
}
