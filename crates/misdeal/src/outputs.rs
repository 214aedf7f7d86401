//! Scores and judges the outputs of a user's own training.

use crate::run::check_claim;
use crate::standing::Standing;
use crate::{Analysis, Result, promised};
use misdeal_core::{ClosedSet, Error, Setting};
use misdeal_game::{TargetModel, log_likelihood_ratio};
use misdeal_results::{OutputScore, Outputs};
use misdeal_statistics::from_scores;
use misdeal_train::Adversary;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Returns the share of the significance that each score's bound may spend if all scores are used.
///
/// What the second score detects is beyond doubt, so a small share is enough.
fn share(score: OutputScore) -> f64 {
    match score {
        OutputScore::LikelihoodRatio => 0.9,
        OutputScore::Spread => 0.1,
    }
}

/// Returns the score of each run from the outputs of its steps.
///
/// `outputs` holds the steps of the first run, then those of the second, and so on. An output is <noisy sum of clipped gradients,
/// g> / C^2 with the canary g of norm C, as training gives it. This function recentres the outputs: by one if, without the target,
/// every batch has an opposing canary.
///
/// [`judge_outputs`] has an example.
///
/// # Errors
/// The setting is refused, the outputs are no whole number of runs, or an output is not finite.
pub fn score_outputs(setting: &Setting, outputs: &[f64], score: OutputScore) -> Result<Vec<f64>> {
    let setting = setting.clone().validated()?;
    let steps = setting.steps() as usize;
    if outputs.is_empty() || !outputs.len().is_multiple_of(steps) {
        let allowed = format!("a multiple of the {steps} steps of a run, from {steps}");
        let hint = "each run has steps_per_epoch * epochs outputs";
        return Err(Error::bad_value("outputs", format!("{} numbers", outputs.len()), allowed, hint).into());
    }
    if let Some(at) = outputs.iter().position(|output| !output.is_finite()) {
        let value = format!("{} in step {} of run {}", outputs[at], at % steps, at / steps);
        return Err(
            Error::bad_value("outputs", value, "a finite number", "find out where it comes from").into()
        );
    }
    let runs = outputs.par_chunks_exact(steps);
    Ok(match score {
        OutputScore::Spread => runs
            .map(|run| {
                let fold = |pick: fn(f64, f64) -> f64| run.iter().copied().reduce(pick).unwrap_or_default();
                fold(f64::max) - fold(f64::min)
            })
            .collect(),
        OutputScore::LikelihoodRatio => {
            let model = TargetModel::new(setting.scoring_scheme(), &setting);
            let recentring = Adversary::new(&setting, 1).recentring();
            let batches = 0..setting.steps_per_epoch;
            runs.map(|run| {
                let recentred: Vec<f64> = run.iter().map(|output| output + recentring).collect();
                log_likelihood_ratio(&model, setting.noise_multiplier, &batches, &recentred)
            })
            .collect()
        }
    })
}

/// Judges the outputs of runs with and without the target by every score, at one significance for all scores together.
///
/// ```
/// use misdeal::{Analysis, Setting, judge_outputs};
/// let setting = Setting::new(1.0).steps_per_epoch(1);
/// let outputs = |shift: f64| (0..200).map(|run| shift + f64::from(run % 20) / 10.0).collect::<Vec<_>>();
/// let found = judge_outputs(&setting, &outputs(9.0), &outputs(0.0), &Analysis::default(), Some(0.5))?;
/// assert_eq!(found.violated, Some(true));
/// # Ok::<(), misdeal::Error>(())
/// ```
///
/// # Errors
/// The same as for [`score_outputs`]. Also, a value is out of range, or there are too few runs.
pub fn judge_outputs(
    setting: &Setting,
    outputs_in: &[f64],
    outputs_out: &[f64],
    analysis: &Analysis,
    claimed_epsilon: Option<f64>,
) -> Result<Outputs> {
    judge_outputs_despite(setting, outputs_in, outputs_out, analysis, claimed_epsilon, None)
}

/// Like [`judge_outputs`], for runs whose bounds may not be valid. `objection` is the reason, if there is one.
///
/// [`judge_outputs`] has an example.
///
/// # Errors
/// The same as for [`judge_outputs`].
pub fn judge_outputs_despite(
    setting: &Setting,
    outputs_in: &[f64],
    outputs_out: &[f64],
    analysis: &Analysis,
    claimed_epsilon: Option<f64>,
    objection: Option<&str>,
) -> Result<Outputs> {
    check_claim(claimed_epsilon)?;
    let (estimator, choice) = analysis.parse()?;
    let Analysis { delta, significance, .. } = *analysis;
    let standing = objection.map_or(Standing::ALONE, |reason| Standing::Unproven(reason.to_owned()));
    let mut estimates = BTreeMap::new();
    for &score in OutputScore::all() {
        let [scores_in, scores_out] =
            [outputs_in, outputs_out].map(|outputs| score_outputs(setting, outputs, score));
        let level = significance * share(score);
        let mut estimate = from_scores(&scores_in?, &scores_out?, choice, estimator, delta, level)?;
        standing.mark(&mut estimate);
        estimates.insert(score, estimate);
    }
    let mut best = (OutputScore::LikelihoodRatio, 0.0);
    for (&score, estimate) in &estimates {
        if estimate.empirical_epsilon > best.1 {
            best = (score, *estimate.empirical_epsilon);
        }
    }
    let (score, empirical_epsilon) = best;
    let valid = estimates.values().all(|estimate| estimate.valid);
    let theory = promised(setting, delta);
    let claimed_epsilon = claimed_epsilon.or(theory.poisson_upper_bound());
    Ok(Outputs {
        setting: setting.clone(),
        observations: ((outputs_in.len() + outputs_out.len()) / setting.steps() as usize) as u64,
        delta,
        significance,
        valid,
        empirical_epsilon: empirical_epsilon.into(),
        score,
        estimates,
        claimed_epsilon,
        violated: claimed_epsilon.map(|claim| valid && empirical_epsilon > claim),
        estimate_exceeds_claim: claimed_epsilon.map(|claim| empirical_epsilon > claim),
        theory,
        coins: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use misdeal_core::{BatchScheme, ThreatModel};

    fn setting(scheme: BatchScheme) -> Setting {
        let threat_model = ThreatModel::PartiallyInformed;
        Setting {
            noise_multiplier: 0.8,
            steps_per_epoch: 3,
            epochs: 2,
            scheme,
            threat_model,
            ..Setting::default()
        }
    }

    #[test]
    fn outputs_are_recentred_only_where_batches_are_opposed() {
        let outputs = [-1.0, 0.5, -0.7, 0.2, -2.0, -1.1];
        let ours =
            score_outputs(&setting(BatchScheme::Shuffle), &outputs, OutputScore::LikelihoodRatio).unwrap();
        let exact: f64 = outputs
            .chunks(3)
            .map(|epoch| {
                let u = |power: f64| epoch.iter().map(|o| (power * (o + 1.0) / 0.64).exp()).sum::<f64>();
                (u(2.0) / u(1.0)).ln() - 1.5 / 0.64
            })
            .sum();
        assert!((ours[0] - exact).abs() < 1e-12);

        let ours =
            score_outputs(&setting(BatchScheme::Poisson), &outputs, OutputScore::LikelihoodRatio).unwrap();
        let exact: f64 = outputs.map(|o| (2.0 / 3.0 + ((o - 0.5) / 0.64).exp() / 3.0).ln()).iter().sum();
        assert!((ours[0] - exact).abs() < 1e-12);
        assert_eq!(
            score_outputs(&setting(BatchScheme::Poisson), &outputs, OutputScore::Spread).unwrap(),
            [2.5]
        );
    }

    #[test]
    fn bad_outputs_are_refused_by_name() {
        let refused = |outputs: &[f64]| {
            let error =
                score_outputs(&setting(BatchScheme::Shuffle), outputs, OutputScore::Spread).unwrap_err();
            error.to_string()
        };
        assert!(refused(&[]).contains("outputs"));
        assert!(refused(&[0.0; 5]).contains("6 steps"));
        assert!(
            refused(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0, 0.0, 0.0]).contains("run 1")
        );
    }
}
