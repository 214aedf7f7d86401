//! Which rules and files are used: from the command line, `misdeal.toml` or `pyproject.toml`.

use crate::error::Error;
use crate::rules::{self, RULES, Rule};
use globset::{Glob, GlobSet, GlobSetBuilder};
use misdeal_results::request::ScanRequest;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Compiled patterns take some kilobytes each: so many bytes of them take some hundred megabytes at most.
const MOST_PATTERN_BYTES: usize = 20_000;

/// The `[scan]` table of `misdeal.toml`, or `[tool.misdeal.scan]` of `pyproject.toml`.
///
/// ```
/// use misdeal_scan::Settings;
///
/// let settings = Settings::from_toml("[scan]\nignore = [\"training-not-shuffled\"]\nassume-private = true").unwrap();
/// assert!(settings.assume_private && settings.select.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// The rules that are checked; all rules if empty.
    pub select: Vec<String>,
    /// The rules that are not checked.
    pub ignore: Vec<String>,
    /// Patterns of paths that are excluded, relative to the folder of the settings (or the current folder).
    ///
    /// A name without a slash matches at any depth.
    pub exclude: Vec<String>,
    /// Whether all modules count as private training, whatever they import.
    pub assume_private: bool,
    /// The folder that `exclude` is relative to.
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Deserialize)]
struct Ours {
    #[serde(default)]
    scan: Option<Settings>,
}

#[derive(Deserialize)]
struct Project {
    tool: Option<Tools>,
}

#[derive(Deserialize)]
struct Tools {
    misdeal: Option<Ours>,
}

impl Settings {
    /// The settings of a request: those of its settings file or of the nearest one, changed by the request.
    ///
    /// # Errors
    /// As for [`from_file`](Self::from_file).
    pub fn of(request: &ScanRequest) -> Result<Self, Error> {
        let mut settings = match (&request.config, request.paths.first()) {
            (Some(file), _) => Self::from_file(file)?.unwrap_or_default(),
            (None, Some(path)) => Self::nearest(path)?,
            (None, None) => Self::default(),
        };
        if !request.select.is_empty() {
            settings.select.clone_from(&request.select);
        }
        settings.ignore.extend_from_slice(&request.ignore);
        settings.exclude.extend_from_slice(&request.exclude);
        settings.assume_private |= request.assume_private;
        Ok(settings)
    }

    /// Parses the settings in the text of a `misdeal.toml`.
    ///
    /// # Errors
    /// The text is not valid; the error says what is wrong, and where.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        Ok(toml::from_str::<Ours>(text)?.scan.unwrap_or_default())
    }

    /// Reads the settings of a file; `None` if it has none.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or contains an unknown name.
    pub fn from_file(path: &Path) -> Result<Option<Self>, Error> {
        let bad = |reason: String| Error::BadSettings { path: path.to_owned(), reason };
        let text = misdeal_files::text::read(path).map_err(|error| bad(error.reason()))?;
        let one_line = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            bad(format!("line {line}: {}", error.message().lines().collect::<Vec<_>>().join(" ")))
        };
        let settings = if path.file_name().is_some_and(|name| name == "pyproject.toml") {
            let project: Project = toml::from_str(&text).map_err(one_line)?;
            project.tool.and_then(|tools| tools.misdeal).and_then(|ours| ours.scan)
        } else {
            toml::from_str::<Ours>(&text).map_err(one_line)?.scan
        };
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(settings.map(|settings| Settings { folder, ..settings }))
    }

    /// Finds the settings nearest to a path: in its folder or in a folder above.
    ///
    /// # Errors
    /// As for [`Settings::from_file`].
    pub fn nearest(path: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        for folder in absolute.ancestors().filter(|folder| folder.is_dir()) {
            for name in ["misdeal.toml", "pyproject.toml"] {
                let file = folder.join(name);
                if file.is_file()
                    && let Some(settings) = Settings::from_file(&file)?
                {
                    return Ok(settings);
                }
            }
        }
        Ok(Settings::default())
    }

    /// The rules that are switched on.
    pub(crate) fn rules(&self) -> Result<Vec<&'static Rule>, Error> {
        for (field, names) in [("select", &self.select), ("ignore", &self.ignore)] {
            if let Some(name) = names.iter().find(|name| rules::by_name(name).is_none()) {
                return Err(Error::NoSuchRule { field, name: name.clone() });
            }
        }
        let is_on = |rule: &&Rule| {
            let name = rule.name.to_owned();
            (self.select.is_empty() || self.select.contains(&name)) && !self.ignore.contains(&name)
        };
        Ok(RULES.iter().filter(is_on).collect())
    }

    /// The patterns of excluded paths.
    pub(crate) fn excluded(&self) -> Result<GlobSet, Error> {
        let bytes: usize = self.exclude.iter().map(String::len).sum();
        if bytes > MOST_PATTERN_BYTES {
            return Err(Error::TooManyPatterns {
                patterns: self.exclude.len(),
                bytes,
                most: MOST_PATTERN_BYTES,
            });
        }
        let mut patterns = GlobSetBuilder::new();
        for pattern in &self.exclude {
            let bad = |error: globset::Error| Error::BadPattern {
                pattern: pattern.clone(),
                reason: error.kind().to_string(),
            };
            let name = pattern.trim_end_matches('/');
            // As in `.gitignore`: a name alone matches at any depth, and a folder matches everything in it.
            let anywhere = if name.contains('/') { "" } else { "**/" };
            for ending in ["", "/**"] {
                patterns.add(Glob::new(&format!("{anywhere}{name}{ending}")).map_err(bad)?);
            }
        }
        patterns.build().map_err(|error| Error::BadPattern {
            pattern: self.exclude.join(", "),
            reason: error.kind().to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_beyond_a_gigabyte_are_refused() {
        let excluding = |count: usize| Settings { exclude: vec!["a*".into(); count], ..Settings::default() };
        assert!(excluding(100).excluded().is_ok());
        let message = excluding(100_000).excluded().unwrap_err().to_string();
        assert!(message.contains("100000 patterns have 200000 bytes"), "{message}");
    }
}
