//! When a confidence sequence looks at the data, and what each look may cost.
//!
//! # Why no running maximum of the bounds?
//! The bound of a look is a function of the counts at that look, so a resumed run gives the same bound as an
//! uninterrupted one. A store of counts does not remember earlier bounds, so it could not tell their maximum.

/// The first look, in trials of either world.
const FIRST: u64 = 500;

/// One decade of the schedule, in units of the first look: rounded powers of the tenth root of ten, so that a million or ten million
/// observations are looks.
const DECADE: [u64; 10] = [20, 25, 32, 40, 50, 64, 80, 100, 128, 160];

/// How slowly the levels fall.
const PATIENCE: f64 = 20.0;

/// One look of a confidence sequence: after 500, 625, 800, ... trials of either world (1,000, 1,250, 1,600, ...
/// observations).
///
/// # Formal guarantees
/// - The schedule is fixed in advance and look j spends the share c/((j+c)(j+c+1)) of the significance, c = 20, j = 0, 1, ...: the
///   shares of all looks together are exactly 1. The bounds of all looks hold together with confidence 1 - significance, whenever and
///   for whatever reason the run is stopped.
/// - Between looks the last bound stands. A look's bound depends on the scores of its trials alone, so that an interrupted run goes on
///   to the next look as if nothing had happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    index: u32,
}

impl Look {
    /// All looks in order.
    pub fn all() -> impl Iterator<Item = Look> {
        (0..130).map(|index| Look { index })
    }

    /// The last look that `trials` trials of either world allow.
    pub fn last_within(trials: u64) -> Option<Look> {
        Self::all().take_while(|look| look.trials() <= trials).last()
    }

    /// The trials of either world that it takes.
    pub fn trials(self) -> u64 {
        let (decade, place) = (self.index / 10, self.index % 10);
        FIRST / DECADE[0] * DECADE[place as usize] * 10_u64.pow(decade)
    }

    /// The share of the significance that it spends.
    pub fn share(self) -> f64 {
        let j = f64::from(self.index) + PATIENCE;
        PATIENCE / (j * (j + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_grows_by_a_quarter_and_spends_no_more_than_there_is() {
        let trials: Vec<_> = Look::all().map(Look::trials).collect();
        assert_eq!(trials[..12], [500, 625, 800, 1000, 1250, 1600, 2000, 2500, 3200, 4000, 5000, 6250]);
        assert!(trials.windows(2).all(|pair| (1.2..1.3).contains(&(pair[1] as f64 / pair[0] as f64))));
        assert!(*trials.last().unwrap() > 1 << 50);
        let spent: f64 = Look::all().map(Look::share).sum();
        assert!(spent < 1.0 && spent > 0.85, "{spent}");
        assert_eq!(Look::last_within(499), None);
        assert_eq!(Look::last_within(5_000_000).unwrap().trials(), 5_000_000);
        assert_eq!(Look::last_within(999).unwrap().trials(), 800);
    }
}
