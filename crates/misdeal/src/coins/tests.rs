//! Audits of the mechanism itself, at the setting of the guide: noise 0.8, 117 steps, 10 epochs, shuffled, claimed as Poisson.

use super::judgement::Judgement;
use super::*;
use crate::modelled::modelled;
use crate::privacy_curves::of_scheme;
use misdeal_core::{BatchScheme, EngineName, World};
use misdeal_game::{Game, engines};
use misdeal_results::{Coins, Theory};
use misdeal_statistics::PrivacyCurve;
use misdeal_statistics::coins::Modelled;

const CLAIM: f64 = 2.88;

fn setting() -> Setting {
    Setting { noise_multiplier: 0.8, steps_per_epoch: 117, epochs: 10, batch_size: 512, ..Setting::default() }
}

/// The scores and coins of independent audits of a setting.
struct Audits {
    scores: [Vec<f64>; 2],
    next: usize,
}

impl Audits {
    fn of(setting: &Setting, scores: usize) -> Self {
        let game = Game::new(setting);
        let engine = engines::choose(&game, EngineName::Auto).unwrap();
        let scores = World::BOTH.map(|world| {
            let mut found = vec![0.0; scores];
            engine.score(world, 0..scores as u64, &mut found);
            found
        });
        Audits { scores, next: 0 }
    }

    /// The next audit. A coin is a bit of a hash of its place.
    fn next(&mut self, coins: usize) -> (Vec<f64>, Vec<bool>) {
        let from = self.next;
        self.next += coins;
        let coin = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).count_ones().is_multiple_of(2);
        let coins: Vec<bool> = (from..from + coins).map(coin).collect();
        let scores = coins.iter().enumerate().map(|(i, &is_in)| self.scores[usize::from(!is_in)][from + i]);
        (scores.collect(), coins)
    }
}

/// Everything that one audit after the other is judged by.
struct Plan {
    setting: Setting,
    analysis: CoinAnalysis,
    canaries: u64,
    epsilon: EpsilonPlan,
    curve: CurvePlan,
}

impl Plan {
    fn new(modelled: &Modelled, curve: &PrivacyCurve, canaries: u64, runs: u64) -> Self {
        let analysis = CoinAnalysis { independence: Some(Independence::Follow), ..CoinAnalysis::default() };
        Plan {
            setting: setting(),
            epsilon: EpsilonPlan::new(modelled, canaries * runs, &analysis),
            curve: CurvePlan::new(("claimed".into(), curve.clone()), modelled, canaries, &analysis),
            canaries,
            analysis,
        }
    }

    fn judge(&self, scores: &[f64], coins: &[bool]) -> Coins {
        let Plan { setting, analysis, canaries, epsilon, curve } = self;
        let judged = Judgement { setting, scores, coins, canaries: *canaries, analysis };
        let found = judged.in_one_run(epsilon, Some(CLAIM), Theory::default());
        Coins { curve: Some(judged.test(curve)), ..found.coins.unwrap() }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn hash(i: u64) -> f64 {
    let z = (i ^ i >> 30).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 11) as f64 * 2_f64.powi(-53)
}

/// The table of the guide, from 20 audits each.
#[test]
fn shows_what_the_guide_says() {
    let (modelled, curve) =
        (modelled(&setting()).unwrap(), of_scheme(&setting(), BatchScheme::Poisson).unwrap());
    let mut audits = Audits::of(&setting(), 20 * 512 * 20);
    for (canaries, runs, least_epsilon, least_above, least_log10_p) in
        [(64, 1, 1.4, 0, 1.5), (512, 1, 3.1, 16, 3.0), (512, 5, 4.0, 20, 5.0), (512, 20, 4.7, 20, 15.0)]
    {
        let plan = Plan::new(&modelled, &curve, canaries as u64, runs as u64);
        let judge = |(scores, coins): (Vec<f64>, Vec<bool>)| plan.judge(&scores, &coins);
        let found: Vec<Coins> = (0..20).map(|_| judge(audits.next(canaries * runs))).collect();
        audits.next = 0;
        let bounds = |c: &Coins| {
            let bounds = c.one_run.clone().unwrap();
            [bounds.epsilon_any_dependence, bounds.epsilon_independent.unwrap()]
        };
        let curve = |c: &Coins| c.curve.clone().unwrap();
        let of = |value: &dyn Fn(&Coins) -> f64| mean(&found.iter().map(value).collect::<Vec<_>>());
        let log10_p = -of(&|c| curve(c).p_value.log10());
        println!(
            "{canaries} {runs}: any {:.2} independent {:.2} p {log10_p:.1} guesses {:.1} e {:.1} {:?}",
            of(&|c| bounds(c)[0]),
            of(&|c| bounds(c)[1]),
            of(&|c| curve(c).right_guesses_p_value.unwrap().log10()),
            of(&|c| curve(c).log_e_value.unwrap() / std::f64::consts::LN_10),
            found[0].one_run,
        );
        assert!(of(&|c| bounds(c)[0]) > least_epsilon && of(&|c| bounds(c)[1]) > least_epsilon);
        assert!(found.iter().filter(|c| bounds(c)[0] > CLAIM).count() >= least_above);
        assert!(found.iter().filter(|c| curve(c).refuted).count() >= 19);
        assert!(log10_p > least_log10_p);
    }
}

/// One canary a run, paired: 48 runs refute the curve in at least 9 of 10 audits.
#[test]
fn one_canary_refutes_the_curve_in_48_runs() {
    let (modelled, curve) =
        (modelled(&setting()).unwrap(), of_scheme(&setting(), BatchScheme::Poisson).unwrap());
    let analysis =
        CoinAnalysis { independence: Some(Independence::Single), paired: true, ..CoinAnalysis::default() };
    let plan = CurvePlan::new(("poisson".into(), curve), &modelled, 1, &analysis);
    let audits = Audits::of(&setting(), 200 * 24);
    let refuted = (0..200).filter(|number| {
        let own = |scores: &[f64], i: usize| scores[24 * number + i];
        let scores: Vec<f64> =
            (0..24).flat_map(|i| [own(&audits.scores[0], i), own(&audits.scores[1], i)]).collect();
        let coins: Vec<bool> = (0..48).map(|i| i % 2 == 0).collect();
        let judged = Judgement {
            setting: &setting(),
            scores: &scores,
            coins: &coins,
            canaries: 1,
            analysis: &analysis,
        };
        judged.test(&plan).refuted
    });
    let refuted = refuted.count();
    println!("48 runs: {refuted} of 200");
    assert!(refuted >= 180, "{refuted}");
}

/// Scores exactly on the edge of the claim: `Out` as modelled, `In` as much larger as the curve allows. Each test accuses in at most 5 % of
/// 1,000 audits. More than 87 accusations have a probability below 1e-6.
#[test]
fn claims_at_the_edge_stand() {
    let (modelled, curve) =
        (modelled(&setting()).unwrap(), of_scheme(&setting(), BatchScheme::Poisson).unwrap());
    let mut out = modelled.scores_out.clone();
    out.sort_by(f64::total_cmp);
    let score = |rank: f64| out[((1.0 - rank) * (out.len() - 1) as f64) as usize];
    // A rank with the law of the largest allowed advantage: P(rank <= x) = 1 - f(x).
    let ahead = |uniform: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        while high - low > 1e-9 {
            let middle = 0.5 * (low + high);
            if 1.0 - curve.false_negative_rate(middle) < uniform { low = middle } else { high = middle }
        }
        high
    };
    for (canaries, runs) in [(64, 1), (64, 3), (256, 1)] {
        let plan = Plan::new(&modelled, &curve, canaries, runs);
        let coins = canaries * runs;
        let claim = curve.epsilon(plan.analysis.analysis.delta);
        let mut accused = [0; 5];
        for audit in 0..1000 {
            let seed = |i: u64, part: u64| hash(2 * (audit * 1_000_003 + i) + part);
            let heads: Vec<bool> = (0..coins).map(|i| seed(i, 0) < 0.5).collect();
            let rank = |i: u64| if heads[i as usize] { ahead(seed(i, 1)) } else { seed(i, 1) };
            let scores: Vec<f64> = (0..coins).map(|i| score(rank(i))).collect();
            let found = plan.judge(&scores, &heads);
            let (bounds, curve) = (found.one_run.unwrap(), found.curve.unwrap());
            let accuses = [
                bounds.epsilon_any_dependence > claim,
                bounds.epsilon_independent.unwrap() > claim,
                curve.p_value <= 0.05,
                curve.right_guesses_p_value.unwrap() <= 0.05,
                curve.refuted,
            ];
            accused.iter_mut().zip(accuses).for_each(|(count, accuses)| *count += u32::from(accuses));
        }
        println!("edge, {canaries} canaries, {runs} runs: {accused:?} of 1000");
        assert!(accused.iter().all(|&count| count <= 87), "{canaries} {runs}: {accused:?}");
    }
}

/// Randomised responses whose privacy loss is drawn once for all canaries of a run. Each coin is exactly on the curve. The tests for any
/// dependence accuse in at most 5 % of 1,000 audits (above 87: probability 1e-6). Right guesses alone accuse far more often.
#[test]
fn canaries_that_share_a_privacy_loss_are_not_accused() {
    const LOSSES: [[f64; 2]; 3] = [[0.1, 0.7], [0.6, 0.2], [2.5, 0.1]];
    let right = |epsilon: f64| 1.0 / (1.0 + (-epsilon).exp());
    let delta = |epsilon: f64| -> f64 {
        LOSSES
            .iter()
            .map(|[own, share]| share * (right(*own) - epsilon.exp() * (1.0 - right(*own))).max(0.0))
            .sum()
    };
    let points: Vec<[f64; 2]> =
        (0..=50).map(|i| 0.05 * f64::from(i)).map(|epsilon| [delta(epsilon), epsilon]).collect();
    let curve = PrivacyCurve::from_points(&points).unwrap();
    let modelled = modelled(&setting()).unwrap();
    for canaries in [64, 512] {
        let plan = Plan::new(&modelled, &curve, canaries, 1);
        let claim = curve.epsilon(plan.analysis.analysis.delta);
        let mut accused = [0; 3];
        for audit in 0..1000 {
            let seed = |i: u64, part: u64| hash(3 * (audit * 1_000_003 + i) + part);
            let drawn = seed(canaries, 2);
            let loss = LOSSES[usize::from(drawn > 0.7) + usize::from(drawn > 0.9)][0];
            let heads: Vec<bool> = (0..canaries).map(|i| seed(i, 0) < 0.5).collect();
            let says = |i: u64| heads[i as usize] == (seed(i, 1) < right(loss));
            let scores: Vec<f64> = (0..canaries).map(|i| if says(i) { loss } else { -loss }).collect();
            let found = plan.judge(&scores, &heads);
            let curve = found.curve.unwrap();
            let accuses = [
                found.one_run.unwrap().epsilon_any_dependence > claim,
                curve.p_value <= 0.05,
                curve.right_guesses_p_value.unwrap() <= 0.05,
            ];
            accused.iter_mut().zip(accuses).for_each(|(count, accuses)| *count += u32::from(accuses));
        }
        println!("shared loss, {canaries} canaries: {accused:?} of 1000");
        assert!(accused[0] <= 87 && accused[1] <= 87 && accused[2] > 87, "{canaries}: {accused:?}");
    }
}
