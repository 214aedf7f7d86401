//! The likelihood ratio against closed forms.

use super::Found;
use misdeal_game::{Shifts, TargetModel, log_likelihood_ratio};
use misdeal_schemes::{PositionLaw, Weights};
use std::ops::Range;

/// The largest difference from a closed form, relative to what is above one.
const TOLERANCE: f64 = 1e-11;

const OUTPUTS: [f64; 6] = [0.3, -1.2, 2.2, 0.9, 1.1, -0.4];

pub(super) fn check(_seed: u64) -> Found {
    let mut compared = 0;
    for s in [0.3, 0.5, 0.8, 1.0, 1.7, 5.0, 25.0] {
        for (name, law, batches, closed) in cases(s) {
            for (present, zeroed) in [(2.0, 1.0), (1.0, 0.0), (200.0, 199.0)] {
                let model = TargetModel { law: law.clone(), shifts: Shifts { present, zeroed } };
                let ours = log_likelihood_ratio(&model, s, &batches, &OUTPUTS);
                let exact = closed(present) - closed(zeroed);
                let error = (ours - exact).abs();
                if error.is_nan() || error > TOLERANCE * exact.abs().max(1.0) {
                    return Err(format!(
                        "{name}, noise {s}, shifts {present} and {zeroed}: {ours}, not {exact}"
                    ));
                }
                compared += 1;
            }
        }
    }
    Ok(format!("{compared} ratios agree with closed forms to {TOLERANCE:e}"))
}

/// ln of the outputs' density relative to noise alone, where the target shifts its batches by so much.
type LogDensity = Box<dyn Fn(f64) -> f64>;

/// Every law of positions, the batches of an epoch, and the density written out.
fn cases(s: f64) -> Vec<(&'static str, PositionLaw, Range<u64>, LogDensity)> {
    let evidence = move |shift: f64, y: f64| (shift * y - 0.5 * shift * shift) / (s * s);
    let log_mean = |terms: Vec<(f64, f64)>| {
        let largest = terms.iter().map(|&(_, x)| x).fold(f64::NEG_INFINITY, f64::max);
        largest + terms.into_iter().map(|(weight, x)| weight * (x - largest).exp()).sum::<f64>().ln()
    };
    let mixture = move |weights: &[f64], y: &[f64], shift: f64| {
        log_mean(weights.iter().zip(y).map(|(&w, &y)| (w, evidence(shift, y))).collect())
    };
    let listed = [0.5, 0.25, 0.125, 0.0625, 0.0625, 0.0];
    let q = 0.2;
    vec![
        // One batch in each epoch, known: a Gaussian ratio.
        (
            "fixed order",
            PositionLaw::OnceAnEpoch(Weights::Uniform(4..5)),
            4..5,
            Box::new(move |shift| OUTPUTS.iter().map(|&y| evidence(shift, y)).sum()),
        ),
        (
            "uniform over three batches, two epochs",
            PositionLaw::OnceAnEpoch(Weights::Uniform(0..3)),
            0..3,
            Box::new(move |shift| {
                OUTPUTS.chunks(3).map(|epoch| mixture(&[1.0 / 3.0; 3], epoch, shift)).sum()
            }),
        ),
        (
            "listed weights",
            PositionLaw::OnceAnEpoch(Weights::Listed { first: 0, weights: listed.to_vec() }),
            0..6,
            Box::new(move |shift| mixture(&listed[..5], &OUTPUTS[..5], shift)),
        ),
        // The same batch in both epochs: products of the epochs' densities inside the mean.
        (
            "kept for all epochs",
            PositionLaw::KeptForAllEpochs(Weights::Uniform(0..3)),
            0..3,
            Box::new(move |shift| {
                let both = |i: usize| evidence(shift, OUTPUTS[i]) + evidence(shift, OUTPUTS[i + 3]);
                log_mean((0..3).map(|i| (1.0 / 3.0, both(i))).collect())
            }),
        ),
        (
            "in each step with probability 0.2",
            PositionLaw::EachStep { probability: q },
            0..6,
            Box::new(move |shift| {
                OUTPUTS.iter().map(|&y| log_mean(vec![(1.0 - q, 0.0), (q, evidence(shift, y))])).sum()
            }),
        ),
    ]
}
