//! The tests of coins' scores.

use super::CoinAnalysis;
use super::plan::{CurvePlan, EpsilonPlan, is_independent};
use crate::outputs::judge_outputs_despite;
use crate::{Analysis, Result};
use misdeal_core::{OrInfinite, Setting};
use misdeal_results::{Coins, Independence, OneRunBounds, OutputScore, Outputs, TestedCurve, Theory};
use misdeal_statistics::coins::{
    Shares, curve_p_value, fisher, fixed_thresholds_epsilon, one_run_epsilon, right_guesses_p_value,
};
use misdeal_statistics::{EpsilonEstimate, EstimatorName, Guarantee, PrivacyCurve, ThresholdChoice};
use std::collections::BTreeMap;

/// The scores of coins, to be judged.
pub(super) struct Judgement<'a> {
    pub setting: &'a Setting,
    pub scores: &'a [f64],
    pub coins: &'a [bool],
    pub canaries: u64,
    pub analysis: &'a CoinAnalysis,
}

impl Judgement<'_> {
    /// Returns why bounds are not valid, if they are not.
    fn objection(&self) -> Option<String> {
        let unproven = || "nothing proves that each coin is as private as a single record".to_owned();
        let reason = || self.analysis.independence.is_none().then(unproven);
        self.analysis.objection.clone().or_else(reason)
    }

    pub fn has_both_worlds(&self) -> bool {
        let inside = self.coins.iter().filter(|&&is_in| is_in).count();
        inside.min(self.coins.len() - inside) >= 2
    }

    fn facts(&self) -> Coins {
        let right = self.scores.iter().zip(self.coins).filter(|&(&score, &is_in)| (score >= 0.0) == is_in);
        Coins {
            runs: self.coins.len() as u64 / self.canaries,
            canaries: self.canaries,
            coins: self.coins.len() as u64,
            right_guesses: right.count() as u64,
            independence: self.analysis.independence,
            one_run: None,
            curve: None,
        }
    }

    /// Judges runs with one canary each by the errors in both worlds.
    pub fn with_and_without(&self, outputs: &[f64], claim: Option<f64>) -> Result<Outputs> {
        let steps = self.setting.steps() as usize;
        let world = |present: bool| -> Vec<f64> {
            let runs = outputs.chunks_exact(steps).zip(self.coins);
            runs.filter(|(_, is_in)| **is_in == present).flat_map(|(run, _)| run.iter().copied()).collect()
        };
        let objection = self.objection();
        let found = judge_outputs_despite(
            self.setting,
            &world(true),
            &world(false),
            &self.analysis.analysis,
            claim,
            objection.as_deref(),
        )?;
        Ok(Outputs { coins: Some(self.facts()), ..found })
    }

    /// Judges coins by the number of right guesses on both sides.
    ///
    /// Runs with one canary come here only if nearly all coins are alike. They show nothing, because that choice saw the coins.
    pub fn in_one_run(&self, plan: &EpsilonPlan, claimed_epsilon: Option<f64>, theory: Theory) -> Outputs {
        let Analysis { delta, significance, .. } = self.analysis.analysis;
        let coins = self.coins.len() as u64;
        let any = |guesses: u64, right: u64| match self.canaries {
            1 => 0.0,
            _ => one_run_epsilon(coins, guesses, right, delta, significance),
        };
        let guesses = plan.any.guesses(coins);
        let right = guesses.right(self.scores, self.coins);
        let epsilon_any_dependence = any(guesses.total(), right);
        let (mut counted, mut empirical_epsilon) = ((guesses.total(), right), epsilon_any_dependence);
        let mut largest = any(guesses.total(), guesses.total());
        let independent = plan.thresholds.map(|thresholds| self.at(thresholds));
        let alike = |(guesses, right): (u64, u64)| {
            fixed_thresholds_epsilon(coins, guesses, right, delta, significance)
        };
        if let Some(found) = independent.filter(|_| plan.uses_independence && self.canaries > 1) {
            (counted, empirical_epsilon, largest) = (found, alike(found), alike((found.0, found.0)));
        }
        let bounds = OneRunBounds {
            uses_independence: plan.uses_independence,
            epsilon_any_dependence,
            guessed: [guesses.inside, guesses.outside],
            guessed_right: right,
            epsilon_independent: independent.filter(|_| self.canaries > 1).map(alike),
        };
        let estimate = self.estimate(counted, empirical_epsilon, largest);
        let valid = estimate.valid;
        Outputs {
            setting: self.setting.clone(),
            observations: coins,
            delta,
            significance,
            valid,
            empirical_epsilon: empirical_epsilon.into(),
            score: OutputScore::LikelihoodRatio,
            estimates: BTreeMap::from([(OutputScore::LikelihoodRatio, estimate)]),
            claimed_epsilon,
            violated: claimed_epsilon.map(|claim| valid && empirical_epsilon > claim),
            estimate_exceeds_claim: claimed_epsilon.map(|claim| empirical_epsilon > claim),
            theory,
            coins: Some(Coins { one_run: Some(bounds), ..self.facts() }),
        }
    }

    /// The numbers of guesses and of right guesses at two fixed thresholds.
    fn at(&self, [upper, lower]: [f64; 2]) -> (u64, u64) {
        let mut counts = (0, 0);
        for (&score, &is_in) in self.scores.iter().zip(self.coins) {
            if score >= upper || score < lower {
                counts.0 += 1;
                counts.1 += u64::from((score >= upper) == is_in);
            }
        }
        counts
    }

    fn estimate(&self, (guesses, right): (u64, u64), epsilon: f64, largest: f64) -> EpsilonEstimate {
        let Analysis { delta, significance, .. } = self.analysis.analysis;
        let inside = self.coins.iter().filter(|&&is_in| is_in).count() as u64;
        let kind = Guarantee::FairCoins;
        let sentence = kind.sentence(ThresholdChoice::Band, true, significance);
        let assumption = self.analysis.independence.map_or("", Independence::assumption);
        let mut estimate = EpsilonEstimate {
            estimator: EstimatorName::OneRun,
            threshold_choice: ThresholdChoice::Band,
            valid: true,
            guarantee: format!("{sentence}, and if {assumption}"),
            guarantee_kind: kind,
            objection: None,
            empirical_epsilon: epsilon.into(),
            raw_epsilon: libm::log(right as f64 / (guesses - right) as f64).max(0.0).into(),
            largest_epsilon: largest.into(),
            threshold: OrInfinite::from(f64::INFINITY),
            false_positives: guesses - right,
            false_negatives: 0,
            observations_per_world: None,
            observations_in: inside,
            observations_out: self.coins.len() as u64 - inside,
            delta,
            significance,
        };
        if let Some(reason) = self.objection() {
            estimate.refuse(reason);
        }
        estimate
    }

    /// Tests a claimed curve.
    pub fn test(&self, plan: &CurvePlan) -> TestedCurve {
        let significance = self.analysis.analysis.significance;
        let Coins { coins, right_guesses, .. } = self.facts();
        let curve = &plan.curve;
        let right_rate = curve.right_rate();
        let by_guesses = || right_guesses_p_value(coins, right_guesses, right_rate, self.analysis.paired);
        let log_e_value = plan.bet.as_ref().map(|bet| bet.log_product(self.scores, self.coins));
        let p_value = plan.shares.map_or_else(by_guesses, |shares| self.for_any_dependence(curve, shares));
        let is_refuted = match log_e_value {
            Some(log_e_value) => log_e_value >= -libm::log(significance),
            None => p_value <= significance,
        };
        TestedCurve {
            name: plan.name.clone(),
            points: curve.points().to_vec(),
            claimed_total_variation: curve.total_variation(),
            claimed_right_rate: right_rate,
            p_value,
            right_guesses_p_value: is_independent(self.analysis).then(by_guesses),
            e_value: log_e_value.map(|log_e_value| libm::exp(log_e_value).into()),
            log_e_value,
            refuted: is_refuted && self.objection().is_none(),
        }
    }

    /// The p-value of each run, at a number of guesses that theory fixed, and Fisher's combination of the runs.
    fn for_any_dependence(&self, curve: &PrivacyCurve, shares: Shares) -> f64 {
        let guesses = shares.guesses(self.canaries);
        let each = self.canaries as usize;
        let runs = self.scores.chunks_exact(each).zip(self.coins.chunks_exact(each));
        let p_values: Vec<f64> = runs
            .map(|(scores, coins)| {
                curve_p_value(self.canaries, guesses.total(), guesses.right(scores, coins), curve)
            })
            .collect();
        fisher(&p_values)
    }
}
