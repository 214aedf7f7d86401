//! Scores that theory expects, from which an audit is planned before anything is observed.

use misdeal_core::{Error, Result, check_finite};

/// Independent scores of the modelled mechanism, in random order: `In` and `Out`.
#[derive(Debug, Clone)]
pub struct Modelled {
    /// Scores with the canary present.
    pub scores_in: Vec<f64>,
    /// Scores with it zeroed out.
    pub scores_out: Vec<f64>,
}

impl Modelled {
    /// The scores of a simulation.
    ///
    /// # Errors
    /// Fewer than 100 scores in a world, or one that is not finite.
    pub fn new(scores_in: Vec<f64>, scores_out: Vec<f64>) -> Result<Self> {
        for (name, scores) in [("scores_in", &scores_in), ("scores_out", &scores_out)] {
            check_finite(name, 0, scores)?;
            if scores.len() < 100 {
                let hint = "simulate more scores";
                return Err(Error::bad_value(name, scores.len(), "at least 100 scores", hint));
            }
        }
        Ok(Modelled { scores_in, scores_out })
    }

    /// The `number`-th audit of `coins` coins, with half of them `In`: scores and coins, by descending score.
    pub(crate) fn audit(&self, number: usize, coins: usize) -> Vec<(f64, bool)> {
        let half = coins / 2 + coins % 2 * (number % 2);
        let slice = |scores: &[f64], take: usize, is_in: bool| -> Vec<(f64, bool)> {
            let from = number * take;
            (from..from + take).map(|i| (scores[i % scores.len()], is_in)).collect()
        };
        let mut all = slice(&self.scores_in, half, true);
        all.extend(slice(&self.scores_out, coins - half, false));
        all.sort_by(|one, other| other.0.total_cmp(&one.0));
        all
    }

    /// The scores that shares of all coins lie above, in descending order of the shares.
    pub(crate) fn quantiles(&self, above: &[f64]) -> Vec<f64> {
        let mut all: Vec<f64> = self.scores_in.iter().chain(&self.scores_out).copied().collect();
        all.sort_by(f64::total_cmp);
        let at = |share: f64| all[(((1.0 - share) * all.len() as f64) as usize).min(all.len() - 1)];
        above.iter().map(|&share| at(share)).collect()
    }
}
