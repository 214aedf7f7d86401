//! Directions in which a sample of gradients is smallest, for losses without an exact null space.

use crate::data::Examples;
use crate::initial::initial_parameters;
use crate::model::Model;
use crate::reference::Network;
use misdeal_core::{Purpose, Stream, World};

/// Number of records in the sample.
const SAMPLE: u64 = 128;

/// Orthonormal directions among the last layer's biases, smallest second moment first.
///
/// The moments are measured on a sample of clipped gradients, at the initial parameters of trial `u64::MAX`. No audit reaches that
/// trial. The sample shows where natural gradients are small before the first step. Later gradients may be larger. That weakens an
/// audit but never makes it wrong.
pub(super) fn directions(
    model: &Model,
    examples: &Examples,
    records: usize,
    clip_norm: f64,
    stream: &Stream,
) -> Vec<Vec<f64>> {
    let biases = model.last_weights().biases();
    let classes = biases.len();
    let network = Network::new(model);
    let parameters: Vec<f64> =
        initial_parameters(model, stream, World::Out, u64::MAX).into_iter().map(f64::from).collect();
    let mut moments = vec![vec![0.0; classes]; classes];
    for draw in 0..SAMPLE {
        let bits = stream.block(Stream::long_counter(Purpose::Canary, World::Out, 0, draw)) as u64;
        let record = ((u128::from(bits) * records as u128) >> 64) as usize;
        let mut gradient =
            network.gradient(&parameters, examples.record(record), examples.labels[record].into());
        crate::reference::clip(&mut gradient, clip_norm);
        let biases = &gradient[biases.clone()];
        for (row, a) in moments.iter_mut().zip(biases) {
            row.iter_mut().zip(biases).for_each(|(moment, b)| *moment += a * b);
        }
    }
    eigenvectors(moments)
}

/// The orthonormal eigenvectors of a symmetric matrix, smallest eigenvalue first, by Jacobi's rotations.
fn eigenvectors(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> =
        (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let total: f64 = matrix.iter().flatten().map(|x| x * x).sum();
    for _ in 0..50 {
        let off: f64 =
            (0..size).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| matrix[i][j].powi(2)).sum();
        if off <= 1e-28 * total {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut matrix, &mut vectors, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_by(|&a, &b| matrix[a][a].total_cmp(&matrix[b][b]));
    order.into_iter().map(|i| vectors[i].clone()).collect()
}

/// Rotates so that entry (p, q) becomes zero; row i of `vectors` becomes eigenvector i.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    if matrix[p][q] == 0.0 {
        return;
    }
    let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (t * t + 1.0).sqrt();
    let sine = t * cosine;
    for row in matrix.iter_mut() {
        (row[p], row[q]) = (cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]);
    }
    for rows in [matrix, vectors] {
        for i in 0..rows[p].len() {
            let (a, b) = (rows[p][i], rows[q][i]);
            (rows[p][i], rows[q][i]) = (cosine * a - sine * b, sine * a + cosine * b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_are_orthonormal_and_in_order() {
        let matrix = vec![vec![4.0, 1.0, -2.0], vec![1.0, 3.0, 0.5], vec![-2.0, 0.5, 5.0]];
        let vectors = eigenvectors(matrix.clone());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut last = f64::NEG_INFINITY;
        for (i, vector) in vectors.iter().enumerate() {
            let image: Vec<f64> = matrix.iter().map(|row| dot(row, vector)).collect();
            let value = dot(&image, vector);
            assert!(value > last);
            last = value;
            for (x, y) in image.iter().zip(vector) {
                assert!((x - value * y).abs() < 1e-12);
            }
            for (j, other) in vectors.iter().enumerate() {
                assert!((dot(vector, other) - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
