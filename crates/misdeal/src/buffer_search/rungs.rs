//! The buffer sizes that may be guessed, and the share of the significance that each has.

use misdeal_core::Result;
use misdeal_statistics::Family;

/// The paper's guesses, in batches.
const PAPER: [u64; 11] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

/// Largest number of sizes beside the paper's. If there are more sizes, this many are chosen, evenly spread.
const MOST_OTHERS: u64 = 4096;

/// All buffer sizes that may be guessed, in batches, ascending, each with its level.
///
/// Half of the significance goes to the paper's guesses and the whole epoch. The other half goes to all other sizes. The shares
/// are fixed before any score is seen, so the bounds of all sizes hold together (Bonferroni). Therefore the largest bound among
/// the sizes tried also holds, however they were picked.
#[derive(Debug, Clone)]
pub struct Rungs {
    batches: Vec<u64>,
    is_grid: Vec<bool>,
    family: Family,
}

impl Rungs {
    /// Returns the sizes for epochs of `steps` batches, with at most `most_others` sizes beside the paper's.
    ///
    /// # Errors
    /// The significance is outside (0, 0.5].
    pub fn new(steps: u64, significance: f64, most_others: u64) -> Result<Self> {
        let is_of_paper = |batches: u64| PAPER.contains(&batches) || batches == steps;
        let others = MOST_OTHERS.min(most_others).min(steps);
        let mut batches: Vec<u64> = (1..=others)
            .map(|rung| (u128::from(rung) * u128::from(steps) / u128::from(others)) as u64)
            .collect();
        batches.extend(PAPER.into_iter().filter(|&batches| batches <= steps).chain([steps]));
        batches.sort_unstable();
        batches.dedup();
        let is_grid: Vec<bool> = batches.iter().map(|&batches| is_of_paper(batches)).collect();
        let grid = is_grid.iter().filter(|&&is_grid| is_grid).count() as f64;
        let rest = batches.len() as f64 - grid;
        let weights: Vec<f64> =
            is_grid.iter().map(|&is_grid| 1.0 / if is_grid { grid } else { rest }).collect();
        Ok(Rungs { family: Family::weighted(significance, &weights)?, batches, is_grid })
    }

    pub fn len(&self) -> usize {
        self.batches.len()
    }

    pub fn batches(&self, rung: usize) -> u64 {
        self.batches[rung]
    }

    pub fn is_grid(&self, rung: usize) -> bool {
        self.is_grid[rung]
    }

    pub fn level(&self, rung: usize) -> f64 {
        self.family.level(rung)
    }

    /// Returns the indices of the paper's guesses.
    pub fn grid(&self) -> Vec<usize> {
        (0..self.len()).filter(|&rung| self.is_grid[rung]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_add_up_and_the_paper_has_half() {
        for (steps, most_others) in
            [(1, 4096), (7, 4096), (100, 4096), (100, 0), (1_000_000, 4096), (1 << 31, 10)]
        {
            let rungs = Rungs::new(steps, 0.05, most_others).unwrap();
            let total: f64 = (0..rungs.len()).map(|rung| rungs.level(rung)).sum();
            assert!((total - 0.05).abs() < 1e-12, "{steps}: {total}");
            let grid: f64 = rungs.grid().iter().map(|&rung| rungs.level(rung)).sum();
            assert!((grid - 0.025).abs() < 1e-12 || rungs.grid().len() == rungs.len(), "{steps}: {grid}");
            assert!(
                rungs.batches.is_sorted() && rungs.batches[0] >= 1 && rungs.batches[rungs.len() - 1] == steps
            );
        }
        let rungs = Rungs::new(100, 0.05, 4096).unwrap();
        assert_eq!(rungs.len(), 100);
        let grid: Vec<u64> = rungs.grid().into_iter().map(|rung| rungs.batches(rung)).collect();
        assert_eq!(grid, PAPER);
    }
}
