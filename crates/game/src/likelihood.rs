//! The likelihood ratio for every threat model, in f64 and in log space. Fast code is compared with it.

use crate::target_model::TargetModel;
use libm::{exp, log, log1p};
use misdeal_schemes::{PositionLaw, Weights};
use std::ops::Range;

/// The logarithm of the ratio of the outputs' densities, with the target present and zeroed out, under `model`.
///
/// `outputs[e * n + i]` is the recentred output of batch `batches.start + i` in epoch `e`, with n the length of
/// `batches`. The model must give no weight to other batches. Let w_t be the probability that the target is in batch t,
/// a and b its shifts, and s the noise multiplier. The ratio depends on the position law:
///
/// - The position is drawn again each epoch: sum over epochs of LSE_t(ln w_t + (a y_t - a^2/2)/s^2) - LSE_t(ln w_t + (b
///   y_t - b^2/2)/s^2).
/// - The position is kept for all epochs: the same expression once, with the sums over epochs inside the LSE.
/// - The target is in each step with probability q: sum over steps of ln(1 - q + q e^((a y - a^2/2)/s^2)) - ln(1 - q +
///   q e^((b y - b^2/2)/s^2)).
///
/// # Range and accuracy
/// Nothing overflows or underflows for noise from 0.01 to 10,000 and shifts up to 2,000. There, single exponents reach
/// 4e10, although exponentials leave f64's range beyond 700. The error comes from rounding these exponents: it is
/// within 1e-15 of the sum of their sizes, in either direction (`tests/likelihood_domain.rs`).
pub fn log_likelihood_ratio(
    model: &TargetModel,
    noise_multiplier: f64,
    batches: &Range<u64>,
    outputs: &[f64],
) -> f64 {
    let per_epoch = (batches.end - batches.start) as usize;
    let precision = 1.0 / (noise_multiplier * noise_multiplier);
    #[cfg(feature = "planted-faults")]
    let precision = if misdeal_core::planted::is_planted(misdeal_core::planted::Fault::Likelihood) {
        1.0 / noise_multiplier
    } else {
        precision
    };
    let (a, b) = (model.shifts.present, model.shifts.zeroed);
    let evidence =
        |shift: f64, output: f64, epochs: f64| (shift * output - 0.5 * epochs * shift * shift) * precision;
    match &model.law {
        PositionLaw::OnceAnEpoch(weights) => outputs
            .chunks_exact(per_epoch)
            .map(|epoch| mixture_ratio(weights, batches, epoch, |shift, y| evidence(shift, y, 1.0), a, b))
            .sum(),
        PositionLaw::KeptForAllEpochs(weights) => {
            let mut sums = vec![0.0; per_epoch];
            for epoch in outputs.chunks_exact(per_epoch) {
                sums.iter_mut().zip(epoch).for_each(|(sum, y)| *sum += y);
            }
            let epochs = (outputs.len() / per_epoch) as f64;
            mixture_ratio(weights, batches, &sums, |shift, y| evidence(shift, y, epochs), a, b)
        }
        PositionLaw::EachStep { probability } => {
            let term = |evidence: f64| step_term(*probability, evidence);
            outputs.iter().map(|&y| term(evidence(a, y, 1.0)) - term(evidence(b, y, 1.0))).sum()
        }
    }
}

/// ln(1 - q + q e^evidence), for any evidence.
///
/// Nothing overflows. Terms that cancel are small compared with the rest.
fn step_term(probability: f64, evidence: f64) -> f64 {
    if probability == 1.0 {
        evidence
    } else if evidence > 30.0 {
        evidence + log(probability + (1.0 - probability) * exp(-evidence))
    } else if probability > 0.5 && evidence < -0.5 {
        // Here 1 - q is exact. The other formula would lose its digits beside q.
        log((1.0 - probability) + probability * exp(evidence))
    } else {
        log1p(probability * libm::expm1(evidence))
    }
}

/// LSE_t(ln w_t + evidence(a, y_t)) - LSE_t(ln w_t + evidence(b, y_t)).
fn mixture_ratio(
    weights: &Weights,
    batches: &Range<u64>,
    outputs: &[f64],
    evidence: impl Fn(f64, f64) -> f64,
    a: f64,
    b: f64,
) -> f64 {
    // With many canaries in a training, these logarithms would take most of the time.
    let shared = match weights {
        Weights::Uniform(range) => Some((range, log(weights.weight(range.start)))),
        Weights::Listed { .. } => None,
    };
    let log_weight = |batch: u64| match &shared {
        Some((range, log_weight)) if range.contains(&batch) => *log_weight,
        _ => log(weights.weight(batch)),
    };
    let log_density = |shift: f64| {
        let terms = batches.clone().zip(outputs).map(|(batch, &y)| log_weight(batch) + evidence(shift, y));
        log_sum_exp(terms)
    };
    log_density(a) - log_density(b)
}

/// The logarithm of the sum of the exponentials of `terms`, without overflow.
pub(crate) fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + log(terms.map(|term| exp(term - largest)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_model::Shifts;

    const WORST_CASE: Shifts = Shifts { present: 2.0, zeroed: 1.0 };

    fn ratio(law: PositionLaw, shifts: Shifts, noise: f64, batches: Range<u64>, outputs: &[f64]) -> f64 {
        log_likelihood_ratio(&TargetModel { law, shifts }, noise, &batches, outputs)
    }

    #[test]
    fn one_batch_is_the_gaussian_ratio() {
        let law = PositionLaw::OnceAnEpoch(Weights::Uniform(4..5));
        let ours = ratio(law, WORST_CASE, 0.5, 4..5, &[1.25, -0.5]);
        assert!((ours - ((1.25 - 1.5) + (-0.5 - 1.5)) * 4.0).abs() < 1e-12);
    }

    #[test]
    fn uniform_weights_give_the_ratio_of_two_sums() {
        let outputs = [0.3, -1.2, 2.2, 0.9];
        let u = outputs.map(|y: f64| (y / 1.44).exp());
        let exact = (u.iter().map(|u| u * u).sum::<f64>() / u.iter().sum::<f64>()).ln() - 1.5 / 1.44;
        let ours = ratio(PositionLaw::OnceAnEpoch(Weights::Uniform(0..4)), WORST_CASE, 1.2, 0..4, &outputs);
        assert!((ours - exact).abs() < 1e-12);
    }

    #[test]
    fn a_kept_position_is_one_epoch_of_averages_at_less_noise() {
        let outputs = [0.3, -1.2, 2.2, 0.9, 1.1, -0.4];
        let averages = [0.6, -0.05, 0.9];
        let weights = Weights::new(0, vec![0.5, 0.25, 0.25]);
        let kept = ratio(PositionLaw::KeptForAllEpochs(weights.clone()), WORST_CASE, 0.8, 0..3, &outputs);
        let reduced =
            ratio(PositionLaw::OnceAnEpoch(weights), WORST_CASE, 0.8 / 2.0_f64.sqrt(), 0..3, &averages);
        assert!((kept - reduced).abs() < 1e-12);
    }

    #[test]
    fn each_step_is_a_sum_of_two_point_mixtures() {
        let (q, s) = (0.2, 1.3_f64);
        let outputs = [0.5, 3.0, 60.0];
        let exact: f64 = outputs.map(|y| (1.0 - q + q * ((y - 0.5) / (s * s)).exp()).ln()).iter().sum();
        let canary = Shifts { present: 1.0, zeroed: 0.0 };
        let ours = ratio(PositionLaw::EachStep { probability: q }, canary, s, 0..3, &outputs);
        assert!((ours - exact).abs() < 1e-11, "{ours} {exact}");
    }

    #[test]
    fn huge_shifts_do_not_overflow() {
        let shifts = Shifts { present: 2e6, zeroed: 2e6 - 1.0 };
        let outputs = [2e6 + 0.5, 0.1];
        let ours = ratio(PositionLaw::OnceAnEpoch(Weights::Uniform(0..2)), shifts, 0.1, 0..2, &outputs);
        assert!((ours - 100.0).abs() < 1e-3, "{ours}");
    }
}
