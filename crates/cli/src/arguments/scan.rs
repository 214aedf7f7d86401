//! The arguments of `misdeal scan`.

use super::EXIT_CODES;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct ScanArguments {
    /// Python files, notebooks, or folders of them
    #[arg(required_unless_present_any = ["list_rules", "explain"], value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Count pipelines that shuffle first against those that batch first, instead of finding mistakes
    #[arg(long)]
    pub survey: bool,
    /// The rules that speak, separated by commas; all if not given
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    pub select: Vec<String>,
    /// Rules that do not speak, beside those of the settings
    #[arg(long, value_delimiter = ',', value_name = "RULE")]
    pub ignore: Vec<String>,
    /// Patterns of paths to leave out, beside those of the settings
    #[arg(long, value_delimiter = ',', value_name = "PATTERN")]
    pub exclude: Vec<String>,
    /// Take every module for private training, whatever it imports
    #[arg(long)]
    pub assume_private: bool,
    /// Settings to use instead of the nearest misdeal.toml or pyproject.toml
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print all rules and stop
    #[arg(long)]
    pub list_rules: bool,
    /// Print what there is to say about a rule and stop
    #[arg(long, value_name = "RULE")]
    pub explain: Option<String>,
}
