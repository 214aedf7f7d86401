//! One printed number, compared with our results.

use crate::agreement::agreement;
use crate::artefact::PaperRow;
use crate::played::Played;
use misdeal_core::{Spread, ThreatModel};
use misdeal_results::{Agreement, Reproduced};

impl PaperRow {
    /// Compares the results of runs with the print. `observations` is the number in each run.
    pub(crate) fn beside(&self, artefact: &'static str, observations: u64, played: &Played) -> Reproduced {
        let first = played.reports.first();
        let training = first.and_then(|report| report.training.as_ref());
        let is_planted = first.is_some_and(|report| report.setting.threat_model == ThreatModel::WorstCase);
        let natural = training.filter(|_| !is_planted);
        let runs = played.reports.len() as u64;
        let estimates = played.estimates();
        let figures = spread_of(&estimates);
        let ours = figures.map(|ours| ours.mean);
        let standard_deviation = figures.filter(|_| runs > 1).map(|ours| ours.standard_deviation);
        let (tolerance, tolerance_reason) = self.tolerance(runs);
        let verdict = self.verdict(ours, tolerance, observations, played.missing_data.is_some());
        let differs = matches!(verdict, Some(Agreement::Exceeded | Agreement::Differs));
        let known = || self.difference.clone().filter(|_| ours.is_some());
        let difference = || if differs { self.difference(ours, standard_deviation, runs) } else { known() };
        Reproduced {
            artefact: artefact.into(),
            name: self.name.clone(),
            provenance: self.provenance,
            series: self.series.clone(),
            printed: self.printed,
            ours,
            standard_deviation,
            estimates,
            valid_epsilon: spread_of(&played.valid_bounds()).map(|valid| valid.mean),
            tolerance,
            tolerance_reason,
            verdict,
            reason: played.missing_data.as_ref().map(ToString::to_string).or_else(difference),
            printed_claim: self.printed_claim,
            theory: first.map(|report| report.theory.clone()).unwrap_or_default(),
            setting: first.map(|report| report.setting.clone()),
            delta: self.delta,
            observations,
            printed_observations: Some(self.observations as u64),
            runs,
            dataset: training.map(|training| training.dataset.clone()),
            test_accuracy: training.and_then(|training| training.test_accuracy),
            bias: natural.and_then(|training| training.bias),
            trade_off: first.and_then(|report| report.trade_off.clone()),
            engine: first.map(|report| report.engine),
            seconds: played.seconds(),
        }
    }

    /// The allowed difference between our mean and the print, and its reason.
    ///
    /// For fewer runs than in the paper, three standard errors of our mean are added.
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

    /// Whether our mean agrees with the print; `None` if there is no printed number.
    ///
    /// A row without results had too few observations, unless data were missing.
    fn verdict(
        &self,
        ours: Option<f64>,
        tolerance: f64,
        observations: u64,
        data_are_missing: bool,
    ) -> Option<Agreement> {
        let as_many_observations = observations >= self.observations as u64;
        let printed = self.printed?;
        Some(match ours {
            Some(ours) => agreement(ours, printed, tolerance, as_many_observations),
            None if data_are_missing => Agreement::NotPlayed,
            None => Agreement::TooFewObservations,
        })
    }

    /// Why our mean differs from the print, as far as known.
    ///
    /// If there was only one run, the standard deviation comes from earlier runs.
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

/// The distance of two means, as a phrase, with any other known reason.
fn in_standard_errors(errors: f64, known: Option<&str>) -> String {
    let chance = if errors < 2.0 { ", which chance explains" } else { "" };
    let known = known.map_or(String::new(), |known| format!("; {known}"));
    format!("{errors:.1} standard errors from the print, if the paper's runs spread as ours{chance}{known}")
}

/// Mean and standard deviation of some numbers; `None` if there are none.
fn spread_of(values: &[f64]) -> Option<Spread> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    let standard_deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    (!values.is_empty()).then_some(Spread { mean, standard_deviation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;
    use misdeal::Unwatched;
    use misdeal::request::ReproduceRequest;
    use misdeal_core::Device;

    fn trained(threat_model: &str, canary: &str) -> Reproduced {
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
        let spread = |row: Reproduced| row.bias.unwrap().standard_deviation;
        let (random, null_space) = (spread(random), spread(null_space));
        assert!(random > 0.01 && null_space < 1e-5, "{random} and {null_space}");
        assert!(trained("worst-case", "random").bias.is_none(), "every gradient is planted");
    }
}
