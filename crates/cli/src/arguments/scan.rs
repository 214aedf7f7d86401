//! The arguments of `misdeal scan`.

use clap::{Arg, Args};
use misdeal::request::ScanRequest;

#[derive(Debug, Args)]
#[command(mut_arg("paths", paths_unless_about_rules))]
pub struct ScanArguments {
    #[command(flatten)]
    pub request: ScanRequest,
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
