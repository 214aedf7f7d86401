//! `misdeal completions`.

use crate::arguments::{CommonArguments, CompletionsArguments};
use crate::failure::{Failure, Success};
use crate::output;

/// Prints the script that completes commands, flags and their values in a shell.
pub fn run(arguments: &CompletionsArguments, common: &CommonArguments) -> Result<Success, Failure> {
    common.check_is_text()?;
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::help::definition(), "misdeal", &mut script);
    let script = String::from_utf8(script)
        .map_err(|error| Failure::run_failed(format!("the script is not text: {error}")))?;
    output::deliver_text(common, &script, None)?;
    Ok(Success::Fine)
}
