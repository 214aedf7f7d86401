//! Tests a claimed curve on the scores of runs with and without the target.
//!
//! As many runs of both kinds, in an order that is fixed, are pairs of which exactly one has the target. So the bet and the number of right
//! guesses are those of paired coins.

use crate::standing::Standing;
use misdeal_results::TestedCurve;
use misdeal_statistics::PrivacyCurve;
use misdeal_statistics::coins::{Bet, Modelled, curve_p_value, right_guesses_p_value};

/// The shares of coins that are guessed on each side where no theory plans them, in percent. They were fixed beforehand.
const GUESSED: [u64; 2] = [16, 8];

/// Tests a curve on scores of pairs: each score with its numbers `In` and `Out`, guessed at `threshold`.
///
/// The bet is planned from `modelled` scores, and the threshold too. Neither may depend on the scores that are tested. Returns `None` if
/// nothing holds for the scores.
pub(crate) fn test_pairs(
    (name, curve): (String, PrivacyCurve),
    scores: &[(f64, [u64; 2])],
    (modelled, threshold): (&Modelled, f64),
    significance: f64,
    standing: &Standing,
) -> Option<TestedCurve> {
    let Standing::Share(share) = standing else { return None };
    let bet = Bet::new(&curve, modelled);
    let (mut coins, mut right, mut log_e_value) = (0, 0, 0.0);
    for &(score, [inside, outside]) in scores {
        coins += inside + outside;
        right += if score >= threshold { inside } else { outside };
        log_e_value +=
            inside as f64 * bet.log_value(score, true) + outside as f64 * bet.log_value(score, false);
    }
    let p_value = (right_guesses_p_value(coins, right, curve.right_rate(), true) / share).min(1.0);
    let refuted = log_e_value >= -libm::log(significance);
    Some(TestedCurve {
        right_guesses_p_value: Some(p_value),
        e_value: Some(libm::exp(log_e_value).into()),
        log_e_value: Some(log_e_value),
        ..tested(name, &curve, p_value, refuted)
    })
}

/// Tests a curve on scores without a theory. The even runs plan what the odd ones show.
pub(crate) fn test_scores(
    claimed: (String, PrivacyCurve),
    scores: [&[f64]; 2],
    significance: f64,
    standing: &Standing,
) -> Option<TestedCurve> {
    let every_second =
        |from: usize| scores.map(|scores| scores.iter().skip(from).step_by(2).copied().collect::<Vec<_>>());
    let ([scores_in, scores_out], odd) = (every_second(0), every_second(1));
    let modelled = Modelled::new(scores_in, scores_out).ok()?;
    let threshold = modelled.best_threshold();
    let pairs =
        odd[0].iter().zip(&odd[1]).flat_map(|(&inside, &outside)| [(inside, [1, 0]), (outside, [0, 1])]);
    test_pairs(claimed, &pairs.collect::<Vec<_>>(), (&modelled, threshold), significance, standing)
}

/// Tests a curve on the scores of one run in which fair coins included canaries, for any dependence between these.
pub(crate) fn test_coins(
    (name, curve): (String, PrivacyCurve),
    scores: [&[f64]; 2],
    significance: f64,
) -> TestedCurve {
    let mut all: Vec<(f64, bool)> = scores[0].iter().map(|&score| (score, true)).collect();
    all.extend(scores[1].iter().map(|&score| (score, false)));
    // Of equal scores those Out come first, on either side: a guess that cannot tell is counted as wrong.
    all.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let coins = all.len() as u64;
    let [inside, outside] = GUESSED.map(|percent| (coins * percent / 100) as usize);
    let highest = all.iter().take(inside).filter(|(_, is_in)| *is_in).count();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    let lowest = all.iter().take(outside).filter(|(_, is_in)| !is_in).count();
    let p_value = curve_p_value(coins, (inside + outside) as u64, (highest + lowest) as u64, &curve);
    tested(name, &curve, p_value, p_value <= significance)
}

fn tested(name: String, curve: &PrivacyCurve, p_value: f64, refuted: bool) -> TestedCurve {
    TestedCurve {
        name,
        points: curve.points().to_vec(),
        claimed_total_variation: curve.total_variation(),
        claimed_right_rate: curve.right_rate(),
        p_value,
        right_guesses_p_value: None,
        e_value: None,
        log_e_value: None,
        refuted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy_curves::of_gaussian;
    use misdeal_core::normal;

    fn scores(mu: f64, number: u32) -> [Vec<f64>; 2] {
        let normal = |i: u32| normal::quantile((f64::from(i * 7919 % 10_007) + 0.5) / 10_007.0);
        [(0..number).map(|i| mu + normal(i)).collect(), (0..number).map(|i| normal(i + 5000)).collect()]
    }

    #[test]
    fn false_claims_fall_and_true_ones_stand() {
        for (mu, refuted) in [(1.5, true), (0.5, false)] {
            let claimed = || ("gdp=0.5".into(), of_gaussian(0.5).unwrap());
            let scores = scores(mu, 2000);
            let slices = scores.each_ref().map(Vec::as_slice);
            let pairs = test_scores(claimed(), slices, 0.05, &Standing::ALONE).unwrap();
            assert_eq!((pairs.refuted, pairs.p_value < 0.05), (refuted, refuted), "{pairs:?}");
            let coins = test_coins(claimed(), slices, 0.05);
            assert_eq!(coins.refuted, refuted, "{coins:?}");
            assert!(test_scores(claimed(), slices, 0.05, &Standing::Unproven("why".into())).is_none());
        }
    }
}
