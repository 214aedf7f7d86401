//! Runs `misdeal man`.

use crate::arguments::{CommonArguments, EXIT_CODES};
use crate::failure::{Failure, Success};
use crate::output;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use misdeal_core::Error;
use misdeal_files::atomic::write_atomically;
use std::io;
use std::path::Path;

/// Prints the program's manual page, or writes the pages of all commands.
///
/// With `--output`, the pages go into that folder.
pub fn run(common: &CommonArguments) -> Result<Success, Failure> {
    common.check_is_text()?;
    let mut program = crate::help::definition().disable_help_subcommand(true);
    program.build();
    let Some(folder) = &common.output else {
        output::print(common, &page(&program)?)?;
        return Ok(Success::Fine);
    };
    make(folder)?;
    let commands = all(&program);
    let pages = commands.len();
    for command in commands {
        let name = Man::new(command.clone()).get_filename();
        let text = page(command)?;
        write_atomically(&folder.join(name), |sink| sink.write_all(text.as_bytes()))?;
    }
    output::tell_written(common, folder, &format!("{pages} pages"), None);
    Ok(Success::Fine)
}

/// Creates the folder if it does not exist. Its parent folder must exist.
fn make(folder: &Path) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidFilename => {
            let hint = "the pages of all commands are written into it";
            Error::bad_value(
                "output",
                folder.display(),
                "a folder, or a new one in a folder that exists",
                hint,
            )
            .into()
        }
        _ => Failure::run_failed(format!("cannot make {}: {error}", folder.display())),
    })
}

/// Returns a command and all its subcommands.
fn all(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(all)).collect()
}

fn page(command: &Command) -> Result<String, Failure> {
    let source = format!("misdeal {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("misdeal");
    let mut page = Vec::new();
    let written = (|| -> io::Result<()> {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page)?;
        }
        let codes = EXIT_CODES.trim_start_matches("Exit codes: ");
        Roff::new().control("SH", ["EXIT STATUS"]).text([roman(codes)]).to_writer(&mut page)
    })();
    let failed = |error: &dyn std::fmt::Display| Failure::run_failed(format!("cannot write a page: {error}"));
    written.map_err(|error| failed(&error))?;
    String::from_utf8(page).map_err(|error| failed(&error))
}
