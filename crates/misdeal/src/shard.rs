//! Parts of a run.

use misdeal_core::{Error, Result};
use std::fmt;
use std::ops::Range;

/// Part `index` of `count` in a run, counted from 1.
///
/// ```
/// use misdeal::Shard;
/// assert_eq!(Shard::parse("2/4")?.trials(1_000), 250..500);
/// # Ok::<(), misdeal::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The whole run as one part.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Returns part `index` of `count`.
    ///
    /// # Errors
    /// The index is not from 1 to `count`.
    pub fn new(index: u64, count: u64) -> Result<Self> {
        if (1..=count).contains(&index) {
            return Ok(Shard { index, count });
        }
        let hint = "2/7 is the second of seven parts";
        Err(Error::bad_value("shard", format!("{index}/{count}"), "I/N with I from 1 to N", hint))
    }

    /// Reads a shard written as `I/N`.
    ///
    /// # Errors
    /// The text has another form, or the index is not from 1 to N.
    pub fn parse(text: &str) -> Result<Self> {
        let numbers =
            text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        let (index, count) = numbers.ok_or_else(|| {
            Error::bad_value("shard", text, "I/N with I from 1 to N", "2/7 is the second of seven parts")
        })?;
        Self::new(index, count)
    }

    /// Returns this part's range of the trials `0 .. trials`. Parts are disjoint, cover all trials, and differ in size by one at
    /// most.
    pub fn trials(self, trials: u64) -> Range<u64> {
        let border = |part: u64| (u128::from(trials) * u128::from(part) / u128::from(self.count)) as u64;
        border(self.index - 1)..border(self.index)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        for (trials, count) in [(10, 1), (10, 3), (2, 7), (5_000_000_000, 7)] {
            let mut next = 0;
            for index in 1..=count {
                let part = Shard::new(index, count).unwrap().trials(trials);
                assert_eq!(part.start, next);
                next = part.end;
            }
            assert_eq!(next, trials);
        }
        for bad in ["0/3", "4/3", "1/0", "1", "a/b", "-1/2", "1/2/3"] {
            assert!(Shard::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Shard::parse("2/3").unwrap(), Shard::new(2, 3).unwrap());
    }
}
