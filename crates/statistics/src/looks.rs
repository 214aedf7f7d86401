//! The looks of a confidence sequence at the data, and the significance that each look spends.
//!
//! # Why no running maximum of the bounds?
//! A look's bound is a function of the counts at that look. So a resumed run gives the same bound as an uninterrupted
//! one. A store of counts does not keep earlier bounds, so their maximum is not known.

/// The trials per world at the first look.
const FIRST: u64 = 500;

/// One decade of the schedule, in units of a twentieth of the first look.
///
/// The entries are rounded powers of the tenth root of ten. So one million and ten million observations are looks.
const DECADE: [u64; 10] = [20, 25, 32, 40, 50, 64, 80, 100, 128, 160];

/// The constant c of [`Look`]. With a larger value the levels decrease more slowly.
const PATIENCE: f64 = 20.0;

/// One look of a confidence sequence.
///
/// Looks are after 500, 625, 800, ... trials per world (1,000, 1,250, 1,600, ... observations).
///
/// # Formal guarantees
/// - The schedule is fixed in advance. Look j = 0, 1, ... spends the share c/((j+c)(j+c+1)) of the significance, with
///   c = 20. The shares of all looks together are exactly 1. So the bounds of all looks hold together with confidence
///   1 - significance, whenever and for whatever reason the run stops.
/// - Between looks the last bound remains in force. A look's bound depends only on the scores of its trials. So a
///   resumed run continues to the next look without any effect on the bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Look {
    index: u32,
}

impl Look {
    /// All looks in order.
    pub fn all() -> impl Iterator<Item = Look> {
        (0..130).map(|index| Look { index })
    }

    /// The last look within `trials` trials per world, if there is one.
    pub fn last_within(trials: u64) -> Option<Look> {
        Self::all().take_while(|look| look.trials() <= trials).last()
    }

    /// The trials per world at this look.
    pub fn trials(self) -> u64 {
        let (decade, place) = (self.index / 10, self.index % 10);
        FIRST / DECADE[0] * DECADE[place as usize] * 10_u64.pow(decade)
    }

    /// The share of the significance that this look spends.
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
