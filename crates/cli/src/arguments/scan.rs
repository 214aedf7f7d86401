//! The arguments of `misdeal scan`.

use clap::{Arg, Args};
use misdeal::request::ScanRequest;

#[derive(Debug, Args)]
#[command(mut_arg("paths", paths_unless_about_rules))]
pub struct ScanArguments {
    #[command(flatten)]
    pub request: ScanRequest,
    /// Change the files where a fix is certain, and print the other findings
    #[arg(long, conflicts_with_all = ["diff", "add_ignores", "survey"])]
    pub fix: bool,
    /// Print what --fix would change (or --add-ignores, with it), and change nothing
    #[arg(long, conflicts_with = "survey")]
    pub diff: bool,
    /// Silence all findings by comments, to start with a clean baseline
    #[arg(long, conflicts_with = "survey")]
    pub add_ignores: bool,
    /// Print all rules and stop
    #[arg(long)]
    pub list_rules: bool,
    /// Print what there is to say about a rule and stop
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
}

/// What is asked about rules needs no sources.
fn paths_unless_about_rules(paths: Arg) -> Arg {
    paths.required(false).required_unless_present_any(["list_rules", "explain"])
}
