//! The likelihood ratio if every output has a different variance.

use crate::likelihood::log_sum_exp;
use crate::target_model::TargetModel;
use libm::log;
use misdeal_schemes::PositionLaw;

/// The log-likelihood ratio of outputs with different variances, over all batches of every epoch.
///
/// `variances[i]` is the variance of `outputs[i]`. It replaces s^2 in each formula of
/// [`log_likelihood_ratio`](crate::log_likelihood_ratio).
///
/// The result is the log-likelihood ratio if the outputs are Gaussian with these variances and the model's shifts.
/// Otherwise it is still a function of what the adversary sees, so an audit that counts its errors remains valid.
pub fn log_likelihood_ratio_with_variances(
    model: &TargetModel,
    steps_per_epoch: u64,
    variances: &[f64],
    outputs: &[f64],
) -> f64 {
    let per_epoch = steps_per_epoch as usize;
    let evidence = |shift: f64| -> Vec<f64> {
        outputs.iter().zip(variances).map(|(y, v)| (shift * y - 0.5 * shift * shift) / v).collect()
    };
    let log_density = |shift: f64| -> f64 {
        let evidence = evidence(shift);
        match &model.law {
            PositionLaw::OnceAnEpoch(weights) => evidence
                .chunks_exact(per_epoch)
                .map(|epoch| log_sum_exp((0..).zip(epoch).map(|(t, e)| log(weights.weight(t)) + e)))
                .sum(),
            PositionLaw::KeptForAllEpochs(weights) => log_sum_exp((0..per_epoch).map(|t| {
                let over_epochs: f64 = evidence.iter().skip(t).step_by(per_epoch).sum();
                log(weights.weight(t as u64)) + over_epochs
            })),
            PositionLaw::EachStep { probability } => evidence
                .iter()
                .map(|&e| log_sum_exp([log(1.0 - probability), log(*probability) + e].into_iter()))
                .sum(),
        }
    };
    log_density(model.shifts.present) - log_density(model.shifts.zeroed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target_model::Shifts;
    use misdeal_schemes::Weights;

    #[test]
    fn equal_variances_give_the_plain_ratio() {
        let outputs = [0.3, -1.2, 2.2, 0.9, 1.1, -0.4];
        let weights = Weights::new(0, vec![0.5, 0.25, 0.25]);
        for law in [
            PositionLaw::OnceAnEpoch(weights.clone()),
            PositionLaw::KeptForAllEpochs(weights),
            PositionLaw::EachStep { probability: 1.0 / 3.0 },
        ] {
            for shifts in [Shifts { present: 2.0, zeroed: 1.0 }, Shifts { present: 1.0, zeroed: 0.0 }] {
                let model = TargetModel { law: law.clone(), shifts };
                let plain = crate::log_likelihood_ratio(&model, 0.8, &(0..3), &outputs);
                let ours = log_likelihood_ratio_with_variances(&model, 3, &[0.64; 6], &outputs);
                assert!((plain - ours).abs() < 1e-12, "{model:?}: {plain} {ours}");
            }
        }
    }

    /// With one batch per epoch, the ratio is a sum of Gaussian ratios with different variances.
    #[test]
    fn one_batch_is_a_sum_of_gaussian_ratios() {
        let law = PositionLaw::OnceAnEpoch(Weights::Uniform(0..1));
        let model = TargetModel { law, shifts: Shifts { present: 2.0, zeroed: 1.0 } };
        let ours = log_likelihood_ratio_with_variances(&model, 1, &[0.5, 2.0], &[1.25, -0.5]);
        assert!((ours - ((1.25 - 1.5) / 0.5 + (-0.5 - 1.5) / 2.0)).abs() < 1e-12);
    }
}
