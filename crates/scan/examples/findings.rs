//! Scans what is named on the command line, with every module taken for private training, and prints what is found.

use misdeal_scan::{Settings, render, scan};
use std::path::PathBuf;

fn main() -> Result<(), misdeal_scan::Error> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let report = scan(&paths, &Settings { assume_private: true, ..Settings::default() })?;
    print!("{}", render::text(&report));
    Ok(())
}
