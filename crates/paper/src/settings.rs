//! The published settings: noise, steps and epochs of DP-SGD models in the literature (`paper/published-settings.csv`).

use crate::artefact::{Artefact, PaperRow};
use crate::job::{Job, MechanismJob};
use misdeal_results::Provenance;
use serde::Deserialize;

const FILE: &str = include_str!("../data/published-settings.csv");

/// Approximate number of Gaussian draws in a quick audit of a setting.
const QUICK_DRAWS: f64 = 4e8;

/// A line of the file, without the columns about its source.
#[derive(Deserialize)]
struct Published {
    paper: String,
    dataset: String,
    batch_size: u64,
    sigma: f64,
    steps_per_epoch: u64,
    epochs: u64,
    claimed_epsilon: f64,
    claimed_delta: f64,
    confidence: Provenance,
}

/// All published settings as one table. The paper prints six of them.
///
/// The source of each setting is in its provenance and at the end of its name.
pub fn artefact() -> Artefact {
    let mut lines = csv::Reader::from_reader(FILE.as_bytes());
    let rows = lines.deserialize().map(|line| row(&line.expect("the file is read by a test")));
    Artefact {
        title: "Published settings of DP-SGD models".into(),
        place: "Section 4.3.2; six of them are Table 1".into(),
        remarks: vec![
            "The paper audits 101 settings and prints six; its list is not published, and this is not it: 6 are as \
             printed, 9 come from the public code of the two sources, 69 from an assumed grid."
                .into(),
        ],
        rows: rows.collect(),
        deals: Vec::new(),
    }
}

fn row(published: &Published) -> PaperRow {
    let Published { paper, dataset, sigma, steps_per_epoch, epochs, .. } = published;
    let source = paper.split(" (").next().unwrap_or(paper);
    let sureness = published.confidence.name();
    let quick = (QUICK_DRAWS / (steps_per_epoch * epochs) as f64).clamp(1e4, 1e6);
    PaperRow {
        name: format!("{source}, {dataset}, noise {sigma}, T {steps_per_epoch}, E {epochs} ({sureness})"),
        provenance: Some(published.confidence),
        printed: None,
        printed_claim: Some(published.claimed_epsilon),
        tolerance: 0.0,
        tolerance_reason: String::new(),
        deviation: 0.0,
        difference: None,
        observations: 1e7,
        quick_observations: 2.0 * (quick / 2.0).round(),
        needs_device: false,
        runs: 1,
        delta: published.claimed_delta,
        series: None,
        curves: false,
        job: Job::Mechanism(MechanismJob {
            noise_multiplier: Some(*sigma),
            steps_per_epoch: *steps_per_epoch,
            epochs: *epochs,
            batch_size: published.batch_size,
            ..MechanismJob::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_the_remark_says() {
        let rows = artefact().rows;
        let count = |provenance| rows.iter().filter(|row| row.provenance == Some(provenance)).count();
        let kinds = [Provenance::AsPrinted, Provenance::FromPublicCode, Provenance::Assumed];
        assert_eq!(kinds.map(count), [6, 9, 69]);
        let says_so = |row: &PaperRow| row.name.ends_with(&format!("({})", row.provenance.unwrap().name()));
        assert!(rows.iter().all(says_so));
    }
}
