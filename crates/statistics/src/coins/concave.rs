//! Maximises a mean logarithm over positive weights: sum over rows of w ln(1 + (A x)), x >= 0.
//!
//! # Why an interior point?
//! There are about a thousand variables and a hundred rows. A Newton step costs one factorisation of the size of the rows, and thirty
//! steps are enough. The result needs no certificate: every x with a positive 1 + A x is an admissible bet, and a better one only
//! refutes sooner.

use libm::{log, sqrt};

/// The variables of a problem, column by column; the first is free in sign.
pub(super) struct Problem {
    /// The weight of each row, positive.
    pub weights: Vec<f64>,
    /// The columns of A.
    pub columns: Vec<Vec<f64>>,
}

impl Problem {
    /// Variables with 1 + A x > 0 in all rows that come close to the maximum.
    pub fn solve(&self) -> Vec<f64> {
        const STEPS: usize = 60;
        const LEAST_BARRIER: f64 = 1e-9;
        let variables = self.columns.len();
        let start = 0.1 / variables as f64;
        let mut x: Vec<f64> = (0..variables).map(|i| if i == 0 { 0.0 } else { start }).collect();
        let mut barrier = 1e-3;
        for _ in 0..STEPS {
            let values = self.values(&x);
            let Some(step) = self.newton_step(&x, &values, barrier) else { break };
            let moved = self.values(&step).iter().map(|value| value - 1.0).collect::<Vec<_>>();
            let mut length: f64 = 1.0;
            for (value, change) in values.iter().zip(&moved).chain(x.iter().zip(&step).skip(1)) {
                if *change < 0.0 {
                    length = length.min(-0.95 * value / change);
                }
            }
            let before = self.objective(&x, &values, barrier);
            let mut next;
            loop {
                next = x.iter().zip(&step).map(|(x, change)| x + length * change).collect::<Vec<_>>();
                if self.objective(&next, &self.values(&next), barrier) >= before || length < 1e-8 {
                    break;
                }
                length *= 0.5;
            }
            x = next;
            if length > 0.3 {
                if barrier <= LEAST_BARRIER {
                    break;
                }
                barrier = (0.2 * barrier).max(LEAST_BARRIER);
            }
        }
        x
    }

    /// 1 + A x in each row.
    pub fn values(&self, x: &[f64]) -> Vec<f64> {
        let mut values = vec![1.0; self.weights.len()];
        for (column, &x) in self.columns.iter().zip(x) {
            for (value, entry) in values.iter_mut().zip(column) {
                *value += x * entry;
            }
        }
        values
    }

    fn objective(&self, x: &[f64], values: &[f64], barrier: f64) -> f64 {
        let mean: f64 = self.weights.iter().zip(values).map(|(weight, value)| weight * log(*value)).sum();
        let walls: f64 = x[1..].iter().map(|x| log(*x)).sum();
        let objective = mean + barrier * walls;
        if objective.is_nan() { f64::NEG_INFINITY } else { objective }
    }

    /// (A^T D A + M)^-1 gradient, by the identity of Woodbury: only a matrix of the size of the rows is factorised.
    fn newton_step(&self, x: &[f64], values: &[f64], barrier: f64) -> Option<Vec<f64>> {
        /// Keeps the free variable's step finite. It is small beside the curvature of any row.
        const DAMPING: f64 = 1e-6;
        let rows = values.len();
        let slopes: Vec<f64> =
            self.weights.iter().zip(values).map(|(weight, value)| weight / value).collect();
        let inverse: Vec<f64> =
            x.iter().enumerate().map(|(i, x)| if i == 0 { 1.0 / DAMPING } else { x * x / barrier }).collect();
        let gradient: Vec<f64> = self
            .columns
            .iter()
            .enumerate()
            .map(|(i, column)| dot(column, &slopes) + if i == 0 { 0.0 } else { barrier / x[i] })
            .collect();
        let mut matrix = vec![vec![0.0; rows]; rows];
        let mut right = vec![0.0; rows];
        for ((column, &inverse), gradient) in self.columns.iter().zip(&inverse).zip(&gradient) {
            for (i, entry) in column.iter().enumerate() {
                let scaled = inverse * entry;
                right[i] += scaled * gradient;
                for (cell, other) in matrix[i][..=i].iter_mut().zip(column) {
                    *cell += scaled * other;
                }
            }
        }
        for (i, row) in matrix.iter_mut().enumerate() {
            row[i] += values[i] * values[i] / self.weights[i];
        }
        let solved = solve(matrix, right)?;
        let step = self.columns.iter().zip(&inverse).zip(&gradient);
        Some(step.map(|((column, inverse), gradient)| inverse * (gradient - dot(column, &solved))).collect())
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The solution of a positive definite system by Cholesky's factors; `None` if rounding made it indefinite.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let rows = right.len();
    for i in 0..rows {
        for j in 0..=i {
            let (upper, lower) = matrix.split_at_mut(i);
            let row = &mut lower[0];
            let other = if j < i { &upper[j][..] } else { &[] };
            if j < i {
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            } else {
                let rest = row[i] - dot(&row[..i], &row[..i]);
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                row[i] = sqrt(rest);
            }
        }
    }
    for i in 0..rows {
        right[i] = (right[i] - dot(&matrix[i][..i], &right[..i])) / matrix[i][i];
    }
    for i in (0..rows).rev() {
        right[i] /= matrix[i][i];
        let solved = right[i];
        for (value, factor) in right[..i].iter_mut().zip(&matrix[i]) {
            *value -= factor * solved;
        }
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kelly's bet on a coin with probability 0.7 at even odds stakes 0.4 of everything.
    #[test]
    fn stakes_what_kelly_stakes() {
        let problem = Problem {
            weights: vec![0.7, 0.3],
            columns: vec![vec![0.0, 0.0], vec![1.0, -1.0], vec![-1.0, 1.0]],
        };
        let x = problem.solve();
        assert!((x[1] - x[2] - 0.4).abs() < 1e-4, "{x:?}");
        let free = Problem { weights: vec![0.2, 0.8], columns: vec![vec![1.0, -1.0]] };
        assert!((free.solve()[0] + 0.6).abs() < 1e-6, "{:?}", free.solve());
    }
}
