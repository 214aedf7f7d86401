//! The paper's tables and figures.

use super::{count, device, one_of, path, request};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use misdeal_core::{Device, Precision};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What `reproduce` is asked for.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReproduceRequest {
    /// A table or a figure of the paper, what goes beyond it, or all
    #[arg(required = true, value_name = "NAME", value_parser = artefact())]
    pub name: Option<String>,
    /// Fewer observations, one run: minutes on two cores
    #[arg(long)]
    pub quick: bool,
    /// Runs that means are taken over; as many as the paper's if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub runs: Option<u64>,
    /// Observations of a run at most; as many as the paper's if not given
    #[arg(long, allow_hyphen_values = true, value_parser = count, value_name = "N")]
    pub observations: Option<u64>,
    /// Play only the rows whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// What to compute on; auto takes a CUDA device for long runs, where there is one
    #[arg(long, default_value = "auto", value_parser = device(), value_name = "NAME")]
    pub device: Device,
    /// The arithmetic of trainings on a CUDA device: tf32 is faster with convolutions
    #[arg(long, default_value = "f32", value_parser = one_of::<Precision>(), value_name = "NAME")]
    pub precision: Precision,
    /// The folder that holds data sets; MISDEAL_DATA if not given
    #[arg(long, value_name = "DIR")]
    #[serde(with = "path")]
    #[schemars(with = "Option<String>")]
    pub data: Option<PathBuf>,
    /// Save every audit's scores in this folder, at intervals and at the end
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing, with = "path")]
    #[schemars(with = "Option<String>")]
    pub store: Option<PathBuf>,
    /// Go on from what the folder of --store holds; finished audits are not played again
    #[arg(long, requires = "store")]
    #[serde(skip_serializing)]
    pub resume: bool,
    /// Seed of the first run; the others take those that follow.
    #[arg(skip)]
    pub seed: u64,
}

request!(ReproduceRequest, "reproduce");

/// A table or a figure, however people type it: `figure-3`, `figure3`, `fig-3`, `fig3`.
fn artefact() -> impl TypedValueParser<Value = String> {
    let names = ARTEFACTS.into_iter().chain(["all"]).map(|name| {
        PossibleValue::new(name)
            .aliases(SPELLINGS.iter().filter(|(known, _)| *known == name).map(|(_, typed)| *typed))
    });
    PossibleValuesParser::new(names).map(|typed| {
        let known = SPELLINGS.iter().find(|(_, spelling)| *spelling == typed);
        known.map_or(typed, |(name, _)| (*name).to_owned())
    })
}

/// What people type for a table or a figure, after its name.
const SPELLINGS: &[(&str, &str)] = &[
    ("figure-1", "figure1"),
    ("figure-1", "fig-1"),
    ("figure-1", "fig1"),
    ("figure-3", "figure3"),
    ("figure-3", "fig-3"),
    ("figure-3", "fig3"),
    ("figure-4", "figure4"),
    ("figure-4", "fig-4"),
    ("figure-4", "fig4"),
    ("figure-5", "figure5"),
    ("figure-5", "fig-5"),
    ("figure-5", "fig5"),
    ("figure-6", "figure6"),
    ("figure-6", "fig-6"),
    ("figure-6", "fig6"),
    ("figure-7", "figure7"),
    ("figure-7", "fig-7"),
    ("figure-7", "fig7"),
    ("figure-8", "figure8"),
    ("figure-8", "fig-8"),
    ("figure-8", "fig8"),
    ("figure-9", "figure9"),
    ("figure-9", "fig-9"),
    ("figure-9", "fig9"),
    ("figure-10", "figure10"),
    ("figure-10", "fig-10"),
    ("figure-10", "fig10"),
    ("figure-11", "figure11"),
    ("figure-11", "fig-11"),
    ("figure-11", "fig11"),
    ("table-1", "table1"),
    ("table-1", "tab-1"),
    ("table-1", "tab1"),
];

/// The names of all artefacts, in the order of the paper, and what goes past it.
pub const ARTEFACTS: [&str; 13] = [
    "figure-1",
    "figure-3",
    "table-1",
    "settings",
    "figure-4",
    "figure-5",
    "figure-6",
    "figure-7",
    "figure-8",
    "figure-9",
    "figure-10",
    "figure-11",
    "beyond",
];
