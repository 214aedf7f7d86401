//! Scores of both kinds of runs in one file, with a column that says which run had the target.

use super::comma_separated::{line_of, lines, next, number};
use super::{check_count, check_finite, columnar};
use crate::{Error, Result, input};
use csv::ByteRecord;
use std::io::Read;
use std::path::Path;

/// Reads the scores of runs with the target and of those without it, from a `.csv` file with a header or a `.parquet` file.
///
/// A row is one of a run with the target if its `member_column` is 1, true or yes, and of one without it for 0, false or no, in any
/// case.
///
/// # Errors
/// As [`read`](super::read), a column that is missing, or a row that is neither.
pub fn read_both(path: &Path, member_column: &str, score_column: &str) -> Result<[Vec<f64>; 2]> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    let is_table = match extension.as_deref() {
        Some("csv") => true,
        Some("parquet") => false,
        _ => {
            let problem = "scores of both kinds of runs are read from .csv and .parquet".into();
            return Err(Error::UnknownFormat { path: path.to_owned(), problem });
        }
    };
    let (file, length) = input::open(path)?;
    if length == 0 {
        return Err(Error::malformed(path, "the file is empty", "save the scores again"));
    }
    let names = [member_column, score_column];
    if member_column.eq_ignore_ascii_case(score_column) {
        let problem = format!("{score_column} cannot be both columns");
        return Err(Error::malformed(path, problem, "name one column of scores and one of members"));
    }
    let (members, scores) =
        if is_table { table(path, file, length, names)? } else { columnar::read_both(path, file, names)? };
    let mut worlds = [Vec::new(), Vec::new()];
    for (member, score) in members.into_iter().zip(scores) {
        worlds[usize::from(!member)].push(score);
    }
    for (world, what) in worlds.iter().zip(["with", "without"]) {
        if world.is_empty() {
            let problem = format!("no row is one of a run {what} the target");
            return Err(Error::malformed(path, problem, format!("{member_column} must be 1 and 0")));
        }
    }
    Ok(worlds)
}

/// Whether a cell says that the run had the target; `None` if it says neither.
pub(super) fn flag(cell: &[u8]) -> Option<bool> {
    let is =
        |words: &[&str]| words.iter().any(|word| cell.trim_ascii().eq_ignore_ascii_case(word.as_bytes()));
    if is(&["1", "1.0", "true", "yes"]) {
        Some(true)
    } else if is(&["0", "0.0", "false", "no"]) {
        Some(false)
    } else {
        None
    }
}

pub(super) fn no_column(path: &Path, name: &str, columns: usize) -> Error {
    let problem = format!("none of its {columns} columns is called {name}");
    Error::malformed(path, problem, "name the columns with --member-column and --score-column")
}

pub(super) fn not_flags(path: &Path) -> Error {
    Error::malformed(path, "its members are of another type", "save 1 or 0, true or false, yes or no")
}

fn table(path: &Path, file: impl Read, length: u64, names: [&str; 2]) -> Result<(Vec<bool>, Vec<f64>)> {
    let mut reader = lines(file, length);
    let mut record = ByteRecord::new();
    let (mut members, mut scores) = (Vec::new(), Vec::new());
    if !next(path, &mut reader, &mut record)? {
        return Err(Error::malformed(path, "the file is empty", "save the scores again"));
    }
    let columns = record.len();
    let place = |name: &str| {
        let is_named =
            |cell: &&[u8]| cell.trim_ascii().trim_prefix_bom().eq_ignore_ascii_case(name.trim().as_bytes());
        let mut named = record.iter().enumerate().filter(|(_, cell)| is_named(cell));
        let (place, _) = named.next().ok_or_else(|| no_column(path, name, columns))?;
        if named.next().is_some() {
            let problem = format!("several columns are called {name}");
            return Err(Error::malformed(path, problem, "name only one of them so"));
        }
        Ok(place)
    };
    let [member, score] = [place(names[0])?, place(names[1])?];
    while next(path, &mut reader, &mut record)? {
        let refused = |what: String, hint: &str| {
            Error::malformed(path, format!("line {} {what}", line_of(path, &record)), hint)
        };
        if record.len() != columns {
            let what = format!("has {} columns instead of {columns}", record.len());
            return Err(refused(what, "give every line the same columns"));
        }
        let shown = |cell: &[u8]| String::from_utf8_lossy(cell).chars().take(40).collect::<String>();
        members.push(flag(&record[member]).ok_or_else(|| {
            let what = format!("has {:?} in the column {}", shown(&record[member]), names[0]);
            refused(what, "allowed is 1 or 0, true or false, yes or no")
        })?);
        scores.push(number(record[score].trim_ascii()).ok_or_else(|| {
            let what = format!("has {:?} in the column {}", shown(&record[score]), names[1]);
            refused(what, "allowed is a number")
        })?);
        check_count(path, scores.len() as u64)?;
    }
    check_finite(path, 0, &scores)?;
    Ok((members, scores))
}

/// Bytes that may begin with a byte order mark.
trait Prefixed {
    fn trim_prefix_bom(&self) -> &Self;
}

impl Prefixed for [u8] {
    fn trim_prefix_bom(&self) -> &[u8] {
        self.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<[Vec<f64>; 2]> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lira.csv");
        std::fs::write(&path, text).unwrap();
        read_both(&path, "member", "score")
    }

    #[test]
    fn rows_go_to_the_world_that_they_name() {
        let text = "id, Member ,score\na,1,0.5\nb,False,2\nc,YES,-1\nd,0,4\ne,no,5\nf,true,6\n";
        assert_eq!(read(text).unwrap(), [vec![0.5, -1.0, 6.0], vec![2.0, 4.0, 5.0]]);
    }

    #[test]
    fn what_is_neither_is_refused_with_its_line() {
        for (text, words) in [
            ("member,score\n1,2\nmaybe,3\n", "line 3 has \"maybe\" in the column member"),
            ("member,score\n1,2\n0,x\n", "line 3 has \"x\" in the column score"),
            ("member,score\n1,2\n0\n", "line 3 has 1 columns"),
            ("member,loss\n1,2\n", "none of its 2 columns is called score"),
            ("member,score\n1,2\n", "without the target"),
            ("member,score,score\n1,2,3\n", "several columns"),
            ("", "empty"),
            ("member,score\n1,NaN\n0,1\n", "NaN"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
