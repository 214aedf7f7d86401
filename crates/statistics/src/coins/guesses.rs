//! How many canaries are guessed on either side: fixed by theory, before anything is observed.

use super::Modelled;
use std::collections::HashMap;

/// Shares of all coins tried on each side. Finer steps gain less than 0.02 in epsilon.
const TRIED: [f64; 15] =
    [0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.26, 0.35, 0.5];

/// The shares of the coins that are guessed `In` (the highest scores) and `Out` (the lowest).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// The share guessed `In`.
    pub inside: f64,
    /// The share guessed `Out`.
    pub outside: f64,
}

impl Shares {
    /// The shares with the largest expected `value`(guesses, right guesses) of an audit of `coins` coins, and that value.
    ///
    /// All pairs of shares are compared at their expected number of right guesses, and the best of them again on simulated audits. The
    /// result follows from the model alone.
    pub fn best(modelled: &Modelled, coins: u64, value: impl Fn(u64, u64) -> f64) -> (Self, f64) {
        const FINALISTS: usize = 8;
        let audits: Vec<Counts> =
            (0..audits(coins)).map(|number| Counts::of(&modelled.audit(number, coins as usize))).collect();
        let mut known = HashMap::new();
        let mut value = |guesses: u64, right: u64| {
            *known
                .entry((guesses, right))
                .or_insert_with(|| if guesses == 0 { 0.0 } else { value(guesses, right) })
        };
        let pairs =
            TRIED.iter().flat_map(|&inside| TRIED.iter().map(move |&outside| Shares { inside, outside }));
        let mut ranked: Vec<(f64, Shares)> = pairs
            .filter(|shares| shares.guesses(coins).total() > 0)
            .map(|shares| {
                let guesses = shares.guesses(coins);
                let right: u64 = audits.iter().map(|audit| audit.right(guesses)).sum();
                (value(guesses.total(), right / audits.len() as u64), shares)
            })
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut best = (Shares { inside: 0.5, outside: 0.5 }, f64::NEG_INFINITY);
        for &(_, shares) in ranked.iter().take(FINALISTS) {
            let guesses = shares.guesses(coins);
            let sum: f64 = audits.iter().map(|audit| value(guesses.total(), audit.right(guesses))).sum();
            let mean = sum / audits.len() as f64;
            if mean > best.1 {
                best = (shares, mean);
            }
        }
        best
    }

    /// The thresholds at or above which a coin is guessed `In`, and below which `Out`.
    pub fn thresholds(self, modelled: &Modelled) -> [f64; 2] {
        let at = modelled.quantiles(&[self.inside, 1.0 - self.outside]);
        [
            if self.inside > 0.0 { at[0] } else { f64::INFINITY },
            if self.outside > 0.0 { at[1] } else { f64::NEG_INFINITY },
        ]
    }

    /// The numbers of guesses among `coins` coins.
    pub fn guesses(self, coins: u64) -> Guesses {
        let inside = (self.inside * coins as f64).round() as u64;
        Guesses { inside, outside: ((self.outside * coins as f64).round() as u64).min(coins - inside) }
    }
}

/// How many audits are simulated: many small ones, few large ones.
fn audits(coins: u64) -> usize {
    (100_000 / coins.max(1)).clamp(3, 48) as usize
}

/// The numbers of canaries that are guessed: the highest scores `In`, the lowest `Out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guesses {
    /// The number guessed `In`.
    pub inside: u64,
    /// The number guessed `Out`.
    pub outside: u64,
}

impl Guesses {
    /// The number of guesses.
    pub fn total(self) -> u64 {
        self.inside + self.outside
    }

    /// The number of right guesses. Equal scores are ranked by their place, which says nothing of their coins.
    pub fn right(self, scores: &[f64], coins: &[bool]) -> u64 {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]).then(one.cmp(&other)));
        let highest = order.iter().take(self.inside as usize).filter(|&&i| coins[i]).count();
        let lowest = order.iter().rev().take(self.outside as usize).filter(|&&i| !coins[i]).count();
        (highest + lowest) as u64
    }
}

/// The numbers of right guesses at each rank of a simulated audit.
struct Counts {
    /// `In` among the highest i scores.
    inside: Vec<u32>,
    /// `Out` among the lowest i scores.
    outside: Vec<u32>,
}

impl Counts {
    fn of(audit: &[(f64, bool)]) -> Self {
        let counted = |coins: &mut dyn Iterator<Item = bool>| {
            let mut counts = vec![0];
            let mut sum = 0;
            for is_right in coins {
                sum += u32::from(is_right);
                counts.push(sum);
            }
            counts
        };
        Counts {
            inside: counted(&mut audit.iter().map(|&(_, is_in)| is_in)),
            outside: counted(&mut audit.iter().rev().map(|&(_, is_in)| !is_in)),
        }
    }

    fn right(&self, guesses: Guesses) -> u64 {
        u64::from(self.inside[guesses.inside as usize]) + u64::from(self.outside[guesses.outside as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_right_guesses_on_both_sides() {
        let scores = [3.0, 1.0, 2.0, 0.0, 2.0];
        let coins = [true, false, false, true, true];
        let right = |inside, outside| Guesses { inside, outside }.right(&scores, &coins);
        assert_eq!([right(1, 0), right(2, 0), right(3, 0), right(0, 1), right(1, 2)], [1, 1, 2, 0, 2]);
    }

    #[test]
    fn shares_that_see_more_are_chosen() {
        // Only the highest tenth of the scores tells anything.
        let scores = |top: f64| {
            (0..1000).map(move |i| f64::from(i * 7919 % 1000) + if i % 10 == 0 { top } else { 0.0 })
        };
        let modelled = Modelled::new(scores(5000.0).collect(), scores(0.0).collect()).unwrap();
        let (shares, _) =
            Shares::best(&modelled, 2000, |guesses, right| 2.0 * right as f64 - guesses as f64 - 1.0);
        assert!(shares.inside > 0.0 && shares.inside <= 0.5, "{shares:?}");
        let (shares, _) = Shares::best(&modelled, 2000, |guesses, right| right as f64 / guesses as f64);
        assert!(shares.inside <= 0.06 && shares.outside == 0.0, "{shares:?}");
    }
}
