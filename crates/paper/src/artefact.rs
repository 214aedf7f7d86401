//! A table or a figure of the paper, as the file in `paper/` describes it.

use crate::job::Job;
use misdeal::request::ARTEFACTS;
use misdeal_core::{BatchScheme, Error, Result, Setting};
use misdeal_results::Provenance;
use serde::Deserialize;

/// What the paper shows in one place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefact {
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What a reader should know: oddities of the print, and what differs here on purpose.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The numbers, in the order of the print.
    #[serde(default)]
    pub rows: Vec<PaperRow>,
    /// What a drawing shows instead of numbers.
    #[serde(default)]
    pub deals: Vec<DealJob>,
}

/// A small file, dealt into batches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DealJob {
    /// What is dealt, in a few words.
    pub name: String,
    /// Batches in an epoch.
    pub steps_per_epoch: u64,
    /// Records in a batch.
    pub batch_size: u64,
    /// How batches are made.
    pub scheme: String,
    /// Records in a buffer, for schemes that have one.
    pub buffer_size: Option<u64>,
}

impl DealJob {
    /// The setting, with the target first in the file.
    ///
    /// # Errors
    /// A scheme that there is not.
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

/// One number of the paper, and the audit that should give it.
///
/// A row that names no audit, or more than one, is refused when it is read, and so is a field that is not here.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// What is audited, in a few words.
    pub name: String,
    /// Where the setting comes from, in a list of published ones.
    pub provenance: Option<Provenance>,
    /// The empirical epsilon that is printed; none where a figure shows a point without its number.
    pub printed: Option<f64>,
    /// The epsilon that is printed as the claim.
    pub printed_claim: Option<f64>,
    /// How far ours may lie from the print, and still be the same.
    #[serde(default)]
    pub tolerance: f64,
    /// Why that far.
    #[serde(default)]
    pub tolerance_reason: String,
    /// The standard deviation of one run, from kept runs; 0 where none tell it.
    #[serde(default)]
    pub deviation: f64,
    /// What kept runs say of the print, where ours is known to differ from it or to move about it.
    pub difference: Option<String>,
    /// Observations in the paper.
    pub observations: f64,
    /// Observations of a quick run; 0 if it leaves the row out.
    pub quick_observations: f64,
    /// Whether it is played where there is a graphics processor alone: beyond the paper's numbers, and hours of a processor.
    #[serde(default)]
    pub needs_device: bool,
    /// Runs in the paper, which their mean is printed of.
    #[serde(default = "one")]
    pub runs: u64,
    /// The delta at which epsilon is meant.
    #[serde(default = "usual_delta")]
    pub delta: f64,
    /// What the row is one point of, in a figure against the number of observations.
    pub series: Option<String>,
    /// Whether the whole trade-off curve is looked at, and promises about it are tested.
    #[serde(default)]
    pub curves: bool,
    /// What is audited. That nothing else passes beside a flattened field is tested below, for serde does not promise it.
    #[serde(flatten)]
    pub job: Job,
}

fn one() -> u64 {
    1
}

fn usual_delta() -> f64 {
    1e-5
}

/// The tables and figures that have a file, by name.
const FILES: [(&str, &str); 12] = [
    ("figure-1", include_str!("../../../paper/figure-1.toml")),
    ("figure-3", include_str!("../../../paper/figure-3.toml")),
    ("table-1", include_str!("../../../paper/table-1.toml")),
    ("figure-4", include_str!("../../../paper/figure-4.toml")),
    ("figure-5", include_str!("../../../paper/figure-5.toml")),
    ("figure-6", include_str!("../../../paper/figure-6.toml")),
    ("figure-7", include_str!("../../../paper/figure-7.toml")),
    ("figure-8", include_str!("../../../paper/figure-8.toml")),
    ("figure-9", include_str!("../../../paper/figure-9.toml")),
    ("figure-10", include_str!("../../../paper/figure-10.toml")),
    ("figure-11", include_str!("../../../paper/figure-11.toml")),
    ("beyond", include_str!("../../../paper/beyond.toml")),
];

/// The artefact called `name`.
///
/// # Errors
/// There is none.
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
