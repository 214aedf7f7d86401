//! A budget of work, counted in units and not in seconds, so that every machine gives the same answer.
//!
//! Accountants take a [`Work`] and pay for every grid before they compute on it. If the budget is too small, they try a
//! coarser grid, which is still certified. If no grid is affordable, they return [`OutOfReach`]. One unit is about a
//! nanosecond of one core. All parts of a command share one `Work`, so a command ends within about [`COMMAND`]
//! nanoseconds of processor time. Memory is bounded by the longest grid, [`MOST_POINTS`] (about 50 bytes per point).
//!
//! ```
//! use misdeal_theory::work::Work;
//! let work = Work::default();
//! assert!(work.charge(1e6).is_ok() && work.charge(1e12).is_err());
//! assert!(work.spent() <= misdeal_theory::work::COMMAND);
//! ```

use std::cell::Cell;

/// The units of work for one command: about 7 s of processor time.
pub const COMMAND: f64 = 7e9;
/// The most points of a composed law's grid, for one value.
pub const MOST_POINTS: usize = 3 << 22;
/// The most points of a composed law's grid, for a whole curve.
pub const MOST_POINTS_KEPT: usize = 5 << 19;

/// The work that a command, or a part of it, may do and has done.
#[derive(Debug)]
pub struct Work {
    limit: f64,
    spent: Cell<f64>,
}

/// The error if the remaining work is too little for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfReach;

impl Default for Work {
    fn default() -> Self {
        Self::of(COMMAND)
    }
}

impl Work {
    /// A budget of this many units.
    pub fn of(limit: f64) -> Self {
        Self { limit, spent: Cell::new(0.0) }
    }

    /// A budget without limit, for tests and for single laws.
    pub fn unlimited() -> Self {
        Self::of(f64::INFINITY)
    }

    /// The units spent so far.
    pub fn spent(&self) -> f64 {
        self.spent.get()
    }

    /// The units that remain.
    pub fn left(&self) -> f64 {
        self.limit - self.spent()
    }

    /// Spends `units`, if that many remain.
    ///
    /// # Errors
    /// `units` is more than what remains.
    pub fn charge(&self, units: f64) -> Result<(), OutOfReach> {
        if units.is_nan() || units > self.left() {
            return Err(OutOfReach);
        }
        self.spent.set(self.spent() + units);
        Ok(())
    }

    /// Checks that a grid has at most `most` points. A budget without limit allows any number.
    ///
    /// # Errors
    /// The grid has too many points.
    pub(crate) fn check_points(&self, points: f64, most: usize) -> Result<(), OutOfReach> {
        let fits = points <= most as f64 || self.limit == f64::INFINITY;
        if fits { Ok(()) } else { Err(OutOfReach) }
    }

    /// Runs `answer` with a budget of at most `units`, taken from what remains.
    pub fn part<T>(&self, units: f64, answer: impl FnOnce(&Work) -> T) -> T {
        let part = Work::of(units.min(self.left()));
        let found = answer(&part);
        self.spent.set(self.spent() + part.spent());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_spends_what_the_whole_has_and_no_more() {
        let work = Work::of(10.0);
        assert_eq!(work.part(4.0, |part| part.charge(5.0)), Err(OutOfReach));
        assert_eq!(work.part(4.0, |part| part.charge(3.0)), Ok(()));
        assert_eq!(work.part(100.0, |part| part.charge(8.0)), Err(OutOfReach));
        assert!((work.left() - 7.0).abs() < 1e-12 && work.charge(f64::NAN).is_err());
        assert!(Work::unlimited().charge(1e300).is_ok());
    }
}
