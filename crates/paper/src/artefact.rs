//! A table or figure of the paper, as described by its file in `paper/`.

use crate::job::Job;
use misdeal::request::ARTEFACTS;
use misdeal_core::{BatchScheme, Error, Result, Setting};
use misdeal_results::Provenance;
use serde::Deserialize;

/// A table or figure of the paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    /// The title.
    pub title: String,
    /// The place in the paper.
    pub place: String,
    /// Remarks for readers: oddities of the print, and deliberate differences here.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The numbers, in the order of the paper.
    #[serde(default)]
    pub rows: Vec<PaperRow>,
    /// Batch layouts, for figures that show these instead of numbers.
    #[serde(default)]
    pub deals: Vec<DealJob>,
}

/// A small file whose records are assigned to batches, as in a figure.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealJob {
    /// A short name.
    pub name: String,
    /// Number of batches in an epoch.
    pub steps_per_epoch: u64,
    /// Number of records in a batch.
    pub batch_size: u64,
    /// The name of the batch scheme.
    pub scheme: String,
    /// Buffer size in records, for schemes that have a buffer.
    pub buffer_size: Option<u64>,
}

impl DealJob {
    /// The setting, with the target first in the file.
    ///
    /// # Errors
    /// The scheme does not exist.
    pub fn setting(&self, seed: u64) -> Result<Setting> {
        Ok(Setting {
            steps_per_epoch: self.steps_per_epoch,
            batch_size: self.batch_size,
            scheme: BatchScheme::from_name(&self.scheme, self.buffer_size)?,
            seed,
            ..Setting::default()
        })
    }
}

/// One number of the paper, and the audit that should reproduce it.
///
/// Reading refuses a row with no audit, several audits, or an unknown field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// A short name of what is audited.
    pub name: String,
    /// The source of the setting, for published settings.
    pub provenance: Option<Provenance>,
    /// The printed empirical epsilon; `None` if a figure shows a point without its number.
    pub printed: Option<f64>,
    /// The epsilon that is printed as the claim.
    pub printed_claim: Option<f64>,
    /// Largest difference from the print that still counts as agreement.
    #[serde(default)]
    pub tolerance: f64,
    /// The reason for this tolerance.
    #[serde(default)]
    pub tolerance_reason: String,
    /// Standard deviation of one run, from earlier runs; 0 if unknown.
    #[serde(default)]
    pub deviation: f64,
    /// A remark from earlier runs, if our number is known to differ from the print or to vary around it.
    pub difference: Option<String>,
    /// Number of observations in the paper.
    pub observations: f64,
    /// Number of observations in a quick run; 0 leaves the row out.
    pub quick_observations: f64,
    /// Whether the row needs a GPU, because it goes beyond the paper's numbers and would take hours on a CPU.
    #[serde(default)]
    pub needs_device: bool,
    /// Number of runs in the paper, which prints their mean.
    #[serde(default = "one")]
    pub runs: u64,
    /// The delta that belongs to the epsilon.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// The series of the row, in a figure of epsilon against the number of observations.
    pub series: Option<String>,
    /// Whether the whole trade-off curve is estimated and claims about it are tested.
    #[serde(default)]
    pub curves: bool,
    /// The audit. A test below checks that unknown fields are refused, because serde does not promise it for a flattened field.
    #[serde(flatten)]
    pub job: Job,
}

fn one() -> u64 {
    1
}

fn usual_delta() -> f64 {
    1e-5
}

/// The tables and figures that have a file, with their names.
const FILES: [(&str, &str); 12] = [
    ("figure-1", include_str!("../data/figure-1.toml")),
    ("figure-3", include_str!("../data/figure-3.toml")),
    ("table-1", include_str!("../data/table-1.toml")),
    ("figure-4", include_str!("../data/figure-4.toml")),
    ("figure-5", include_str!("../data/figure-5.toml")),
    ("figure-6", include_str!("../data/figure-6.toml")),
    ("figure-7", include_str!("../data/figure-7.toml")),
    ("figure-8", include_str!("../data/figure-8.toml")),
    ("figure-9", include_str!("../data/figure-9.toml")),
    ("figure-10", include_str!("../data/figure-10.toml")),
    ("figure-11", include_str!("../data/figure-11.toml")),
    ("beyond", include_str!("../data/beyond.toml")),
];

/// The table or figure called `name`.
///
/// # Errors
/// There is no such table or figure.
pub fn artefact(name: &str) -> Result<Artefact> {
    if name == "settings" {
        return Ok(crate::settings::artefact());
    }
    let file = FILES.iter().find(|(other, _)| *other == name);
    let (_, text) = file.ok_or_else(|| {
        let allowed = format!("one of {}, all", ARTEFACTS.join(", "));
        Error::bad_value("name", name, allowed, "the tables and figures are those of the paper")
    })?;
    Ok(toml::from_str(text).expect("the files of the paper are read by a test"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_says_what_to_audit() {
        for name in ARTEFACTS {
            let artefact = artefact(name).unwrap();
            assert!(artefact.rows.is_empty() != artefact.deals.is_empty(), "{name}");
            for job in &artefact.deals {
                job.setting(0).unwrap().validated().unwrap();
            }
            for row in &artefact.rows {
                match &row.job {
                    Job::Mechanism(job) => {
                        assert!(
                            job.noise_multiplier.is_some() != job.target_epsilon.is_some(),
                            "{name}: {}",
                            row.name
                        );
                        job.setting(0).unwrap().validated().unwrap();
                    }
                    Job::Training(job) => {
                        job.setting(0).unwrap();
                    }
                }
                assert!(row.quick_observations <= row.observations, "{name}: {}", row.name);
                if row.printed.is_some() {
                    assert!(row.tolerance > 0.0 && !row.tolerance_reason.is_empty(), "{name}: {}", row.name);
                }
            }
        }
        assert!(artefact("figure-2").is_err());
    }

    #[test]
    fn a_row_has_one_audit_and_no_other_field() {
        let read = |lines: &str| {
            let row = format!("name = 'one'\nobservations = 1e6\nquick_observations = 0\n{lines}");
            toml::from_str::<PaperRow>(&row).map_err(|error| error.to_string())
        };
        let mechanism = "mechanism = { target_epsilon = 1.0 }\n";
        let training =
            "training = { dataset = 'd', model = 'm', target_epsilon = 1.0, threat_model = 't' }\n";
        assert!(matches!(read(mechanism).unwrap().job, Job::Mechanism(_)));
        assert!(matches!(read(training).unwrap().job, Job::Training(_)));
        for (lines, word) in [
            (String::new(), "Job"),
            (mechanism.to_owned() + training, "training"),
            (mechanism.to_owned() + "sigma = 1.0\n", "sigma"),
            ("mechanism = { sigma = 1.0 }\n".to_owned(), "sigma"),
            (mechanism.to_owned() + "provenance = 'likely'\n", "likely"),
        ] {
            let error = read(&lines).unwrap_err();
            assert!(error.contains(word), "{lines}: {error}");
        }
    }
}
